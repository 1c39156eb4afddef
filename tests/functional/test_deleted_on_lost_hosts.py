"""Servers in each state are deleted while their host is up, not heard, or down.

Each deletion is answered with 204 and ends. When the host is back, it has none of the guests, and
nothing of the servers is left. One case is run; `tox -e faults` runs all.
"""

import contextlib

import testscenarios

from nova_lite import runtime
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
HOST = 'cell1-host1'
# {status: (action that leads to it, its content, code of the answer)}
STATES = {
    'ACTIVE': None,
    'SHUTOFF': ('os-stop', None, 202),
    'PAUSED': ('pause', None, 202),
    'RESCUE': ('rescue', None, 200),
    'SHELVED': ('shelve', None, 202),
    'ERROR': ('os-resetState', {'state': 'error'}, 202),
}
# Seconds until a host that does not report is down, and the audit has deleted its servers.
AUDITED_S = 300
# Longer than service_down_time.
SILENT_S = 100

SCENARIOS = [
    ('up', {'lost': 'nothing', 'at_once': False, 'by_itself': True}),
    ('forced down', {'lost': 'forced_down', 'at_once': True, 'by_itself': True}),
    ('off', {'lost': 'off', 'at_once': False, 'by_itself': True}),
    ('off and silent', {'lost': 'silent', 'at_once': True, 'by_itself': True}),
    ('off and forced down', {'lost': 'failed', 'at_once': True, 'by_itself': True}),
    ('not heard', {'lost': 'unheard', 'at_once': False, 'by_itself': False}),
]


class DeletedOnLostHostsTest(testscenarios.WithScenarios, own_cloud.OwnCloudTest):
    """lost: what happens to the host

    at_once: whether the servers are deleted without it; by_itself: whether they are while it lasts
    """

    settings = own_cloud.FOUR_HOSTS
    scenarios = saga_faults.sample(SCENARIOS, every=len(SCENARIOS))

    def test_deletion(self):
        servers = [self.boot(status) for status in STATES]
        with getattr(self, self.lost)():
            for server in servers:
                self.cloud.admin.compute.delete_server(server)
            if self.at_once:
                self.assertEqual([], self.left(servers))
            if self.by_itself:
                self.wait_gone(servers)
            else:
                self.assertEqual({'deleting'}, {server['task'] for server in self.left(servers)})
        self.wait_gone(servers)
        self.moving.manager.audit()
        driver = self.moving.manager.site.driver
        self.cloud.wait_for(lambda: not driver.list_guests(HOST), 'the host to be clear', AUDITED_S)
        self.assertEqual([], [*self.cloud.admin.network.ports(device_owner='compute:nova')])
        self.assertEqual([], [*self.cloud.admin.block_storage.volumes()])

    def boot(self, status):
        """A server on the host, with a port and a volume."""
        server = self.moving.boot_full(status, availability_zone=f'nova:{HOST}')
        if STATES[status] is not None:
            action, content, code = STATES[status]
            self.moving.act(server, action, content, status=code)
            self.cloud.wait_status(server, status)
        return server

    def left(self, servers):
        """Return {'id', 'task'} of the servers that exist."""
        wanted = {server.id for server in servers}
        found = self.cloud.admin.compute.servers(all_projects=True)
        return [{'id': each.id, 'task': each.task_state} for each in found if each.id in wanted]

    def wait_gone(self, servers):
        self.cloud.wait_for(lambda: not self.left(servers), 'the deletions', AUDITED_S, most_s=1)

    # ---- what happens to the host ----

    @contextlib.contextmanager
    def nothing(self):
        yield

    def forced_down(self):
        """It runs its guests, and an administrator has declared it down."""
        return self.moving.forced_down(HOST)

    @contextlib.contextmanager
    def off(self):
        """It has lost its power a moment ago."""
        self.moving.power_off(HOST)
        yield
        self.moving.power_on(HOST)

    @contextlib.contextmanager
    def silent(self):
        """It has lost its power, and counts as down."""
        with self.off():
            self.moving.wait_down(HOST)
            yield

    @contextlib.contextmanager
    def failed(self):
        self.moving.fail(HOST)
        yield
        self.moving.come_back(HOST)

    @contextlib.contextmanager
    def unheard(self):
        """It may be well: the bus of its cell does not answer."""
        self.cloud.cloud.faults.switch_bus('frozen', 'cell1')
        runtime.sleep(SILENT_S)
        yield
        self.cloud.cloud.faults.switch_bus('healed', 'cell1')
