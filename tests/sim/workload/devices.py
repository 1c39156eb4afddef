"""Requests of clients about devices of servers: volumes, shares and interfaces."""

import typing

from nova_lite.simcloud.volume import tables
from tests.sim.workload import caller as caller_module
from tests.sim.workload import codes

# Of shares: only in plans that name them.
SHARES = ('attach_share', 'detach_share')
DEVICES = ('attach_volume', 'detach_volume', 'swap', 'attach_interface', 'detach_interface')
# The volume service asks for swaps itself if it reports what owners do.
WITHOUT_SWAPS = tuple(each for each in DEVICES if each != 'swap')
OPERATIONS = frozenset((*DEVICES, *SHARES))


class Kind(typing.NamedTuple):
    """A kind of devices: the name of the request for its list, the list, and an id in it."""

    what: str
    path: str
    name: str
    key: str


PORTS = '/network/v2.0/ports'
VOLUMES = Kind('list volumes', 'os-volume_attachments', 'volumeAttachments', 'volumeId')
INTERFACES = Kind('list interfaces', 'os-interface', 'interfaceAttachments', 'port_id')
SHARED = Kind('list shares', 'shares', 'shares', 'share_id')


class Devices:
    """Attaches and detaches by a client's `caller`.

    Methods named as operations are given a server, and a stream that chooses what of it.
    network: the id of that in which ports are made
    port_types: those of new ports; without them ports are normal
    """

    def __init__(self, caller, port_types=()):
        self._caller, self.network = caller, None
        self._port_types = port_types

    def make_volume(self):
        """The id of a new volume; None when there is none."""
        body = {'volume': {'size': 1, 'name': self._caller.who}}
        path = f'/volume/v3/{caller_module.PROJECT}/volumes'
        code, found = self._caller.neighbour('make volume', 'POST', path, body)
        return found['volume']['id'] if code == 202 else None

    def make_port(self, rng, types=()):
        """The id of a new port of one of these types; None when there is none."""
        types = types or self._port_types
        values = {'binding:vnic_type': rng.choice(types)} if types else {}
        body = {'port': {'network_id': self.network, 'name': self._caller.who, **values}}
        code, found = self._caller.neighbour('make port', 'POST', PORTS, body)
        return found['port']['id'] if code == 201 else None

    def attach_volume(self, server, _rng):
        volume = self.make_volume()
        if volume is None:
            return
        body = {'volumeAttachment': {'volumeId': volume}}
        path = _path(server, VOLUMES)
        self._caller.send('attach volume', 'POST', path, body)

    def detach_volume(self, server, rng):
        path, attached = self._attached(VOLUMES, server)
        self._detach('volume', path, attached, rng)

    def swap(self, server, rng):
        """Migrate a volume, and ask for the swap as the volume service does then."""
        path, attached = self._attached(VOLUMES, server)
        if not attached:
            return
        old = rng.choice(attached)
        target = self._target(old)
        if target is None:
            return
        body = {'volumeAttachment': {'volumeId': target}}
        code, _found = self._caller.send('swap', 'PUT', f'{path}/{old}', body)
        if code in codes.REFUSALS:
            wanted = {'new_volume': target, 'error': True}
            self._act(old, 'os-migrate_volume_completion', wanted)

    def _target(self, volume):
        """The id of the target of a new migration of a volume, None if there is none."""
        known = self._volumes().get(volume)
        if known is None:
            return None
        (other,) = {*tables.HOSTS} - {known['os-vol-host-attr:host']}
        if self._act(volume, 'os-migrate_volume', {'host': other}) != codes.ACCEPTED:
            return None
        for each in self._volumes().values():
            if each['migration_status'] == f'target:{volume}':
                return each['id']
        return None

    def _volumes(self):
        """{id: volume} of all."""
        path = f'/volume/v3/{caller_module.PROJECT}/volumes/detail?all_tenants=1'
        _code, found = self._caller.neighbour('list all volumes', 'GET', path)
        return {each['id']: each for each in found.get('volumes', ())}

    def _act(self, volume, action, wanted):
        """Send an action of a volume; the code of the answer."""
        path = f'/volume/v3/{caller_module.PROJECT}/volumes/{volume}/action'
        return self._caller.neighbour('migrate volume', 'POST', path, {action: wanted})[0]

    def attach_share(self, server, rng):
        body = {'share': {'size': 1, 'share_proto': rng.choice(('NFS', 'CEPHFS'))}}
        code, found = self._caller.neighbour('make share', 'POST', '/share/v2/shares', body)
        if code != 200:
            return
        body = {'share': {'share_id': found['share']['id']}}
        path = _path(server, SHARED)
        self._caller.send('attach share', 'POST', path, body, version=caller_module.WITH_SHARES)

    def detach_share(self, server, rng):
        version = {'version': caller_module.WITH_SHARES}
        path, attached = self._attached(SHARED, server, **version)
        self._detach('share', path, attached, rng, **version)

    def attach_interface(self, server, rng):
        """Attach a new port, which the compute service makes if it is to be normal."""
        port = self.make_port(rng) if self._port_types else None
        wanted = {'port_id': port} if port else {'net_id': self.network}
        body = {'interfaceAttachment': wanted}
        path = _path(server, INTERFACES)
        self._caller.send('attach interface', 'POST', path, body)

    def detach_interface(self, server, rng):
        path, attached = self._attached(INTERFACES, server)
        self._detach('interface', path, attached, rng)

    def _attached(self, kind, server, **options):
        """Return (path, ids) of what a server has of a kind."""
        path = _path(server, kind)
        _code, found = self._caller.send(kind.what, 'GET', path, **options)
        return path, [each[kind.key] for each in found.get(kind.name, ())]

    def _detach(self, what, path, attached, rng, **options):
        if attached:
            one = rng.choice(attached)
            self._caller.send(f'detach {what}', 'DELETE', f'{path}/{one}', **options)


def _path(server, kind):
    return f'/servers/{server["id"]}/{kind.path}'
