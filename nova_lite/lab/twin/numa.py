"""NUMA nodes of hosts, as far as the APIs of a cloud show them, for the profile of a twin.

Visible are the number of the nodes and of the threads of a core, the numbers of shared and of
dedicated CPUs of a host, and the nodes, CPUs and pages that each guest holds. The rest is assumed:
nodes of a host have equal memory, and as many CPUs of each kind as their guests permit.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
import typing

from nova_lite import exception
from nova_lite.lifecycle.guests import memory
from nova_lite.virt import topology
from nova_lite.virt.sim import nodes

Json: typing.TypeAlias = dict[str, typing.Any]
PAGE_SIZE = 'hw:mem_page_size'
# The large pages of x86, for flavors that ask for large pages of any size.
USUAL_KB = 2048


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of a host's node that a guest holds. pinned: number of dedicated CPUs

    page_kb: KiB of its pages, None if they are small
    """

    node: int
    pinned: int
    memory_mb: int
    page_kb: int | None = None


@dataclasses.dataclass(frozen=True)
class Totals:
    """The totals of a host. shared, dedicated: numbers of CPUs; nodes: number of NUMA nodes

    threads: of a core
    """

    shared: int
    dedicated: int
    memory_mb: int
    nodes: int
    threads: int = 1


def parts(shown: Json) -> tuple[Part, ...]:
    """Return the parts of a guest in the answer about its topology, none if it shows no host."""
    page_kb = shown['pagesize_kb']
    return tuple(
        Part(
            node['host_node'],
            len(node.get('cpu_pinning') or ()),
            node['memory_mb'],
            page_kb if page_kb and page_kb > topology.SMALL_KB else None,
        )
        for node in shown['nodes']
        if node.get('host_node') is not None
    )


def page_sizes(flavors: Iterable[Mapping[str, typing.Any]], held: Iterable[Part]) -> list[int]:
    """Return the KiB of the large pages that flavors ask for and guests hold, the largest last."""
    found = {part.page_kb for part in held if part.page_kb}
    asked = {str(entry.get('properties', {}).get(PAGE_SIZE, '')) for entry in flavors}
    for text in asked - {'', memory.SMALL, memory.LARGE, memory.ANY}:
        try:
            found.add(memory.size_kb(text))
        except (ValueError, exception.Invalid):
            continue
    if memory.LARGE in asked and not found:
        found.add(USUAL_KB)
    return sorted(size for size in found if size > topology.SMALL_KB)


def described(
    totals: Totals, pages: Sequence[int], held: Collection[Part], lost: Iterable[Part]
) -> Json:
    """Return the nodes of a host for a profile. pages: KiB of the large pages of all hosts

    held: the parts of the guests in the twin
    lost: those of other guests, whose dedicated CPUs the host does not offer
    """
    pinned = _pinned(held, totals.nodes), _pinned(lost, totals.nodes)
    least = [sum(each) for each in zip(*pinned, strict=True)]
    dedicated = _divided(totals.dedicated, totals.nodes, totals.threads, least)
    shared = _divided(totals.shared, totals.nodes, totals.threads, [0] * totals.nodes)
    cores = [
        max(1, -(-(ours + others) // totals.threads))
        for ours, others in zip(dedicated, shared, strict=True)
    ]
    listed: list[Json] = []
    sets: dict[str, list[int]] = {nodes.SHARED: [], nodes.DEDICATED: []}
    for index, first in enumerate(itertools.accumulate([0, *cores[:-1]])):
        own = [first + core for core in range(cores[index])]
        # Core by core, the threads of which have numbers that differ by the number of all cores.
        cpus = [core + sum(cores) * thread for core in own for thread in range(totals.threads)]
        end = shared[index] + dedicated[index]
        sets[nodes.SHARED] += cpus[: shared[index]]
        sets[nodes.DEDICATED] += cpus[shared[index] : end - pinned[1][index]]
        memory_mb = _even(totals.memory_mb, totals.nodes, index)
        node: Json = {nodes.CPUS: _mask(cpus), nodes.MEMORY: memory_mb}
        here = [part for part in held if part.node == index]
        if pages:
            node[nodes.PAGES] = _pages(pages, memory_mb, here)
        listed.append(node)
    found: Json = {nodes.THREADS: totals.threads}
    found |= {name: _mask(cpus) for name, cpus in sets.items() if cpus}
    return {**found, nodes.NODES: listed}


def _pinned(held: Iterable[Part], count: int) -> list[int]:
    """Return the number of dedicated CPUs that guests hold of each node."""
    found = collections.Counter[int]()
    for part in held:
        found[part.node] += part.pinned
    return [found[index] for index in range(count)]


def _even(total: int, count: int, index: int) -> int:
    return total * (index + 1) // count - total * index // count


def _divided(total: int, count: int, unit: int, least: Sequence[int]) -> list[int]:
    """Divide CPUs among nodes evenly, in units of a core. least: number that each node needs"""
    units, rest = divmod(total, unit)
    found = [_even(units, count, index) * unit for index in range(count)]
    found[-1] += rest
    for index in range(count):
        while found[index] < least[index]:
            spare = max(range(count), key=lambda each: found[each] - least[each])
            moved = min(unit, found[spare] - least[spare])
            if moved <= 0:
                break
            found[index] += moved
            found[spare] -= moved
    return found


def _pages(sizes: Sequence[int], memory_mb: int, held: Iterable[Part]) -> dict[str, int]:
    """Return {size: number} of the large pages of a node: an equal share of the memory for each.

    If its guests hold more pages, it has these. What they hold in small pages stays small.
    """
    share_kb = memory_mb * topology.KIB_PER_MIB // (len(sizes) + 1)
    used = collections.Counter[int | None]()
    for part in held:
        used[part.page_kb] += part.memory_mb * topology.KIB_PER_MIB
    left_kb = max(0, memory_mb * topology.KIB_PER_MIB - used[None])
    found = {}
    for size in reversed(sizes):
        number = min(left_kb, max(share_kb, used[size])) // size
        left_kb -= number * size
        found[_size(size)] = number
    return found


def _size(size_kb: int) -> str:
    for unit, name in ((1024**2, 'G'), (1024, 'M')):
        if not size_kb % unit:
            return f'{size_kb // unit}{name}'
    return f'{size_kb}K'


def _mask(cpus: Iterable[int]) -> str:
    """Return numbers as a mask such as `0-3,8`."""
    ordered = sorted(cpus)
    runs = itertools.groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    found = ([cpu for _index, cpu in run] for _key, run in runs)
    return ','.join(f'{run[0]}-{run[-1]}' if len(run) > 1 else f'{run[0]}' for run in found)
