"""Racing clients: each chooses servers and operations by its own seeded generator."""

import typing

from nova_lite import runtime
from nova_lite.simcloud.volume import tables
from tests.chaos import caller

PAUSE_S = 0.3
# How many servers there may be before clients make no more.
MOST_SERVERS = 24
# Chances: to delete, and to ask for something that the server's status does not allow.
DELETES, SENSELESS = 0.06, 0.08
FLAVORS = ('m1.tiny', 'm1.small')
MOVES = ('resize', 'migrate', 'live_migrate', 'cross')
DEVICES = (
    'attach_volume',
    'detach_volume',
    'swap_volume',
    'attach_interface',
    'detach_interface',
)
POWER = ('stop', 'reboot_soft', 'reboot_hard', 'pause', 'suspend', 'rescue', 'shelve')
COPIES = ('snapshot', 'backup')
RECORDS = ('rename', 'metadata', 'lock', 'unlock')
# What may be asked of a server, by its status.
ALLOWED = {
    'ACTIVE': (*POWER, *MOVES, *MOVES, *DEVICES, *COPIES, *RECORDS),
    'MIGRATING': ('abort', 'force_complete'),
    'SHUTOFF': ('start', 'start', 'resize', 'migrate', 'shelve', 'attach_volume'),
    'PAUSED': ('unpause',),
    'SUSPENDED': ('resume',),
    'RESCUE': ('unrescue',),
    'VERIFY_RESIZE': ('confirm', 'confirm', 'revert', 'revert', 'stop'),
    'SHELVED': ('unshelve', 'offload'),
    'SHELVED_OFFLOADED': ('unshelve', 'unshelve', 'attach_volume'),
    'ERROR': ('delete', 'reboot_hard'),
}
SIMPLE = {
    'stop': 'os-stop', 'start': 'os-start', 'pause': 'pause', 'unpause': 'unpause',
    'suspend': 'suspend', 'resume': 'resume', 'rescue': 'rescue', 'unrescue': 'unrescue',
    'shelve': 'shelve', 'offload': 'shelveOffload', 'unshelve': 'unshelve',
    'confirm': 'confirmResize', 'revert': 'revertResize', 'migrate': 'migrate',
    'lock': 'lock', 'unlock': 'unlock',
}  # fmt: skip


class World(typing.NamedTuple):
    """The state that all clients share. hosts, flavors: names; groups: ids of server groups"""

    hosts: list
    groups: list
    flavors: tuple = FLAVORS


