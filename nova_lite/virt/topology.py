"""The topology of a host, and the CPUs, memory and pages that guests hold. Plain values.

Numbers of CPUs are those of the host. A core is a set of CPUs that are threads of it.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import functools
from typing import Any
from typing import Self

from nova_lite.virt import pci

KIB_PER_MIB = 1024
SMALL_KB = 4
# Prefix of the name of a port's request for a device.
PORT = 'port '

# A JSON object, which is sent or stored as text.
Json = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Pages:
    """The memory pages of one size of a node. reserved: not available to guests"""

    size_kb: int
    total: int
    reserved: int = 0


@dataclasses.dataclass(frozen=True)
class Node:
    """A NUMA node of a host.

    shared: CPUs for guests without CPUs of their own; dedicated: CPUs for one guest each
    cores: all CPUs of the node by core, also those that are for no guest
    pages: with the smallest size first
    """

    id: int
    socket: int
    memory_mb: int
    shared: frozenset[int]
    dedicated: frozenset[int]
    cores: tuple[tuple[int, ...], ...]
    pages: tuple[Pages, ...]

    @functools.cached_property
    def cpus(self) -> frozenset[int]:
        """Return all CPUs of the node."""
        return frozenset(cpu for core in self.cores for cpu in core)

    @functools.cached_property
    def dedicated_cores(self) -> tuple[tuple[int, ...], ...]:
        """Return the dedicated CPUs by core."""
        found = (tuple(cpu for cpu in core if cpu in self.dedicated) for core in self.cores)
        return tuple(core for core in found if core)


@dataclasses.dataclass(frozen=True)
class Host:
    """The NUMA nodes of a host, in the order of their ids, and its PCI devices."""

    nodes: tuple[Node, ...]
    devices: tuple[pci.Device, ...] = ()

    @functools.cached_property
    def shared(self) -> int:
        """Return the number of shared CPUs."""
        return sum(len(node.shared) for node in self.nodes)

    @functools.cached_property
    def dedicated(self) -> int:
        """Return the number of dedicated CPUs."""
        return sum(len(node.dedicated) for node in self.nodes)

    @functools.cached_property
    def virtual_classes(self) -> frozenset[str]:
        """Return the resource classes of the virtual GPUs."""
        found = (each.resource_class for each in self.devices if each.kind == pci.MDEV)
        return frozenset(name for name in found if name)

    @property
    def has_threads(self) -> bool:
        """Return whether a core has more than one CPU."""
        return any(len(core) > 1 for node in self.nodes for core in node.cores)

    @property
    def cpus(self) -> frozenset[int]:
        """Return all CPUs of the host."""
        return frozenset(cpu for node in self.nodes for cpu in node.cpus)

    @property
    def memory_mb(self) -> int:
        return sum(node.memory_mb for node in self.nodes)

    def with_sets(
        self, shared: Collection[int] | None, dedicated: Collection[int] | None
    ) -> 'Host':
        """Return the host with other sets of shared and dedicated CPUs.

        Without a set of shared CPUs all are shared, unless there are dedicated ones.
        """
        if shared is None:
            shared = self.cpus if dedicated is None else ()
        nodes = tuple(
            dataclasses.replace(
                node,
                shared=node.cpus.intersection(shared),
                dedicated=node.cpus.intersection(dedicated or ()),
            )
            for node in self.nodes
        )
        return dataclasses.replace(self, nodes=nodes)

    def with_reserved(self, reserved: Mapping[tuple[int, int], int]) -> 'Host':
        """Return the host with other reserved pages. reserved: {(id of a node, KiB): number}"""
        nodes = tuple(
            dataclasses.replace(
                node,
                pages=tuple(
                    dataclasses.replace(
                        each, reserved=reserved.get((node.id, each.size_kb), each.reserved)
                    )
                    for each in node.pages
                ),
            )
            for node in self.nodes
        )
        return dataclasses.replace(self, nodes=nodes)

    def to_dict(self) -> Json:
        devices = {'devices': [device.to_dict() for device in self.devices]}
        return {
            'nodes': [
                {
                    'id': node.id,
                    'socket': node.socket,
                    'memory_mb': node.memory_mb,
                    'shared': sorted(node.shared),
                    'dedicated': sorted(node.dedicated),
                    'cores': [list(core) for core in node.cores],
                    'pages': [dataclasses.astuple(pages) for pages in node.pages],
                }
                for node in self.nodes
            ],
            **(devices if self.devices else {}),
        }

    @classmethod
    def from_dict(cls, value: Json) -> Self:
        return cls(
            tuple(
                Node(
                    id=node['id'],
                    socket=node['socket'],
                    memory_mb=node['memory_mb'],
                    shared=frozenset(node['shared']),
                    dedicated=frozenset(node['dedicated']),
                    cores=tuple(tuple(core) for core in node['cores']),
                    pages=tuple(Pages(*pages) for pages in node['pages']),
                )
                for node in value['nodes']
            ),
            tuple(map(pci.Device.from_dict, value.get('devices', ()))),
        )


@dataclasses.dataclass(frozen=True)
class Cell:
    """The part of a host's node that one NUMA node of a guest holds.

    node: id of the host's; cpus: all of the guest's on this node
    pins: pairs of a guest's dedicated CPU and its CPU of the host
    reserved: CPUs of the host that the guest holds besides; threads: CPUs it uses of each core
    page_kb: size of the pages; None: any memory of the node, which may be overcommitted
    """

    node: int
    cpus: tuple[int, ...]
    memory_mb: int
    page_kb: int | None = None
    pins: tuple[tuple[int, int], ...] = ()
    reserved: tuple[int, ...] = ()
    threads: int = 1

    @property
    def shared(self) -> int:
        """Return the number of CPUs that are not dedicated."""
        return len(self.cpus) - len(self.pins)

    @property
    def dedicated(self) -> frozenset[int]:
        """Return the CPUs of the host that no other guest may have."""
        return frozenset((*(cpu for _guest, cpu in self.pins), *self.reserved))

    @property
    def pages(self) -> int:
        return self.memory_mb * KIB_PER_MIB // self.page_kb if self.page_kb else 0

    @property
    def siblings(self) -> list[list[int]]:
        """Return the guest's pinned CPUs that are threads of a core of the host, by core."""
        if self.threads < 2:
            return []
        numbers = [cpu for cpu, _host in self.pins]
        return [numbers[at : at + self.threads] for at in range(0, len(numbers), self.threads)]


