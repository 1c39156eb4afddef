"""The state of a host at one moment.

A HostState is not changed once it is in a snapshot: a decision that puts a
server on a host continues with a copy (`with_server`). Memory is in MiB, disk
in GiB. Source: reference/nova/scheduling 5.
"""

import collections.abc
import copy
import dataclasses
import functools
import math
import typing

from nova_lite.db.api import aggregates
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import flavor
from nova_lite.virt import pci
from nova_lite.virt import topology

Aggregate: typing.TypeAlias = aggregates.Aggregate
# {key: values} of the metadata of a host's aggregates.
Metadata: typing.TypeAlias = dict[str, frozenset[str]]
# {name: value} of the facts that a node reports.
Facts: typing.TypeAlias = dict[str, typing.Any]
# Image properties as pairs of name and value.
Counted: typing.TypeAlias = dict[tuple[str, str | None], int]
ImageProperties: typing.TypeAlias = dict[str, str | None]

ZONE_KEY = 'availability_zone'
# The facts to which extra specs and hints may refer by name.
FACTS = frozenset(
    (
        'host',
        'node',
        'nodename',
        'hypervisor_hostname',
        'host_ip',
        'architecture',
        'hypervisor_type',
        'hypervisor_version',
        'cpu_info',
        'supported_instances',
        'stats',
        'metrics',
        'vcpus_total',
        'vcpus_used',
        'total_usable_ram_mb',
        'free_ram_mb',
        'total_usable_disk_gb',
        'disk_mb_used',
        'free_disk_mb',
        'num_instances',
        'num_io_ops',
        'failed_builds',
        'cpu_allocation_ratio',
        'ram_allocation_ratio',
        'disk_allocation_ratio',
    )
)


class Aggregates:
    """All aggregates (rows of db.api.aggregates), and those of each host.

    `metadata_of(host)` is {key: frozenset of the values in the host's aggregates}; hosts in the
    same aggregates share one object.
    """

    def __init__(self, aggregates: collections.abc.Iterable[Aggregate] = ()) -> None:
        self.all = tuple(aggregates)
        of_host: dict[str, list[Aggregate]] = {}
        for aggregate in self.all:
            for host in aggregate.hosts:
                of_host.setdefault(host, []).append(aggregate)
        self._of_host = {host: tuple(found) for host, found in of_host.items()}
        self._metadata: dict[tuple[str, ...], Metadata] = {}

    def of_host(self, host: str) -> tuple[Aggregate, ...]:
        """Return the aggregates a host is in."""
        return self._of_host.get(host, ())

    def metadata_of(self, host: str) -> Metadata:
        """Return the metadata of a host's aggregates, by key."""
        aggregates = self.of_host(host)
        key = tuple(aggregate.uuid for aggregate in aggregates)
        if key not in self._metadata:
            values: dict[str, set[str]] = {}
            for aggregate in aggregates:
                for name, value in aggregate.metadata.items():
                    values.setdefault(name, set()).add(value)
            self._metadata[key] = {name: frozenset(found) for name, found in values.items()}
        return self._metadata[key]

    def with_metadata(self, key: str, value: str) -> list[Aggregate]:
        """Return the aggregates whose metadata has this key with this value."""
        return [aggregate for aggregate in self.all if aggregate.metadata.get(key) == value]


@dataclasses.dataclass(frozen=True)
class Size:
    """The resources that one server uses on its host."""

    vcpus: int
    memory_mb: int
    disk_gb: int

    @classmethod
    def of(cls, flavor: flavor.Flavor, *, volume_backed: bool = False) -> typing.Self:
        """Return the size of a server of this flavor."""
        disk_gb = flavor.ephemeral_gb + math.ceil(flavor.swap / 1024)
        if not volume_backed:
            disk_gb += flavor.root_gb
        return cls(flavor.vcpus, flavor.memory_mb, disk_gb)


class Coming(typing.NamedTuple):
    """A guest with parts that its node does not report yet.

    given: its allocations, if they decide which devices it gets
    """

    guest: constraints.Constraints
    given: placed_devices.Given | None = None

    def fit(self, rooms: fitting.Rooms, ratios: fitting.Ratios) -> topology.Held | fitting.Misfit:
        """Return the parts of the rooms that it will hold, or the reason why it does not fit."""
        if self.given is not None:
            rooms = self.given.limit(rooms, self.guest.ports)
        return fitting.fit(rooms, self.guest, ratios)


