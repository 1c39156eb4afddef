"""One scheduling request, as filters and weighers see it.

The nested objects of the spec are read once into attributes, because access to their fields is slow
and filters need them for each host. A filter reads the flavor's sizes from `size`.
"""

import collections
import collections.abc
import dataclasses
import typing

from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.objects import port_devices
from nova_lite.objects import request_spec
from nova_lite.scheduler import hosts

# {server uuid: its hosts}
HostsOf: typing.TypeAlias = dict[str, set[str]]


@dataclasses.dataclass
class Group:
    """The server group of a request.

    members_on: {host: number of members}; each choice of a batch is added
    """

    uuid: str
    policy: str
    members_on: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    max_per_host: int = 1

    def copy(self) -> typing.Self:
        """Return a copy with counts of its own."""
        return dataclasses.replace(self, members_on=collections.Counter(self.members_on))


class Request:
    """A request spec with the data that was read for it.

    instance_uuids: the servers to place, all alike
    group: Group or None; hosts_of: {server uuid: {host, ...}} of servers named in hints
    guest: requirements of the servers on their host, besides sizes
    contradiction: reason why flavor and image contradict, or None
    has_placed_devices: whether placement is asked for PCI devices of the servers
    missing_device: the device that the servers need and no host has, as a reason, or None
    """

    def __init__(
        self,
        spec: request_spec.RequestSpec,
        instance_uuids: collections.abc.Iterable[str],
        *,
        group: Group | None = None,
        hosts_of: HostsOf | None = None,
        placed_devices: bool = False,
    ) -> None:
        self.spec = spec
        self.instance_uuids = list(instance_uuids)
        self.group = group
        self.hosts_of = hosts_of or {}
        self.flavor_name = spec.flavor.name
        self.extra_specs = dict(spec.flavor.extra_specs)
        self.size = hosts.Size.of(spec.flavor, volume_backed=spec.is_bfv)
        self.image = spec.image
        self.image_id = spec.image.id if spec.image else None
        self.image_properties = dict(spec.image.properties) if spec.image else {}
        self.has_placed_devices = placed_devices and bool(_devices(spec))
        self.guest, self.contradiction = _guest(spec, self.image_properties)
        self.hints = dict(spec.scheduler_hints)
        self.project_id = spec.project_id
        self.current_host = spec.current_host
        self.destination = spec.requested_destination
        self.is_rebuild = spec.check_type == 'rebuild'
        self.force_hosts = {name.lower() for name in spec.force_hosts}
        self.force_nodes = set(spec.force_nodes)
        self.ignore_hosts = {name.lower() for name in spec.ignore_hosts}
        self.missing_device = None if self.is_rebuild else _missing_device(spec)

    @property
    def is_forced(self) -> bool:
        """Return whether an administrator has forced a host, so that filters are skipped."""
        return bool(self.force_hosts or self.force_nodes) and not self.is_rebuild

    @property
    def is_unbound(self) -> bool:
        """Return whether the request names no host, node or cell, and lacks no device."""
        return not (
            self.missing_device
            or self.ignore_hosts
            or self.force_hosts
            or self.force_nodes
            or self.destination
        )

    def given(
        self, node: str, wanted: offers.AllocationRequest | None
    ) -> placed_devices.Given | None:
        """Return the allocations by which a server gets devices; None if they do not decide.

        node: uuid of the node; wanted: the allocation request of the server
        """
        if wanted is None or not self.has_placed_devices:
            return None
        held = {uuid: part['resources'] for uuid, part in wanted['allocations'].items()}
        return placed_devices.Given(node, held)

    def hint(self, name: str) -> str | None:
        """Return the first value of a scheduler hint."""
        values = self.hints.get(name)
        return values[0] if values else None

    def hosts_of_hint(self, hint: str) -> set[str]:
        """Return hosts of the servers that a hint names."""
        named = self.hints.get(hint, ())
        return {host for uuid in named for host in self.hosts_of.get(uuid, ())}


def guest_of(spec: request_spec.RequestSpec) -> constraints.Constraints:
    """Return the requirements of a spec's servers on their hosts. None if they contradict."""
    return _guest(spec, dict(spec.image.properties) if spec.image else {})[0]


def _guest(
    spec: request_spec.RequestSpec, properties: hosts.ImageProperties
) -> tuple[constraints.Constraints, str | None]:
    """Return the constraints of a spec's servers, and the reason if there are none."""
    asked = constraints.Asked.of(
        {**spec.flavor.as_dict(), 'devices': _devices(spec)},
        properties,
        image_id=(spec.image.id if spec.image else None) or '',
        ports=spec.requested_networks,
    )
    try:
        return constraints.of(asked), None
    except exception.Invalid as error:
        return constraints.NONE, error.message


def _devices(spec: request_spec.RequestSpec) -> list[guest_pci.Plain]:
    """Return the requests for PCI devices. Placement alone decides about virtual GPUs."""
    return [each for each in spec.flavor.get('devices') or () if not guest_pci.is_virtual(each)]


def _missing_device(spec: request_spec.RequestSpec) -> str | None:
    """Return the device that no host has, as a reason, or None.

    The API refuses device profiles: only a server of an earlier commit has one.
    """
    port = port_devices.accelerator(spec.requested_networks)
    if port is not None:
        return f'no accelerator service for a port of type {port}'
    profile = spec.flavor.extra_specs.get('accel:device_profile')
    return f'no accelerator service for device profile {profile}' if profile else None
