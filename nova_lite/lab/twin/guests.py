"""The servers of a real cloud as entries of the file of a twin.

Guests of NUMA nodes are put in an order, see `turns`. Servers that the twin cannot have, and their
resources, are counted on their hosts, as are allocations of consumers that are no servers.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import http
import typing

from keystoneauth1 import discover

from nova_lite import exception
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import servers as file_servers
from nova_lite.lab.twin import flavors
from nova_lite.lab.twin import hosts as hosts_
from nova_lite.lab.twin import images as images_
from nova_lite.lab.twin import numa
from nova_lite.lab.twin import turns
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import pinning
from nova_lite.terminal import plurals
from nova_lite.virt.sim import nodes

Json: typing.TypeAlias = dict[str, typing.Any]
HOST, TASK = file_servers.HOST, file_servers.TASK
# The first microversion that shows the nodes of a guest.
WITH_NODES = (2, 78)
ACTIVE, SHUTOFF = file_servers.ACTIVE, file_servers.SHUTOFF
# {status of servers with a host: that of the servers in a twin}
STATUSES = {
    **{status: status for status in (ACTIVE, SHUTOFF)},
    **dict.fromkeys(('PAUSED', 'SUSPENDED', 'RESCUE', 'VERIFY_RESIZE'), ACTIVE),
    'SHELVED': SHUTOFF,
}
CHANGING = 'that are changing, deleted or in ERROR'
BEYOND = f'on NUMA nodes after the first {nodes.MOST_NODES} of their hosts'
NO_ROOM = 'with NUMA nodes that do not fit into the assumed nodes of their hosts'


@dataclasses.dataclass
class Guest:
    """A server on a host. wanted: what it asks its host for; outside: why the twin lacks it

    held: {resource class: amount}; parts: of the nodes of its host
    """

    row: Json
    host: hosts_.Host
    wanted: constraints.Constraints
    held: dict[str, int]
    parts: tuple[numa.Part, ...] = ()
    outside: str | None = None
    turn: int = 0

    @property
    def status(self) -> str:
        """Return its status in a twin."""
        return STATUSES.get(self.row['status'], ACTIVE)

    @property
    def has_devices(self) -> bool:
        """Return whether its flavor asks for PCI devices or virtual GPUs."""
        return flavors.has_devices(self.row['flavor'].get('extra_specs', {}))


class Guests:
    """Reads the servers of a cloud. aliases: {name: definition} of PCI devices

    notes: what the twin lacks; assumed: what is assumed of it
    """

    def __init__(
        self, api: apis.Api, images: images_.Images, aliases: Mapping[str, pci.Plain]
    ) -> None:
        self._api, self._images, self._aliases = api, images, aliases
        used = discover.normalize_version_number(api.microversions['compute'])
        self._shows_nodes = used >= WITH_NODES
        self.notes: list[str] = []
        self.assumed: list[str] = []

    def read(self, rows: Iterable[Json], hosts: Mapping[str, hosts_.Host]) -> list[Guest]:
        """Return the servers that have a host, in the order of their ids. Count them on hosts."""
        found: list[Guest] = []
        # {name of a host: ids of its servers}
        there: dict[str, set[str]] = {}
        without, elsewhere = 0, 0
        for row in sorted(rows, key=lambda each: str(each['id'])):
            # A server of a cell that does not answer is shown without its host.
            host = hosts.get(row.get(HOST) or '')
            if host is None:
                elsewhere += bool(row.get(HOST))
                without += not row.get(HOST)
            else:
                found.append(self._guest(row, host))
                there.setdefault(host.name, set()).add(row['id'])
        if elsewhere:
            self.notes.append(f'{plurals.of(elsewhere, "server")} on hosts that the twin lacks')
        if without:
            self.notes.append(f'{plurals.of(without, "server")} that no host is shown for')
        if not self._shows_nodes and any(guest.wanted.nodes for guest in found):
            newest = discover.version_to_string(WITH_NODES)
            self.notes.append(f'nodes of guests, which clouds with microversion {newest} show')
        for guest in found:
            self._count(guest)
        beside = 0
        for host in hosts.values():
            host.reserve()
            beside += len(host.consumers().difference(there.get(host.name, ())))
        if beside:
            self.notes.append(
                f'{plurals.of(beside, "consumer")} of allocations on hosts without a server of that '
                'id, such as resizes that are not confirmed: their resources are reserved'
            )
        return found

    def _guest(self, row: Json, host: hosts_.Host) -> Guest:
        flavor, properties = row['flavor'], self._images.properties(row)
        specs = flavor.get('extra_specs', {})
        wanted, held, reason = constraints.NONE, dict[str, int](), None
        try:
            wanted = constraints.of(
                constraints.Asked(
                    vcpus=flavor['vcpus'],
                    memory_mb=flavor['ram'],
                    specs=specs,
                    properties=properties,
                    flavor_name=flavor['original_name'],
                    image_name='',
                    image_id='',
                )
            )
            held = flavors.demand(
                flavor, properties, on_volume=not row['image'], pinned=host.dedicated > 0
            )
        except exception.Invalid as error:
            reason = f'that a twin would refuse ({error})'
        reason = reason or flavors.outside(specs, held.keys() - host.classes(), self._aliases)
        if row[TASK] is not None or row['status'] not in STATUSES:
            reason = CHANGING
        parts = self._parts(row['id']) if wanted.nodes and self._shows_nodes else ()
        if parts and wanted.emulator_threads_policy == pinning.ISOLATE:
            parts = (dataclasses.replace(parts[0], pinned=parts[0].pinned + 1), *parts[1:])
        if any(part.node >= nodes.MOST_NODES for part in parts):
            reason = reason or BEYOND
        return Guest(row, host, wanted, held, parts, reason)

    def _parts(self, server_id: str) -> tuple[numa.Part, ...]:
        try:
            return numa.parts(self._api.call('compute', 'GET', f'/servers/{server_id}/topology'))
        except apis.Refused as error:
            # The server was deleted, or the policy does not show it.
            if error.kwargs['status'] not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.FORBIDDEN):
                raise
            return ()

    def _count(self, guest: Guest) -> None:
        """Count what a server holds on its host. The host has at least the nodes that it shows."""
        host = guest.host
        parts = [part for part in guest.parts if part.node < nodes.MOST_NODES]
        host.nodes = max([host.nodes, *(part.node + 1 for part in parts)])
        if guest.outside is None:
            host.servers.add(guest.row['id'])
            host.demand.update(guest.held)
            host.held += parts
            return
        host.lost += parts

    def arrange(self, found: Iterable[Guest], rules: Mapping[str, Json]) -> bool:
        """Give turns to guests of NUMA nodes. Return whether all of them fit into their hosts.

        rules: {name of a host: its settings in the profile}
        """
        by_host: dict[str, list[Guest]] = {}
        for guest in found:
            if guest.outside is None and guest.wanted.nodes:
                by_host.setdefault(guest.host.name, []).append(guest)
        elsewhere, fits = 0, True
        for name, guests in by_host.items():
            host, known = guests[0].host, {guest.row['id']: guest for guest in guests}
            order = turns.arrange(
                host.topology(rules[name]),
                host.ratios,
                [
                    turns.Guest(uuid, each.wanted, each.parts, each.has_devices)
                    for uuid, each in known.items()
                ],
            )
            for turn, uuid in enumerate(order.turns):
                known[uuid].turn = turn
            elsewhere += len(order.elsewhere)
            for uuid in order.without:
                fits = False
                self._leave_out(known[uuid])
        if fits and elsewhere:
            servers = plurals.of(elsewhere, 'server')
            self.notes.append(f'the NUMA nodes of {servers}, which get other nodes of their hosts')
        return fits

    def _leave_out(self, guest: Guest) -> None:
        host = guest.host
        host.demand.subtract(guest.held)
        for part in guest.parts:
            host.held.remove(part)
        host.servers.remove(guest.row['id'])
        guest.outside = NO_ROOM
        self._count(guest)
        host.reserve()

    def note(self, found: Collection[Guest]) -> None:
        """Add notes on servers and states that the twin lacks, and on devices."""
        left = collections.Counter(each.outside for each in found if each.outside is not None)
        others = collections.Counter(
            (each.row['status'], each.status) for each in found if each.outside is None
        )
        for (status, instead), count in sorted(others.items()):
            if status != instead:
                servers = plurals.of(count, 'server')
                self.notes.append(f'the status {status} of {servers}, which get {instead} instead')
        self.notes += [
            f'{plurals.of(count, "server")} {why}: their resources are reserved'
            for why, count in sorted(left.items())
        ]
        with_devices = sum(guest.has_devices and guest.outside is None for guest in found)
        if with_devices:
            servers = plurals.of(with_devices, 'server')
            self.assumed.append(
                f'placement chooses the devices of {servers} with devices again, and with them nodes'
            )