@dataclasses.dataclass(slots=True)
class HostState:
    """One hypervisor node of one service host.

    host, node: names; uuid: the compute node's and its resource provider's
    up, disabled, version: those of the compute service
    silent: services.silence of the compute service; mapped: whether the host was discovered
    metadata: {key: frozenset of values} of the host's aggregates
    stats, cpu_info, metrics: as the node reports them
    image_properties: {(name, value): number of servers on the host}; None if not read
    numa: NUMA nodes, PCI devices and the parts that guests hold, as the node reports them, or None
    coming: guests with parts that the node does not report yet
    known_rooms: result of `rooms`, once it was asked for
    free_ram_mb, free_disk_mb: free memory and disk in MiB, without the allocation ratios
    free_vcpus: free vCPUs, with the allocation ratio applied
    free_devices: number of PCI devices that no guest holds or will hold. It counts what the node
        reports, since reading the rooms of every host takes time

    Weighers read the free resources of all offered hosts for each decision, so they are computed
    once.
    """

    host: str
    node: str
    uuid: str
    cell_uuid: str
    host_ip: str | None = None
    vcpus_total: int = 0
    memory_mb: int = 0
    local_gb: int = 0
    cpu_allocation_ratio: float = 1.0
    ram_allocation_ratio: float = 1.0
    disk_allocation_ratio: float = 1.0
    reserved_memory_mb: int = 0
    vcpus_used: int = 0
    memory_mb_used: int = 0
    local_gb_used: int = 0
    num_instances: int = 0
    num_io_ops: int = 0
    failed_builds: int = 0
    hypervisor_type: str = ''
    hypervisor_version: int = 0
    cpu_info: Facts = dataclasses.field(default_factory=dict)
    supported_instances: tuple[collections.abc.Sequence[str | None], ...] = ()
    stats: Facts = dataclasses.field(default_factory=dict)
    metrics: dict[str, float] = dataclasses.field(default_factory=dict)
    up: bool = True
    silent: str | None = None
    disabled: bool = False
    disabled_reason: str | None = None
    version: int = 0
    mapped: bool = True
    aggregates: tuple[Aggregate, ...] = ()
    metadata: Metadata = dataclasses.field(default_factory=dict)
    image_properties: Counted | None = None
    numa: Facts | None = None
    coming: tuple[Coming, ...] = ()
    known_rooms: fitting.Rooms | None = dataclasses.field(default=None, compare=False, repr=False)
    free_ram_mb: int = dataclasses.field(init=False)
    free_disk_mb: int = dataclasses.field(init=False)
    free_vcpus: float = dataclasses.field(init=False)
    free_devices: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.count_free()
        self.count_free_devices()

    def count_free(self) -> None:
        """Compute the free memory, disk and vCPUs from the used ones."""
        self.free_ram_mb = self.memory_mb - self.reserved_memory_mb - self.memory_mb_used
        self.free_disk_mb = (self.local_gb - self.local_gb_used) * 1024
        self.free_vcpus = self.vcpus_total * self.cpu_allocation_ratio - self.vcpus_used

    @property
    def ratios(self) -> fitting.Ratios:
        """Return the allocation ratios of shared CPUs and memory in NUMA nodes."""
        return fitting.Ratios(self.cpu_allocation_ratio, self.ram_allocation_ratio)

    def rooms(self) -> fitting.Rooms:
        """Return the rooms of the node beside the guests that it has or will have."""
        if self.known_rooms is None:
            numa = self.numa or {}
            if numa.get('host'):
                described = topology.Host.from_dict(numa['host'])
            else:
                cells = self.cpu_info.get('topology', {}).get('cells') or 0
                described = topology.even(cells, self.vcpus_total, self.memory_mb)
            parts = [
                topology.Held.from_dict(held)
                for held_by_guest in numa.get('guests', {}).values()
                for held in held_by_guest
            ]
            rooms = fitting.rooms(described, parts)
            for each in self.coming:
                held = each.fit(rooms, self.ratios)
                if isinstance(held, topology.Held):
                    rooms = fitting.without(rooms, held)
            self.known_rooms = rooms
        return self.known_rooms

    @property
    def has_dedicated_cpus(self) -> bool:
        """Return whether CPUs of the node are for one guest each, as the node reports it."""
        return any(node['dedicated'] for node in self._described_nodes)

    @property
    def has_threads(self) -> bool:
        """Return whether a core of the node has more than one CPU, as the node reports it."""
        return any(len(core) > 1 for node in self._described_nodes for core in node['cores'])

    @property
    def _described_nodes(self) -> collections.abc.Sequence[Facts]:
        described = (self.numa or {}).get('host') or {}
        found: collections.abc.Sequence[Facts] = described.get('nodes', ())
        return found

    def count_free_devices(self) -> None:
        """Compute the number of free PCI devices."""
        numa = self.numa or {}
        devices = (numa.get('host') or {}).get('devices')
        self.free_devices = 0
        if not devices:
            return
        parts = (part for parts in numa['guests'].values() for part in parts)
        physical: int = sum(device['kind'] != pci.MDEV for device in devices)
        held = sum(
            pci.mdev_type(address) is None
            for part in parts
            for _name, address in part.get('devices', ())
        )
        wanted = sum(each.count for coming in self.coming for each in coming.guest.requested)
        self.free_devices = physical - held - wanted

    # The names of the facts in expressions of users and operators.
    @property
    def total_usable_ram_mb(self) -> int:
        return self.memory_mb

    @property
    def total_usable_disk_gb(self) -> int:
        return self.local_gb

    @property
    def disk_mb_used(self) -> int:
        return self.local_gb_used * 1024

    @property
    def nodename(self) -> str:
        return self.node

    @property
    def hypervisor_hostname(self) -> str:
        return self.node

    @property
    def architecture(self) -> str | None:
        return self.cpu_info.get('arch')

    def __str__(self) -> str:
        return self.host if self.host == self.node else f'{self.host}/{self.node}'

    def with_server(
        self,
        size: Size,
        image_properties: ImageProperties | None = None,
        guest: constraints.Constraints = constraints.NONE,
        *,
        given: placed_devices.Given | None = None,
        count: int = 1,
    ) -> typing.Self:
        """Return a copy with one more server, in creation; with count=-1 one server less.

        given: the server's allocations, see `Coming`
        """
        after = copy.copy(self)
        if guest.has_parts:
            coming, one = list(self.coming), Coming(guest, given)
            if count > 0:
                coming.append(one)
            elif one in coming:
                coming.remove(one)
            after.coming, after.known_rooms = tuple(coming), None
            after.count_free_devices()
        after.vcpus_used += count * size.vcpus
        after.memory_mb_used += count * size.memory_mb
        after.local_gb_used += count * size.disk_gb
        after.num_instances += count
        after.num_io_ops += count
        after.count_free()
        if self.image_properties is not None and image_properties:
            after.image_properties = dict(self.image_properties)
            for item in image_properties.items():
                after.image_properties[item] = after.image_properties.get(item, 0) + count
        return after