@dataclasses.dataclass(frozen=True)
class Held:
    """The parts of a host that a guest holds, in the order of its NUMA nodes and devices.

    request: name of the request for which the parts were chosen, see Constraints.request
    devices: pairs of the name of a request for devices and the address of a PCI device
    """

    cells: tuple[Cell, ...]
    request: str = ''
    devices: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_port(cls, port: str, address: str) -> Self:
        """Return the part of a guest that is the PCI device of one of its ports."""
        return cls((), PORT + port, ((port, address),))

    @property
    def port(self) -> str | None:
        """Return the id of the port of which this is the device, or None."""
        return self.request.removeprefix(PORT) if self.request.startswith(PORT) else None

    @property
    def pinned(self) -> int:
        """Return the number of the guest's CPUs that have a CPU of the host for themselves."""
        return sum(len(cell.pins) for cell in self.cells)

    def to_dict(self) -> Json:
        cells = [dataclasses.asdict(cell) for cell in self.cells]
        for cell in cells:
            # Lists, as JSON has them, so that the result can be compared with a stored one.
            cell['pins'] = [list(pair) for pair in cell['pins']]
            cell |= {key: list(cell[key]) for key in ('cpus', 'reserved')}
        devices = {'devices': [list(pair) for pair in self.devices]} if self.devices else {}
        return {'request': self.request, 'cells': cells, **devices}

    @classmethod
    def from_dict(cls, value: Json) -> Self:
        return cls(
            tuple(
                Cell(
                    node=cell['node'],
                    cpus=tuple(cell['cpus']),
                    memory_mb=cell['memory_mb'],
                    page_kb=cell['page_kb'],
                    pins=tuple((guest, host) for guest, host in cell['pins']),
                    reserved=tuple(cell['reserved']),
                    threads=cell['threads'],
                )
                for cell in value['cells']
            ),
            value['request'],
            tuple((name, address) for name, address in value.get('devices', ())),
        )


def port_devices(parts: Iterable[Held]) -> dict[str, str]:
    """Return {port id: address of its PCI device} of a guest's parts."""
    return dict(pair for part in parts if part.port is not None for pair in part.devices)


def even(count: int, cpus: int, memory_mb: int) -> Host:
    """Return a host of which only the number of nodes is known.

    Its nodes share CPUs and memory evenly. All CPUs are shared, each is a core, and all pages are
    small.
    """
    return Host(tuple(_even_node(count, index, cpus, memory_mb) for index in range(count)))


def _even_node(count: int, index: int, cpus: int, memory_mb: int) -> Node:
    numbers = range(cpus * index // count, cpus * (index + 1) // count)
    memory = memory_mb * (index + 1) // count - memory_mb * index // count
    return Node(
        id=index,
        socket=index,
        memory_mb=memory,
        shared=frozenset(numbers),
        dedicated=frozenset(),
        cores=tuple((number,) for number in numbers),
        pages=(Pages(SMALL_KB, memory * KIB_PER_MIB // SMALL_KB),),
    )
