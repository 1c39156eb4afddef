"""Plan: the checked contents of a create request.

Each create_* module fills its part; `create_accept` stores the whole.
"""

import dataclasses


@dataclasses.dataclass
class Plan:
    """Servers to be made. least, most: how many.

    flavor: the flavors row; image: what the image service says, or None
    zone: availability zone asked for, or its volumes'; volume_zone: where volumes have to be
    forced: ([hosts], [nodes]) past the filters
    destination: {'host', 'node'} within the filters, or None
    devices: block devices without server; networks: 'auto', 'none' or a list
    groups: security groups by name or id; server_group: its row, or None
    columns: further columns of every server's record
    password: of the administrator; files: personality, as (path, base64 text)
    """

    name: str
    least: int
    most: int
    flavor: object = None
    image: dict | None = None
    zone: str | None = None
    volume_zone: str | None = None
    forced: tuple = ((), ())
    destination: dict | None = None
    devices: list = dataclasses.field(default_factory=list)
    boots_from_volume: bool = False
    networks: object = None
    groups: list = dataclasses.field(default_factory=list)
    hints: dict = dataclasses.field(default_factory=dict)
    server_group: object = None
    tags: list = dataclasses.field(default_factory=list)
    files: list = dataclasses.field(default_factory=list)
    password: str | None = dataclasses.field(default=None, repr=False)
    columns: dict = dataclasses.field(default_factory=dict)
    uuids: list = dataclasses.field(default_factory=list)

    @property
    def reserves(self):
        """Return whether existing volumes are reserved before the servers are accepted."""
        return any(device['volume_id'] for device in self.devices)

    @property
    def retries(self):
        """Return whether a failed build may try another host: not when one was forced."""
        hosts, nodes = self.forced
        return not (len(hosts) == 1 or len(nodes) == 1)
