"""What clients ask for about the devices of servers: volumes, shares and interfaces."""

import typing

from tests.sim.workload import caller as caller_module

# Of shares: only in plans that name them.
SHARES = ('attach_share', 'detach_share')
DEVICES = ('attach_volume', 'detach_volume', 'swap', 'attach_interface', 'detach_interface')
OPERATIONS = frozenset((*DEVICES, *SHARES))


class Kind(typing.NamedTuple):
    """A kind of devices: the name of the request for its list, the list, and an id in it."""

    what: str
    path: str
    name: str
    key: str


VOLUMES = Kind('list volumes', 'os-volume_attachments', 'volumeAttachments', 'volumeId')
INTERFACES = Kind('list interfaces', 'os-interface', 'interfaceAttachments', 'port_id')
SHARED = Kind('list shares', 'shares', 'shares', 'share_id')


class Devices:
    """Attaches and detaches by a client's `caller`.

    Methods named as operations are given a server, and a stream that chooses what of it.
    network: the id of that in which ports are made
    """

    def __init__(self, caller):
        self._caller, self.network = caller, None

    def make_volume(self):
        """The id of a new volume; None when there is none."""
        body = {'volume': {'size': 1, 'name': self._caller.who}}
        path = f'/volume/v3/{caller_module.PROJECT}/volumes'
        code, found = self._caller.neighbour('make volume', 'POST', path, body)
        return found['volume']['id'] if code == 202 else None

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
        path, attached = self._attached(VOLUMES, server)
        new = self.make_volume() if attached else None
        if new is None:
            return
        old = rng.choice(attached)
        if self._migrating(old, 'migrating') != 202:
            return
        body = {'volumeAttachment': {'volumeId': new}}
        code, _found = self._caller.send('swap', 'PUT', f'{path}/{old}', body)
        if code != 202:
            self._migrating(old, 'none')

    def _migrating(self, volume, status):
        """Have the volume service say so of a volume, as it does before it asks for a swap."""
        path = f'/volume/v3/{caller_module.PROJECT}/volumes/{volume}/action'
        body = {'os-reset_status': {'migration_status': status}}
        return self._caller.neighbour('migrate volume', 'POST', path, body)[0]

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

    def attach_interface(self, server, _rng):
        body = {'interfaceAttachment': {'net_id': self.network}}
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
