"""The stages of a create request: requested, checked, accepted.

Each stage is complete when it is made, and no field of it changes afterwards.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova_lite.api.servers import create_devices
from nova_lite.clients import requested
from nova_lite.clients import session
from nova_lite.db import rows


@dataclasses.dataclass(frozen=True)
class Place:
    """The requested place of new servers.

    zone: availability zone, None for any
    forced_hosts, forced_nodes: names, chosen without the scheduler's filters
    destination: {'host', 'node'} that the filters check, or None
    """

    zone: str | None
    forced_hosts: tuple[str, ...] = ()
    forced_nodes: tuple[str, ...] = ()
    destination: dict[str, str | None] | None = None


@dataclasses.dataclass(frozen=True)
class Asked:
    """The contents of the body. The objects that it names exist, and the caller may use them.

    least, most: number of servers
    networks: None, 'auto', 'none' or a list
    flavor: the flavors row; image: as the image service describes it, or None
    devices: columns of block devices, without those that only a server has
    server_group: its row, or None
    """

    name: str
    least: int
    most: int
    place: Place
    networks: requested.Wanted | None
    flavor: rows.Row
    hints: Mapping[str, list[str]]
    server_group: rows.Row | None
    tags: Sequence[str]
    image: session.Json | None
    devices: Sequence[create_devices.Device]

    @property
    def boots_from_volume(self) -> bool:
        """Return whether the root disk is a volume."""
        root = create_devices.root_of(self.devices)
        return bool(root['destination_type'] == create_devices.VOLUME)

    @property
    def retries(self) -> bool:
        """Return whether a failed build may be retried on another host: not if a host is forced."""
        return not (len(self.place.forced_hosts) == 1 or len(self.place.forced_nodes) == 1)


@dataclasses.dataclass(frozen=True)
class Checked:
    """The requested servers, checked against each object that they use.

    uuids: one for each server that the quotas seem to allow
    zone: the requested availability zone, or the zone of the volumes
    boot_image: the image of the root disk, None if unknown
    devices, networks: as asked, completed by the volume and the network service
    groups: security groups by name or id
    columns: columns that the records of all servers have in common
    files: personality, as [path, base64 text]; password: of the administrator
    """

    asked: Asked
    uuids: Sequence[str]
    zone: str | None
    boot_image: session.Json | None
    devices: Sequence[create_devices.Device]
    networks: requested.Wanted | None
    groups: list[str]
    columns: Mapping[str, typing.Any]
    files: Sequence[list[str]]
    password: str = dataclasses.field(repr=False)

    @property
    def reserves(self) -> bool:
        """Return whether existing volumes are reserved before the servers are accepted."""
        return any(device['volume_id'] for device in self.devices)


@dataclasses.dataclass(frozen=True)
class Accepted:
    """Servers on record: they will be built, or fail visibly. uuids: of these servers"""

    checked: Checked
    uuids: Sequence[str]
