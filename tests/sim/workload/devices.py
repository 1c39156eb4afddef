"""What clients ask for about the devices of servers: volumes, shares and interfaces."""

from tests.sim.workload import caller as caller_module

# Of shares: only in plans that name them.
SHARES = ('attach_share', 'detach_share')
DEVICES = ('attach_volume', 'detach_volume', 'swap', 'attach_interface', 'detach_interface')
OPERATIONS = frozenset((*DEVICES, *SHARES))


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
        path = f'/servers/{server["id"]}/os-volume_attachments'
        self._caller.send('attach volume', 'POST', path, body)

    def detach_volume(self, server, rng):
        path = f'/servers/{server["id"]}/os-volume_attachments'
        _code, found = self._caller.send('list volumes', 'GET', path)
        attached = found.get('volumeAttachments', ())
        if attached:
            volume = rng.choice(attached)['volumeId']
            self._caller.send('detach volume', 'DELETE', f'{path}/{volume}')

    def swap(self, server, rng):
        path = f'/servers/{server["id"]}/os-volume_attachments'
        _code, found = self._caller.send('list volumes', 'GET', path)
        attached = found.get('volumeAttachments', ())
        new = self.make_volume() if attached else None
        if new is None:
            return
        old = rng.choice(attached)['volumeId']
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
        path = f'/servers/{server["id"]}/shares'
        self._caller.send('attach share', 'POST', path, body, version=caller_module.WITH_SHARES)

    def detach_share(self, server, rng):
        path, version = f'/servers/{server["id"]}/shares', caller_module.WITH_SHARES
        _code, found = self._caller.send('list shares', 'GET', path, version=version)
        attached = found.get('shares', ())
        if attached:
            share = rng.choice(attached)['share_id']
            self._caller.send('detach share', 'DELETE', f'{path}/{share}', version=version)

    def attach_interface(self, server, _rng):
        body = {'interfaceAttachment': {'net_id': self.network}}
        path = f'/servers/{server["id"]}/os-interface'
        self._caller.send('attach interface', 'POST', path, body)

    def detach_interface(self, server, rng):
        path = f'/servers/{server["id"]}/os-interface'
        _code, found = self._caller.send('list interfaces', 'GET', path)
        attached = found.get('interfaceAttachments', ())
        if attached:
            port = rng.choice(attached)['port_id']
            self._caller.send('detach interface', 'DELETE', f'{path}/{port}')
