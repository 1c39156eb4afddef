"""A cloud of processes over real brokers and databases: what dies comes back.

Every server that was accepted ends ACTIVE, or ERROR with a fault; nothing is left
behind. Kills lose messages: leases, sweeps and audits find what they were for.
"""

import collections
import signal

import testtools

from nova_lite import runtime
from nova_lite.cmd import verify
from tests.fixtures import boots
from tests.fixtures import mariadb
from tests.fixtures import moving
from tests.fixtures import postgresql
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

SERVERS = 16
# Recovery is bounded by the options of the fixture; the rest is for a busy machine.
ACCEPT_S = 120
SETTLE_S = 120
RESTART_S = 180
# To stop takes less than 5 s where nothing else runs.
STOPPED_S = 20
KINDS = (
    'super-conductor.top',
    'scheduler.top',
    'conductor.cell1',
    'compute.cell2',
    'placement.top',
    'simcloud.top',
    'api.top',
)


class CloudCase(testtools.TestCase):
    """Each test runs over one of the database servers, `database_class`: both take minutes."""

    database_class = None
    own_brokers = ()

    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, self.database_class)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(
                self.database_class(), own_brokers=self.own_brokers, profile='default', speed=0.3
            )
        )

    def _after(self, started, count):
        """Wait until so many servers were accepted."""
        self.cloud.wait_for(
            lambda: started.errors or len(started.servers) >= count,
            f'{count} servers to be accepted',
            ACCEPT_S,
        )

    def _await_restart(self, name):
        self.cloud.wait_for(
            lambda: self.cloud.cloud.children[name].starts == 2, f'{name} to start again', RESTART_S
        )
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', RESTART_S)

    def _settled(self, started):
        """The servers, once each is ACTIVE or ERROR with a fault, and no task goes on."""
        wanted = set(started.servers.values())
        self.assertEqual(SERVERS, len(wanted))

        def ended():
            found = [s for s in self.cloud.admin.compute.servers() if s.id in wanted]
            done = len(found) == SERVERS and all(
                server.status in ('ACTIVE', 'ERROR') and not server.task_state for server in found
            )
            return found if done else None

        found = self.cloud.wait_for(ended, 'all servers to settle', SETTLE_S)
        for server in found:
            if server.status == 'ERROR':
                self.assertTrue(self.cloud.admin.compute.get_server(server.id).fault)
            self.addDetail(server.name, testtools.content.text_content(server.status))
        return [_Ended(s.status, s.compute_host or s.hypervisor_hostname) for s in found]

    def _nothing_left(self):
        self.assertEqual(([], []), verify.find(self.cloud.state_dir))
        self.cloud.wait_for(
            lambda: not self.cloud.orphan_queues(), 'every queue to have a consumer', RESTART_S
        )


_Ended = collections.namedtuple('_Ended', 'status host')


class TestKilled(CloudCase):
    database_class = postgresql.PostgreSQL
    own_brokers = ('cell2',)

    def test_killed_daemons_and_a_restarted_broker(self):
        started = boots.Boots(self.cloud.admin, SERVERS)
        for number, name in enumerate(KINDS):
            self._after(started, (number + 1) * SERVERS // (len(KINDS) + 2))
            self.cloud.signal(name, signal.SIGKILL)
            self._await_restart(name)
        self.cloud.brokers['cell2'].restart()
        started.join(ACCEPT_S)
        ended = self._settled(started)
        self.assertEqual({'cell1', 'cell2'}, {server.host[:5] for server in ended if server.host})
        self.assertEqual([2] * len(KINDS), [self.cloud.cloud.children[n].starts for n in KINDS])
        self._nothing_left()


class TestStopped(CloudCase):
    database_class = mariadb.MariaDB

    def test_sigterm_under_boots_and_moves_loses_nothing(self):
        stage = moving.Moving(self.cloud)
        emigrants = [self._emigrant(stage, number) for number in range(len(KINDS))]
        waiting = list(emigrants)
        started = boots.Boots(self.cloud.admin, SERVERS)
        for number, name in enumerate(KINDS):
            self._after(started, (number + 1) * SERVERS // (len(KINDS) + 2))
            stage.act(waiting.pop(), 'migrate', {'host': 'cell2-host1'})
            self.cloud.signal(name, signal.SIGTERM)
            self._await_restart(name)
        started.join(ACCEPT_S)
        ended = self._settled(started)
        self.assertEqual({'ACTIVE': SERVERS}, collections.Counter(s.status for s in ended))
        self._end_moves(stage, emigrants)
        self._nothing_left()
        began = runtime.monotonic()
        self.cloud.stop()
        self.assertLess(runtime.monotonic() - began, STOPPED_S)

    def _emigrant(self, stage, number):
        """A server in cell1; every second one with a port and a volume."""
        boot = stage.boot_full if number % 2 else self.cloud.boot
        return boot(f'emigrant-{number}', availability_zone='nova:cell1-host1')

    def _end_moves(self, stage, emigrants):
        """Each has arrived in cell2; some stay, some go back, some are deleted."""
        deleted, *others = emigrants
        for server in emigrants:
            self.cloud.wait(server, 'VERIFY_RESIZE')
        for number, server in enumerate(others):
            action, status = ('revertResize', 202) if number % 2 else ('confirmResize', 204)
            stage.act(server, action, status=status)
        self.cloud.admin.compute.delete_server(deleted)
        hosts = [self.cloud.wait(server).compute_host for server in others]
        wanted = [f'cell{1 if number % 2 else 2}-host1' for number in range(len(others))]
        self.assertEqual(wanted, hosts)
        self.cloud.wait_gone(deleted)
