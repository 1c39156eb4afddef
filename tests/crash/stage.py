"""Servers that stand where a move may begin, many at a time, and what is seen of them."""

import os

import requests

from nova_lite import exception
from nova_lite.db.api import sagas
from nova_lite.virt.sim import hostpower
from tests.crash import cases
from tests.fixtures import moving

READY_S = 180
# What brings a server nearer to where a move begins. Keys: where it is; what it
# leads to when the way depends on it.
NEARER = {
    cases.CROSS_CELL: {
        ('ACTIVE', True): 'resize',
        ('ACTIVE', False): 'resize',
        ('VERIFY_RESIZE', False): 'revert',
        ('VERIFY_RESIZE', True): 'confirm',
    },
    cases.SAME_CELL: {
        ('ACTIVE', True, 'VERIFY_RESIZE'): 'resize',
        ('ACTIVE', True, 'SHELVED'): 'shelve',
        ('ACTIVE', True, 'SHELVED_OFFLOADED'): 'shelve',
        ('ACTIVE', False): 'live-migrate',
        ('VERIFY_RESIZE', False): 'revert',
        ('VERIFY_RESIZE', True): 'confirm',
        ('SHELVED', True, 'SHELVED_OFFLOADED'): 'shelve-offload',
        ('SHELVED', True): 'unshelve',
        ('SHELVED', False): 'unshelve',
        ('SHELVED_OFFLOADED', None): 'unshelve',
    },
}
ASKED = {
    'confirm': ('confirmResize', None, {'status': 204}),
    'revert': ('revertResize', None, {}),
    'migrate': ('migrate', None, {}),
    'live-migrate': ('os-migrateLive', {'block_migration': 'auto', 'host': None}, {}),
    'shelve': ('shelve', None, {}),
    'shelve-offload': ('shelveOffload', None, {}),
    'unshelve': ('unshelve', None, {}),
    'crash-dump': ('trigger_crash_dump', None, {}),
    'evacuate': ('evacuate', {}, {'status': 200, 'version': '2.94'}),
}


class Stage(moving.Moving):
    """Servers of a cloud that move from `home` to `away`, two hosts.

    cloud: a CrashCloud; table: of cases
    """

    def __init__(self, cloud, table):
        super().__init__(cloud)
        self.table = table
        self.home = 'cell1-host1'
        self.away = 'cell1-host2' if table in cases.IN_A_CELL else 'cell2-host1'
        self.servers = []
        self._failed = False

    def daemon(self, role):
        """The name of the daemon that plays a role in a move."""
        return {
            cases.SUPER: 'super-conductor.top',
            cases.API: 'api.top',
            cases.SOURCE_CONDUCTOR: f'conductor.{self.home.partition("-")[0]}',
            cases.DEST_CONDUCTOR: f'conductor.{self.away.partition("-")[0]}',
            cases.SOURCE_COMPUTE: f'compute.{self.home}',
            cases.DEST_COMPUTE: f'compute.{self.away}',
        }[role]

    # ---- looking ----

    def seen(self):
        """{uuid: what the API tells}; None while the API does not answer."""
        try:
            answer = self.cloud.api('GET', '/servers/detail', version=moving.LATEST)
        except requests.RequestException:
            return None
        if answer.status_code != 200:
            return None
        return {each['id']: each for each in answer.json()['servers']}

    def saga(self, server):
        """The newest saga of a server; None when there is none or the database is away."""
        try:
            found = self.cloud.api_db.read(sagas.every, instance_uuid=server.id)
        except exception.Unavailable:
            return None
        return found[0] if found else None

    def idle(self, server):
        """Return whether no saga moves the server."""
        found = self.saga(server)
        return found is None or found.active_for is None

    # ---- asking ----

    def ask(self, name, server):
        """Ask for a move of the table."""
        if name == 'resize':
            found = self.cloud.admin.compute.get_server(server.id)
            self.resize(server, 'm1.tiny' if found.flavor.name == 'm1.small' else 'm1.small')
        elif name == 'rebuild':
            self.act(server, 'rebuild', {'imageRef': self.other_image(server)})
        elif name == 'delete':
            self.cloud.admin.compute.delete_server(server.id)
        else:
            action, content, options = ASKED[name]
            self.act(server, action, content, **options)

    # ---- preparing ----

    def bring(self, case, count):
        """`count` servers of which the case's move may be asked."""
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', READY_S)
        if self._failed:
            self._come_back()
        if case.name == 'evacuate':
            # On the way back the host must be clear of all that it had.
            for server in list(self.servers):
                self.forget(server)

        def ready():
            self._boot(count)
            servers = self.servers[:count]
            # Before they are seen: what has ended since then would be taken for at rest.
            idle = [server for server in servers if self.idle(server)]
            seen = self.seen()
            if seen is None:
                return None
            standing = [self._stands(case.move, server, seen) for server in idle]
            return servers if standing.count(True) == count else None

        try:
            servers = self.cloud.wait_for(ready, f'{count} servers that may {case.name}', READY_S)
        except AssertionError as error:
            raise AssertionError(f'{error}: {self._told()}') from error
        if case.name == 'evacuate':
            self._fail()
        return servers

    def _told(self):
        """Return the states of the servers."""
        seen = self.seen() or {}
        names = ('status', 'OS-EXT-STS:task_state', 'OS-EXT-SRV-ATTR:host')
        return [[each[name] for name in names] for each in seen.values()]

    def forget(self, server):
        """The server is of no use any more; delete it, if it is there."""
        self.servers = [each for each in self.servers if each.id != server.id]
        self.cloud.admin.compute.delete_server(server.id, ignore_missing=True)

    def _boot(self, count):
        while len(self.servers) < count:
            zone = f'nova:{self.home}'
            self.servers.append(self.boot_full(wait=False, availability_zone=zone))

    def _stands(self, move, server, seen):
        """Return whether it stands where the move begins; otherwise bring it a step nearer."""
        found = seen.get(server.id)
        if found is None or found['status'] == 'BUILD':
            return False
        if found['OS-EXT-STS:task_state']:
            return False
        host = found['OS-EXT-SRV-ATTR:host']
        at = (found['status'], None if host is None else host == self.home)
        if at == move.begins:
            return True
        nearer = NEARER[cases.SAME_CELL if self.table == cases.SAME_CELL else cases.CROSS_CELL]
        name = nearer.get((*at, move.begins[0])) or nearer.get(at)
        if name is None:
            self.forget(server)
        else:
            self.ask(name, server)
        return False

    # ---- a host that fails ----

    def _fail(self):
        """The host at home has no power, and counts as down."""
        self._failed = True
        hostpower.power_off(self._guests, self.home)
        self._force_down(True)

    def _come_back(self):
        hostpower.power_on(self._guests, self.home)
        self.cloud.wait_for(
            lambda: self._force_down(False).status_code == 200, 'the host to be clear', READY_S
        )
        self.cloud.wait_for(self._is_up, 'the host to be up', READY_S)
        self._failed = False

    @property
    def _guests(self):
        return os.path.join(self.cloud.state_dir, 'guests', self.home, 'guests.sqlite')

    def _home_service(self):
        path = f'/os-services?host={self.home}&binary=nova-compute'
        return self.cloud.api('GET', path, version=moving.LATEST).json()['services'][0]

    def _is_up(self):
        return self._home_service()['state'] == 'up'

    def _force_down(self, down):
        return self.cloud.api(
            'PUT',
            f'/os-services/{self._home_service()["id"]}',
            version=moving.LATEST,
            json={'forced_down': down},
        )
