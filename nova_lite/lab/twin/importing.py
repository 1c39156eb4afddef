"""Read a cloud through its APIs, as the file of a twin. Nothing is changed in the cloud.

The twin has the hosts, flavors, aggregates, zones, server groups and servers of the cloud. What it
cannot have is named in notes, and the resources of servers that it lacks are reserved on its hosts.
What the APIs do not show of NUMA nodes and devices is assumed, which is named in notes too.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import typing

from keystoneauth1 import discover

from nova_lite import exception
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.launcher.cloud_file import schema
from nova_lite.lab.launcher.cloud_file import servers as file_servers
from nova_lite.lab.twin import cells as cells_
from nova_lite.lab.twin import devices
from nova_lite.lab.twin import flavors as flavors_
from nova_lite.lab.twin import group_members
from nova_lite.lab.twin import guests as guests_
from nova_lite.lab.twin import host_reading
from nova_lite.lab.twin import hosts as hosts_
from nova_lite.lab.twin import images
from nova_lite.lab.twin import names as names_
from nova_lite.lab.twin import numa
from nova_lite.lab.twin import services
from nova_lite.lab.twin import zones
from nova_lite.lifecycle.guests import pci
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
PINNED = 'pinned_availability_zone'
# The first microversion that shows policies of groups with their rules.
OLDEST = (2, 64)
UNLIMITED: Json = {
    'compute': dict.fromkeys(
        ('instances', 'cores', 'ram', 'server_groups', 'server_group_members'), -1
    ),
    'volume': dict.fromkeys(('volumes', 'gigabytes'), -1),
}


class TooOld(exception.Invalid):
    msg = (
        'The compute API of the cloud knows microversions up to %(newest)s, and the import needs %(oldest)s. '
        'Only clouds since Rocky can be imported.'
    )


class NoHosts(exception.Invalid):
    msg = 'The cloud has no host for a twin%(missing)s. Import a cloud with hosts'


class Import:
    """Reads one cloud. shown: whether names of servers, groups and images are kept

    options: {group: {option: value}} of the twin, which the APIs do not show
    cells: patterns of the names of the hosts of each cell; without any, all hosts are in one cell
    """

    def __init__(
        self,
        api: apis.Api,
        *,
        shown: bool,
        options: devices.Options,
        cells: Sequence[str] = (),
    ) -> None:
        newest = api.newest('compute')
        if newest < OLDEST:
            raise TooOld(
                newest=discover.version_to_string(newest),
                oldest=discover.version_to_string(OLDEST),
            )
        used = min(newest, discover.normalize_version_number(apis.MICROVERSION))
        api.microversions['compute'] = discover.version_to_string(used)
        self._api, self._names = api, names_.Names(shown=shown)
        self._shown, self._options, self._cells = shown, options, cells
        # What the twin lacks, what it keeps of hosts, and what is assumed about the cloud.
        self.notes: list[str] = []
        self.kept: list[str] = []
        self.assumed: list[str] = []
        self._projects: dict[str, str] = {}

    def read(self) -> Json:
        """Return the document of the twin. `notes` names the rest.

        Raise Refused, NoHosts, WrongUse.
        """
        rows = self._api.list('compute', '/servers/detail', 'servers', all_tenants=1)
        for owner in sorted({row['tenant_id'] for row in rows}):
            self._project(owner)
        hosts, disabled, down = self._hosts()
        cells = cells_.divided(sorted(hosts), self._cells)
        aggregates, zoned = zones.read(self._api, hosts, self._project)
        read = compute.read_flavors(self._api, self._projects)
        self.notes += flavors_.without_unknown(read)
        chosen = flavors_.Flavors(read)
        found = images.Images(self._api, self._names)
        aliases = pci.aliases(filter(None, [self._options.get('pci', {}).get('alias')]))
        reader = guests_.Guests(self._api, found, aliases)
        guests = reader.read(rows, hosts)
        kinds = devices.Kinds((each for host in hosts.values() for each in host.providers), aliases)
        pages = numa.page_sizes(read, [part for guest in guests for part in guest.parts])
        rules = _rules(reader, hosts, guests, pages=pages, kinds=kinds)
        inside = [guest for guest in guests if guest.outside is None]
        groups, members = self._groups(inside)
        entries = [
            self._entry(guest, chosen, found, members=members, zones=zoned) for guest in inside
        ]
        reader.note(guests)
        self.notes += [*chosen.notes, *found.notes, *reader.notes]
        self._note_zones(zoned, inside)
        self._note(hosts.values(), rules, kinds, pages)
        self.assumed += reader.assumed
        document = {
            'cells': [{'hosts': names} for names in cells],
            'profile': hosts_.profile_of(rules),
            'options': _with_options(kinds.options(), self._options),
            'projects': self._quotas(),
            'flavors': chosen.entries,
            'images': found.entries,
            'aggregates': aggregates,
            'zones': zones.with_hosts(zoned),
            'server_groups': groups,
            'servers': entries,
            'disabled_hosts': disabled,
            'down_hosts': [{'hosts': down}] if down else [],
        }
        known = {name: value for name, value in document.items() if value}
        return {'format': schema.FORMAT, 'defaults': False, **known}

    def _quotas(self) -> list[Json]:
        """Return the entries of all projects, which have no limits."""
        return [
            {'name': each, 'quotas': copy.deepcopy(UNLIMITED)} for each in self._projects.values()
        ]

    def _project(self, project_id: str) -> str:
        """Return the name of a project in the twin, which has the project from now on."""
        if project_id not in self._projects:
            self._projects[project_id] = self._names.of('project', project_id, '')
        return self._projects[project_id]

    def _group_name(self, group: Json) -> str:
        return self._names.of('group', group['id'], group['name'])

    def _hosts(self) -> tuple[dict[str, hosts_.Host], list[Json], list[str]]:
        """Return (hosts, entries of those that are disabled, names of those that are down)."""
        reading = host_reading.read(self._api)
        states = services.read(self._api, reading.hosts)
        notes = [*reading.notes(), *states.notes(reading.missing())]
        if not reading.hosts:
            raise NoHosts(missing=f': it lacks {"; ".join(notes)}' if notes else '')
        self.notes += notes
        self.kept += states.kept(shown=self._shown)
        return reading.hosts, states.disabled(shown=self._shown), states.down()

    def _groups(self, guests: Iterable[guests_.Guest]) -> tuple[list[Json], dict[str, str]]:
        """Return (entries of server groups, {id of a member: name of its group})."""
        found, members = file_servers.read_groups(self._api, self._projects, self._group_name)
        known, notes = group_members.known(found)
        hosts = {guest.row['id']: guest.host.name for guest in guests}
        obeying, more = group_members.obeying(known, members, hosts)
        self.notes += [*notes, *more]
        return known, obeying

    def _note_zones(self, zoned: Sequence[Json], guests: Iterable[guests_.Guest]) -> None:
        """Add a note on servers that were created for a zone in which their host is not."""
        others = sum(
            zones.lost_pin(zoned, guest.row.get(PINNED), guest.host.name) for guest in guests
        )
        if others:
            servers = plurals.of(others, 'server')
            self.notes.append(f'the pinned zones of {servers}, whose hosts are not in these zones')

    def _note(
        self,
        hosts: Iterable[hosts_.Host],
        rules: Mapping[str, Json],
        kinds: devices.Kinds,
        pages: Sequence[int],
    ) -> None:
        """Add notes on limits of hosts that are exceeded, and on what is assumed."""
        over: dict[str, list[str]] = {}
        for host in hosts:
            for name in host.is_over():
                over.setdefault(name, []).append(host.name)
        for name, names in sorted(over.items()):
            text = f'the limits of {name} of {plurals.of(len(names), "host")}'
            self.notes.append(f'{text} ({names_.listed(names)}), which are exceeded')
        described = sum('numa' in rule for rule in rules.values())
        if described:
            text = f'the NUMA nodes of {plurals.of(described, "host")} are of equal size'
            if pages:
                text += ', and their memory is divided evenly among all sizes of pages'
            self.assumed.append(text)
        if any('pci' in rule for rule in rules.values()):
            text = 'the devices of a class are divided among the NUMA nodes of a host by addresses'
            self.assumed.append(text)
        self.assumed += kinds.notes()
        for group, options in kinds.options().items():
            for name in sorted(options.keys() - self._options.get(group, {}).keys()):
                self.assumed.append(f'[{group}] {name}, as devices are in placement')

    def _entry(
        self,
        guest: guests_.Guest,
        chosen: flavors_.Flavors,
        found: images.Images,
        *,
        members: Mapping[str, str],
        zones: Iterable[Json],
    ) -> Json:
        """Return the entry of a server. zones: entries of the zones of the twin"""
        row = guest.row
        entry = {
            'name': row['id'],
            'project': self._projects[row['tenant_id']],
            'flavor': chosen.name_of(row['flavor']),
            'image': found.name(row),
            'host': guest.host.name,
            'forced': True,
        }
        if not row['image']:
            entry['volume'] = {'size': max(1, row['flavor']['disk'])}
        if any(
            row.get(PINNED) == zone['name'] and guest.host.name in zone['hosts'] for zone in zones
        ):
            entry['zone'] = row[PINNED]
        if guest.status != guests_.ACTIVE:
            entry['status'] = guest.status
        if guest.turn:
            entry['turn'] = guest.turn
        if self._shown:
            entry['metadata'] = {'name': row['name']}
        if row['id'] in members:
            entry['group'] = members[row['id']]
        return entry


def _rules(
    reader: guests_.Guests,
    hosts: Mapping[str, hosts_.Host],
    guests: Sequence[guests_.Guest],
    *,
    pages: Sequence[int],
    kinds: devices.Kinds,
) -> dict[str, Json]:
    """Return {name of a host: its settings in the profile}. Give turns to guests.

    pages: KiB of the large pages of all hosts
    """
    while True:
        rules = {name: host.rule(pages, kinds) for name, host in sorted(hosts.items())}
        # Guests that do not fit are left out, so that the offer of their hosts changes.
        if reader.arrange(guests, rules):
            return rules


def _with_options(assumed: devices.Options, given: devices.Options) -> devices.Options:
    """Return options of both. Those that are given prevail."""
    return {
        group: {**assumed.get(group, {}), **given.get(group, {})} for group in {**assumed, **given}
    }