class Client:
    """One racing client, to be run in a thread. stop: an Event; world: a World"""

    def __init__(self, cloud, ledger, number, *, seed, stop, world):
        self._rng = runtime.seeded_random(f'{seed}/client-{number}')
        self._name, self._stop, self._world = f'client-{number}', stop, world
        self._ledger, self._made = ledger, 0
        self._caller = caller.Caller(cloud, ledger, self._name)
        self._image = cloud.image_id('cirros')
        self._flavors = [cloud.flavor_id(name) for name in world.flavors]
        self._network = cloud.network_id()

    def run(self):
        """Do one thing after the other until the event is set."""
        try:
            while not runtime.wait(self._stop, self._rng.uniform(0, PAUSE_S)):
                self._once()
        except Exception as error:
            # Its thread ends with it, so that the others alone would go on unseen.
            self._ledger.violation('defect of the test', f'{self._name}: {error!r}')
            raise

    def _once(self):
        servers = self._ledger.standing()
        if len(servers) < 2 or (len(servers) < MOST_SERVERS and self._rng.random() < 0.15):
            self._create()
            return
        uuid = self._rng.choice(sorted(servers))
        code, found = self._caller.send('show', 'GET', f'/servers/{uuid}')
        if code != 200:
            if code == 404 and uuid in self._ledger.standing():
                self._ledger.violation('lost server', f'{uuid}: GET answered 404')
            return
        server = found['server']
        names = ALLOWED.get(server['status'], ())
        if self._rng.random() < SENSELESS or not names:
            names = sorted({*sum(ALLOWED.values(), ())} - {'delete'})
        name = 'delete' if self._rng.random() < DELETES else self._rng.choice(names)
        operation = getattr(self, f'_do_{name}', None)
        if operation is not None:
            operation(server)
        else:
            self._act(server, name, SIMPLE[name])

    def _act(self, server, what, action, content=None):
        path = f'/servers/{server["id"]}/action'
        self._caller.send(what, 'POST', path, {action: content})

    # ---- servers come and go ----

    def _create(self):
        self._made += 1
        server = {
            'name': f'{self._name}-{self._made}',
            'imageRef': self._image,
            'flavorRef': self._rng.choice(self._flavors),
            'networks': self._rng.choice(['none', [{'uuid': self._network}]]),
        }
        many = self._rng.random() < 0.15
        if many:
            server |= {'min_count': 2, 'max_count': 2, 'return_reservation_id': True}
        elif self._rng.random() < 0.3:
            server['block_device_mapping_v2'] = [self._root()]
        body = {'server': server}
        if self._rng.random() < 0.2:
            body['os:scheduler_hints'] = {'group': self._rng.choice(self._world.groups)}
        code, found = self._caller.send('create', 'POST', '/servers', body)
        if code != 202:
            # What became of a request that was not answered is for the lists to say.
            return
        if many:
            path = f'/servers?reservation_id={found["reservation_id"]}'
            code, found = self._caller.send('list', 'GET', path)
            for each in found.get('servers', ()):
                self._ledger.accepted(each['id'], each['name'])
        else:
            self._ledger.accepted(found['server']['id'], server['name'])

    def _root(self):
        """Return a root disk that is a volume: made with the server, or before."""
        root = {'boot_index': 0, 'destination_type': 'volume', 'delete_on_termination': True}
        volume = self._volume(imageRef=self._image) if self._rng.random() < 0.5 else None
        if volume is not None:
            return {**root, 'source_type': 'volume', 'uuid': volume}
        return {**root, 'source_type': 'image', 'uuid': self._image, 'volume_size': 1}

    def _do_delete(self, server):
        self._ledger.ending(server['id'])
        code, _found = self._caller.send('delete', 'DELETE', f'/servers/{server["id"]}')
        if code in (204, 404):
            self._ledger.gone(server['id'])

    # ---- actions with a body ----

    def _do_resize(self, server):
        flavor = {'flavorRef': self._rng.choice(self._flavors)}
        self._act(server, 'resize', 'resize', flavor)

    def _do_cross(self, server):
        self._act(
            server, 'migrate to host', 'migrate', {'host': self._rng.choice(self._world.hosts)}
        )

    def _do_live_migrate(self, server):
        content = {'host': None, 'block_migration': 'auto'}
        self._act(server, 'live-migrate', 'os-migrateLive', content)

    def _do_abort(self, server):
        for path in self._live(server):
            self._caller.send('abort live migration', 'DELETE', path)

    def _do_force_complete(self, server):
        for path in self._live(server):
            body = {'force_complete': None}
            self._caller.send('force live migration', 'POST', f'{path}/action', body)

    def _live(self, server):
        """Return the paths of the server's live migrations that run."""
        path = f'/servers/{server["id"]}/migrations'
        _code, found = self._caller.send('list live migrations', 'GET', path)
        return [f'{path}/{each["id"]}' for each in found.get('migrations', ())]

    def _do_reboot_soft(self, server):
        self._act(server, 'reboot', 'reboot', {'type': 'SOFT'})

    def _do_reboot_hard(self, server):
        self._act(server, 'reboot', 'reboot', {'type': 'HARD'})

    def _do_snapshot(self, server):
        self._act(server, 'snapshot', 'createImage', {'name': f'{self._name}-image'})

    def _do_backup(self, server):
        content = {'name': f'{self._name}-backup', 'backup_type': 'daily', 'rotation': 1}
        self._act(server, 'backup', 'createBackup', content)

    def _do_rename(self, server):
        body = {'server': {'description': f'by {self._name}'}}
        self._caller.send('update', 'PUT', f'/servers/{server["id"]}', body)

    def _do_metadata(self, server):
        path = f'/servers/{server["id"]}/metadata'
        self._caller.send('metadata', 'POST', path, {'metadata': {self._name: 'yes'}})

    # ---- devices ----

    def _volume(self, **more):
        """Make a volume and return its id; None when it is refused."""
        body = {'volume': {'size': 1, 'name': self._name, **more}}
        code, found = self._caller.volume('make volume', 'POST', '/volumes', body)
        return found['volume']['id'] if code == 202 else None

    def _do_attach_volume(self, server):
        volume = self._volume()
        if volume is not None:
            path = f'/servers/{server["id"]}/os-volume_attachments'
            body = {'volumeAttachment': {'volumeId': volume}}
            self._caller.send('attach volume', 'POST', path, body)

    def _do_detach_volume(self, server):
        path = self._attached(server)
        if path is not None:
            self._caller.send('detach volume', 'DELETE', path)

    def _do_swap_volume(self, server):
        """Ask the volume service to move a volume; it requests the swap."""
        path = self._attached(server)
        if path is None:
            return
        volume = f'/volumes/{path.rpartition("/")[2]}'
        code, found = self._caller.volume('show volume', 'GET', volume)
        if code == 200:
            (other,) = {*tables.HOSTS} - {found['volume']['os-vol-host-attr:host']}
            action = {'os-migrate_volume': {'host': other}}
            self._caller.volume('move volume', 'POST', f'{volume}/action', action)

    def _attached(self, server):
        """Return the path of one of the server's attached volumes, or None."""
        path = f'/servers/{server["id"]}/os-volume_attachments'
        _code, found = self._caller.send('list volumes', 'GET', path)
        attached = found.get('volumeAttachments', ())
        return f'{path}/{self._rng.choice(attached)["volumeId"]}' if attached else None

    def _do_attach_interface(self, server):
        body = {'interfaceAttachment': {'net_id': self._network}}
        path = f'/servers/{server["id"]}/os-interface'
        self._caller.send('attach interface', 'POST', path, body)

    def _do_detach_interface(self, server):
        path = f'/servers/{server["id"]}/os-interface'
        _code, found = self._caller.send('list interfaces', 'GET', path)
        attached = found.get('interfaceAttachments', ())
        if attached:
            port = self._rng.choice(attached)['port_id']
            self._caller.send('detach interface', 'DELETE', f'{path}/{port}')
