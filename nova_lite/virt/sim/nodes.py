"""The NUMA nodes of a simulated host, as its profile describes them."""

import re

from nova_lite import exception
from nova_lite.objects import masks
from nova_lite.virt import topology
from nova_lite.virt.sim import strict_yaml

NODES, THREADS, SHARED, DEDICATED = 'nodes', 'threads', 'shared', 'dedicated'
CPUS, MEMORY, SOCKET, PAGES = 'cpus', 'memory_mb', 'socket', 'pages'
COUNT, RESERVED = 'count', 'reserved'
# KiB
_UNITS = {'K': 1, 'M': 1024, 'G': 1024**2}
MOST_NODES, MOST_THREADS = 64, 8


def read(item: strict_yaml.Reader) -> topology.Host:
    """Return the NUMA nodes of a host. Raise ProfileError."""
    item.mapping(required=(NODES,), optional=(THREADS, SHARED, DEDICATED))
    threads = item.at(THREADS).integer(1, MOST_THREADS) if item.has(THREADS) else 1
    places = item.at(NODES).sequence()
    item.at(NODES).expect(1 <= len(places) <= MOST_NODES, f'must have 1 to {MOST_NODES} nodes')
    found: list[topology.Node] = []
    taken: set[int] = set()
    for index, place in enumerate(places):
        node = _node(place, index, threads)
        place.at(CPUS).expect(not node.cpus & taken, 'has a CPU of another node')
        taken |= node.cpus
        found.append(node)
    sets = {key: _cpus(item.at(key)) for key in (SHARED, DEDICATED) if item.has(key)}
    for key, numbers in sets.items():
        item.at(key).expect(numbers <= taken, 'has a CPU that no node has')
    both = sets.get(SHARED, frozenset()) & sets.get(DEDICATED, frozenset())
    item.expect(not both, 'a CPU cannot be shared and dedicated')
    return topology.Host(tuple(found)).with_sets(sets.get(SHARED), sets.get(DEDICATED))


def _node(item: strict_yaml.Reader, index: int, threads: int) -> topology.Node:
    item.mapping(required=(CPUS, MEMORY), optional=(SOCKET, PAGES))
    cpus = sorted(_cpus(item.at(CPUS)))
    item.at(CPUS).expect(cpus, 'must have a CPU')
    cores, rest = divmod(len(cpus), threads)
    item.at(CPUS).expect(not rest, f'must have a multiple of {threads} CPUs, the threads of a core')
    memory_mb = item.at(MEMORY).integer(1)
    large = _pages(item.at(PAGES)) if item.has(PAGES) else []
    small_kb = memory_mb * topology.KIB_PER_MIB - sum(each.size_kb * each.total for each in large)
    item.expect(small_kb >= 0, 'has more pages than memory')
    small = topology.Pages(topology.SMALL_KB, small_kb // topology.SMALL_KB)
    return topology.Node(
        id=index,
        socket=item.at(SOCKET).integer(0, MOST_NODES) if item.has(SOCKET) else index,
        memory_mb=memory_mb,
        shared=frozenset(),
        dedicated=frozenset(),
        cores=tuple(tuple(cpus[core::cores]) for core in range(cores)),
        pages=(small, *sorted(large, key=lambda each: each.size_kb)),
    )


def _pages(item: strict_yaml.Reader) -> list[topology.Pages]:
    found: dict[int, topology.Pages] = {}
    for text, value in item.items():
        match = re.fullmatch('([1-9][0-9]{0,8})([KMG])', text)
        value.expect(match, 'the size of a page is a number with K, M or G')
        size_kb = int(match[1]) * _UNITS[match[2]] if match else 0
        value.expect(size_kb > topology.SMALL_KB, f'must have more than {topology.SMALL_KB}K')
        value.expect(size_kb not in found, 'is given twice')
        total, reserved = _amounts(value)
        found[size_kb] = topology.Pages(size_kb, total, reserved)
    return list(found.values())


def _amounts(item: strict_yaml.Reader) -> tuple[int, int]:
    """Return (count, reserved) of `COUNT` or of `{count: COUNT, reserved: COUNT}`."""
    if not isinstance(item.value, dict):
        return item.integer(), 0
    item.mapping(required=(COUNT,), optional=(RESERVED,))
    total = item.at(COUNT).integer()
    return total, item.at(RESERVED).integer(0, total) if item.has(RESERVED) else 0


def _cpus(item: strict_yaml.Reader) -> frozenset[int]:
    """Return the CPUs of a mask such as `0-3,8`, or of one number."""
    text = str(item.value) if item.is_number() else item.string()
    try:
        return masks.cpus(text)
    except exception.Invalid as error:
        item.expect(False, str(error))
        raise