class Snapshot:
    """The hosts of all cells that answered, as they were read.

    hosts: {node uuid: HostState}; taken: monotonic seconds; version: see host_states.HostStates
    missing: {uuid: name} of the cells that did not answer
    """

    def __init__(
        self,
        hosts: collections.abc.Iterable[HostState],
        aggregates: Aggregates | None = None,
        *,
        taken: float = 0.0,
        version: tuple[int, ...] | None = None,
        missing: collections.abc.Mapping[str, str] | None = None,
    ) -> None:
        self.hosts = {host.uuid: host for host in hosts}
        self.aggregates = aggregates or Aggregates()
        self.taken = taken
        self.version = version
        self.missing = missing or {}

    @functools.cached_property
    def minimum_version(self) -> int:
        """Return the lowest version of a compute service; 0 if there is no host."""
        return min((host.version for host in self.hosts.values()), default=0)

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {uuid: position for position, uuid in enumerate(self.hosts)}

    def in_order(self, uuids: collections.abc.Set[str]) -> list[str]:
        """Return those of the uuids that are hosts, in the order of `hosts`."""
        positions = self._positions
        return sorted(uuids & positions.keys(), key=positions.__getitem__)

    def named(
        self, host: str | None = None, node: str | None = None, cell_uuid: str | None = None
    ) -> list[HostState]:
        """Return the nodes with these names (None: any) in the cell (None: in all cells)."""
        uuids = self.hosts if host is None else self._nodes_of.get(host, ())
        states = (self.hosts[uuid] for uuid in uuids)
        return [
            state
            for state in states
            if (node is None or state.node == node)
            and (cell_uuid is None or state.cell_uuid == cell_uuid)
        ]

    @functools.cached_property
    def _nodes_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for uuid, state in self.hosts.items():
            found.setdefault(state.host, []).append(uuid)
        return found

    def replace(self, host: HostState) -> None:
        """Replace the state of one host by a newer one."""
        if host.uuid in self.hosts:
            self.hosts[host.uuid] = host


def zone_of(host: HostState, default: str | None = None) -> str | None:
    """Return the availability zone of a host, or `default` where no aggregate names one."""
    return min(host.metadata.get(ZONE_KEY, ()), default=default)
