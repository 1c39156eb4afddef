"""Measure how many guests a second fit into NUMA nodes: python -m tools.fits [SECONDS].

Also the longest times of one fit on a host of 16 nodes with two GPUs on each. The nodes are a
matching, and the tries for devices are limited.
"""

import collections.abc
import itertools
import sys
import typing

from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.objects import guest_numa
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import profile


def guest(
    nodes: int, cpus: int, memory_mb: int, *, pinned: bool = True, pages: int | None = None
) -> constraints.Constraints:
    """Return a guest with nodes of `cpus` CPUs and `memory_mb` each."""
    numbers = [tuple(range(at * cpus, (at + 1) * cpus)) for at in range(nodes)]
    return constraints.Constraints(
        nodes=tuple(guest_numa.Node(each, memory_mb) for each in numbers),
        dedicated=frozenset(range(nodes * cpus)) if pinned else frozenset(),
        page_size=pages,
    )


SHAPES = {
    'one node, 4 shared CPUs': guest(1, 4, 8192, pinned=False),
    'one node, 2 pinned CPUs': guest(1, 2, 4096),
    'one node, 8 pinned CPUs, pages of 1 GiB': guest(1, 8, 8192, pages=1048576),
    'two nodes, 8 pinned CPUs': guest(2, 4, 8192),
    'refused: 40 pinned CPUs in a node': guest(1, 40, 8192),
}


def of_sizes(*sizes: int, **more: typing.Any) -> constraints.Constraints:
    """Return a guest whose nodes have so many pinned CPUs each."""
    numbers = iter(range(sum(sizes)))
    nodes = tuple(guest_numa.Node(tuple(itertools.islice(numbers, n)), 1024) for n in sizes)
    return constraints.Constraints(nodes=nodes, dedicated=frozenset(range(sum(sizes))), **more)


def gpus(count: int, policy: str, *models: tuple[str, ...]) -> tuple[guest_pci.Request, ...]:
    """Return requests for `count` GPUs of each of the models, which are alternatives to others."""
    return tuple(
        guest_pci.Request(
            f'alias-{index}', count, tuple(guest_pci.Spec('10de', each) for each in model), policy
        )
        for index, model in enumerate(models)
    )


def wide(nodes: int = 16, cpus: int = 16) -> topology.Host:
    """Return a host of many nodes, the last of which has one CPU less than the others."""
    made, devices = [], []
    for node in range(nodes):
        own = cpus if node < nodes - 1 else cpus - 1
        numbers = range(node * cpus, node * cpus + own)
        pages = (topology.Pages(topology.SMALL_KB, 2**24),)
        cores = tuple((number,) for number in numbers)
        made.append(
            topology.Node(node, node // 8, 65536, frozenset(), frozenset(numbers), cores, pages)
        )
        for number in range(2):
            address = f'0000:{node:02x}:0{number}.0'
            devices.append(pci.Device(address, '10de', MODELS[number], node=node))
    return topology.Host(tuple(made), tuple(devices))


MODELS = '2330', '2331'
BOTH, ONE, OTHER = MODELS, MODELS[:1], MODELS[1:]
WORST = {
    '16 nodes': of_sizes(*[15] * 16),
    'refused: 16 nodes, of which the last two need the same one': of_sizes(*[16] * 16),
    'eight nodes and 16 GPUs near to them': of_sizes(
        *[8] * 8, devices=gpus(8, 'required', ONE, OTHER)
    ),
    'eight nodes and 16 GPUs, preferred': of_sizes(
        *[8] * 8, devices=gpus(8, 'preferred', ONE, BOTH)
    ),
    'refused: four nodes and more GPUs than are near': of_sizes(
        *[8] * 4, devices=gpus(3, 'required', ONE, OTHER, BOTH)
    ),
    'refused: eight nodes and 17 GPUs, of three requests': of_sizes(
        *[8] * 8, devices=gpus(6, 'required', BOTH, ONE, OTHER)
    ),
}


def longest(work: collections.abc.Callable[[], object], count: int = 5) -> float:
    """Return the CPU seconds of the slowest of some repetitions of `work`."""
    found = 0.0
    for _count in range(count):
        began = runtime.cpu_time()
        work()
        found = max(found, runtime.cpu_time() - began)
    return found


def rate(work: collections.abc.Callable[[], object], seconds: float) -> float:
    """Return how often a second `work` was done."""
    began, count = runtime.monotonic(), 0
    while (passed := runtime.monotonic() - began) < seconds:
        work()
        count += 1
    return count / passed


def _print_worst() -> None:
    host = fitting.rooms(wide())
    ratios = fitting.Ratios()
    for name, wanted in WORST.items():
        found = fitting.fit(host, wanted, ratios)
        refused = isinstance(found, fitting.Misfit)
        if refused != name.startswith('refused'):
            raise SystemExit(f'{name}: {found}')

        def once(wanted: constraints.Constraints = wanted) -> object:
            return fitting.fit(host, wanted, ratios)

        print(f'{longest(once) * 1000:10.1f} ms     {name}')


def main() -> None:
    """Print the rates, on hosts of the profile "nfv" that are half full."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    host = profile.load('nfv').behaviour('host').numa
    if host is None:
        raise SystemExit('the profile has no NUMA nodes')
    ratios, held = fitting.Ratios(4.0, 1.0), list[topology.Held]()
    for _count in range(7):
        found = fitting.fit(fitting.rooms(host, held), SHAPES['two nodes, 8 pinned CPUs'], ratios)
        if isinstance(found, topology.Held):
            held.append(found)
    _print_worst()
    left = fitting.rooms(host, held[:4])
    for name, wanted in SHAPES.items():

        def once(wanted: constraints.Constraints = wanted) -> object:
            return fitting.fit(left, wanted, ratios)

        print(f'{rate(once, seconds):10,.0f} fits/s  {name}')
    print(
        f'{rate(lambda: fitting.rooms(host, held), seconds):10,.0f} rooms/s of {len(held)} guests'
    )


if __name__ == '__main__':
    main()
