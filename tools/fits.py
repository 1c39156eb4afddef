"""Measure how many guests a second fit into NUMA nodes: python -m tools.fits [SECONDS]."""

import collections.abc
import sys

from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import guest_numa
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


def rate(work: collections.abc.Callable[[], object], seconds: float) -> float:
    """Return how often a second `work` was done."""
    began, count = runtime.monotonic(), 0
    while (passed := runtime.monotonic() - began) < seconds:
        work()
        count += 1
    return count / passed


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
