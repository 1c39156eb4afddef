"""A cloud of processes over real brokers and databases: what dies comes back.

Every server that was accepted ends ACTIVE, or ERROR with a fault; nothing is left
behind. Kills lose messages: leases, sweeps and audits find what they were for.
"""

import collections
import json
import signal

import requests
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import verification
from tests.fixtures import boots
from tests.fixtures import moving
from tests.fixtures import postgresql
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample

# Recovery is bounded by the options of the fixture; the rest is for a busy machine.
ACCEPT_S = 120
SETTLE_S = 120
RESTART_S = 180
# To stop takes less than 5 s where nothing else runs.
STOPPED_S = 20
TASK = 'OS-EXT-STS:task_state'
HOST, NODE = 'OS-EXT-SRV-ATTR:host', 'OS-EXT-SRV-ATTR:hypervisor_hostname'
KINDS = (
    'super-conductor.top',
    'scheduler.top',
    'conductor.cell1',
    'compute.cell2',
    'placement.top',
    'simcloud.top',
    'metadata.top',
    'api.top',
)
# Of each half; some are accepted after the last daemon is back.
SERVERS = len(KINDS) + 2


@sample.in_turns(3, first=1)
class TestDaemons(testtools.TestCase):
    """Each kind of daemon is stopped, and then killed, under boots and moves.

    Over PostgreSQL; tests/nightly has MariaDB.
    """

    database_class = postgresql.PostgreSQL
    # test_outages has a broker that goes and comes back.
    own_brokers = ()

    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, self.database_class)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(
                self.database_class(), own_brokers=self.own_brokers, profile='default', speed=0.3
            )
        )
        self.stage = moving.Moving(self.cloud)

    def test_sigterm_loses_nothing_and_what_is_killed_comes_back(self):
        self._kill_each(self._stop_each())
        self._nothing_left()
        self._page_shows_all()
        began = runtime.monotonic()
        self.cloud.stop()
        self.assertLess(runtime.monotonic() - began, STOPPED_S)

    def _stop_each(self):
        """Return the servers that were moved, and where each is."""
        emigrants = [self._emigrant(number) for number in range(len(KINDS))]
        waiting = list(emigrants)
        started = boots.Boots(self.cloud.admin, SERVERS, prefix='stopped')
        for number, name in enumerate(KINDS):
            self._after(started, number + 1)
            self.stage.act(waiting.pop(), 'migrate', {'host': 'cell2-host1'})
            self.cloud.signal(name, signal.SIGTERM)
            self._await_restart(name, starts=2)
        started.join(ACCEPT_S)
        ended = self._settled(started)
        self.assertEqual({'ACTIVE': SERVERS}, collections.Counter(s.status for s in ended))
        return self._end_moves(emigrants)

    def _kill_each(self, movers):
        """movers: [(server, its host)]"""
        waiting = list(movers)
        started = boots.Boots(self.cloud.admin, SERVERS, prefix='killed')
        for number, name in enumerate(KINDS):
            self._after(started, number + 1)
            if waiting:
                server, host = waiting.pop()
                dest = 'cell1-host1' if host.startswith('cell2') else 'cell2-host1'
                self.stage.act(server, 'migrate', {'host': dest})
            self.cloud.signal(name, signal.SIGKILL)
            self._await_restart(name, starts=3)
        for name in self.own_brokers:
            self.cloud.brokers[name].restart()
        started.join(ACCEPT_S)
        ended = self._settled(started)
        self.assertEqual({'cell1', 'cell2'}, {server.host[:5] for server in ended if server.host})
        self._moves_ended([server for server, _host in movers])
        self.assertEqual([3] * len(KINDS), [self.cloud.cloud.children[n].starts for n in KINDS])

    def _after(self, started, count):
        """Wait until so many servers were accepted."""
        self.cloud.wait_for(
            lambda: started.errors or len(started.servers) >= count,
            f'{count} servers to be accepted',
            ACCEPT_S,
        )

    def _await_restart(self, name, starts):
        self.cloud.wait_for(
            lambda: self.cloud.cloud.children[name].starts == starts,
            f'{name} to start again',
            RESTART_S,
        )
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', RESTART_S)

    def _settled(self, started):
        """The servers, once each is ACTIVE or ERROR with a fault, and no task goes on."""
        wanted = set(started.servers.values())
        self.assertEqual(SERVERS, len(wanted))

        def ended(servers):
            found = [server for server in servers if server['id'] in wanted]
            done = len(found) == SERVERS and all(
                server['status'] in ('ACTIVE', 'ERROR') and not server[TASK] for server in found
            )
            return found if done else None

        found = self.cloud.wait_for_servers(ended, 'all servers to settle', SETTLE_S)
        for server in found:
            if server['status'] == 'ERROR':
                self.assertTrue(server.get('fault'))
            self.addDetail(server['name'], testtools.content.text_content(server['status']))
        return [_Ended(server['status'], server[HOST] or server[NODE]) for server in found]

    def _nothing_left(self):
        verdict = verification.find(self.cloud.state_dir)
        self.assertEqual(([], []), (verdict.findings, verdict.unsettled))
        self.cloud.wait_for(
            lambda: not self.cloud.orphan_queues(), 'every queue to have a consumer', RESTART_S
        )

    def _page_shows_all(self):
        """The process that runs the daemons serves the live page."""
        url = self.cloud.cloud.places.page_url
        with requests.get(f'{url}page/events', stream=True, timeout=ACCEPT_S) as answer:
            text = next(each for each in answer.iter_lines() if each.startswith(b'data: '))
        found = json.loads(text.removeprefix(b'data: '))
        self.assertIsNone(found.get('problem'))
        self.assertEqual({'up'}, {host['state'] for host in found['hosts']})
        versions = requests.get(f'{url}compute/', timeout=ACCEPT_S).json()
        self.assertIn('versions', versions)

    def _emigrant(self, number):
        """A server in cell1; every second one with a port and a volume."""
        boot = self.stage.boot_full if number % 2 else self.cloud.boot
        return boot(f'emigrant-{number}', availability_zone='nova:cell1-host1')

    def _end_moves(self, emigrants):
        """Each has arrived in cell2; some stay, some go back, some are deleted."""
        deleted, *others = emigrants
        for server in emigrants:
            self.cloud.wait(server, 'VERIFY_RESIZE')
        for number, server in enumerate(others):
            action, status = ('revertResize', 202) if number % 2 else ('confirmResize', 204)
            self.stage.act(server, action, status=status)
        self.cloud.admin.compute.delete_server(deleted)
        hosts = [self.cloud.wait(server).compute_host for server in others]
        wanted = [f'cell{1 if number % 2 else 2}-host1' for number in range(len(others))]
        self.assertEqual(wanted, hosts)
        self.cloud.wait_gone(deleted)
        return list(zip(others, hosts, strict=True))

    def _moves_ended(self, movers):
        """Each is done or undone."""

        wanted = {server.id for server in movers}

        def ended(servers):
            found = [server for server in servers if server['id'] in wanted]
            return len(found) == len(wanted) and all(
                server['status'] in ('ACTIVE', 'VERIFY_RESIZE') and not server[TASK]
                for server in found
            )

        self.cloud.wait_for_servers(ended, 'the moves to end', SETTLE_S)


_Ended = collections.namedtuple('_Ended', 'status host')
