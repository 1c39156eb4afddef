"""Brokers and databases that are away or silent: daemons wait, and go on by themselves."""

from oslo_messaging._drivers import impl_rabbit
import requests
import testtools
from testtools import content

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import lifetime
from nova_lite.db.api import sagas
from nova_lite.lab.launcher import layout
from nova_lite.saga import journal
from tests.fixtures import boots
from tests.fixtures import mariadb
from tests.fixtures import moving
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample

# How often daemons are asked how they are: the answers cost them time.
ASK_S = 1
# How long after its return a daemon may go on without: on two quiet cores, and here.
RECONNECT_S, BACK_S = 10, 180
SAID_S = 180
ACCEPT_S = SETTLE_S = 180
DATABASE_USERS = ('super-conductor.top', 'conductor.cell1', 'scheduler.top', 'api.top')
BOOTS, BEFORE, MOVES = 12, 4, 4
# How long brokers are frozen, which is longer than they may take to confirm a message, and how
# long an action and a list of servers may take together meanwhile.
SILENT_S, ANSWER_S = 4, 2
TASK = 'OS-EXT-STS:task_state'
SETTLED = ('ACTIVE', 'ERROR', 'VERIFY_RESIZE')
# A move asks what is away for about as long as the outage lasts; then it is undone, and
# says so with one of these.
AWAY = {
    cls.__name__
    for cls in (exception.Unavailable, exception.MessagingTimeout, exception.CellTimeout)
}


@sample.in_turns(3)
class TestOutages(testtools.TestCase):
    """Seconds without, while servers are made and moved; no daemon is started again.

    Then some are, and find nothing to connect to.
    """

    # Longer than the calls that wait for an answer; tests/nightly has a minute.
    outage_s = 15
    # The top and cell1 share the broker that fails; that of cell2 does not.
    settings = {
        'profile': 'default',
        'speed': 0.3,
        'options': {'api': {'workers': 2}},
        'own_brokers': ((layout.TOP, 'cell1'),),
    }

    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(process_cloud.ProcessCloud(mariadb.MariaDB(), **self.settings))
        self.stage = moving.Moving(self.cloud)
        self.before = {name: child.starts for name, child in self.cloud.cloud.children.items()}
        self.assertEqual({1}, set(self.before.values()))
        self.accepted = {}

    def _says(self, name, text, since=0):
        self.cloud.wait_for(
            lambda: text in self.cloud.log(name)[since:],
            f'{name} to say {text}',
            SAID_S,
        )

    def _boot_everywhere(self, name):
        for cell in self.cloud.cloud.places.cell_names:
            self.cloud.wait_for(lambda cell=cell: self._is_up(cell), f'{cell} to be up', BACK_S)
            self.cloud.boot(f'{name} {cell}', host=f'{cell}-host1')

    def _is_up(self, cell):
        return all(
            service.state == 'up'
            for service in self.cloud.admin.compute.services(binary='nova-compute')
            if service.host.startswith(cell)
        )

    def test_brokers_and_then_the_database(self):
        self._look_often_enough()
        movers = [
            self.cloud.boot(f'mover-{number}', availability_zone='nova:cell1-host1')
            for number in range(MOVES)
        ]
        brokers = {self.cloud.brokers[name] for name in (layout.TOP, 'cell1')}
        self._silence(brokers, movers)
        self._outage(
            'broker',
            brokers,
            lambda: [self._act(server, 'migrate', {'host': 'cell2-host1'}) for server in movers],
            {*DATABASE_USERS, 'api.top.2', 'compute.cell1'},
        )
        self._settled()
        moved = self._done(movers, 'VERIFY_RESIZE', undone='ACTIVE')
        self._outage(
            'database',
            [self.cloud.database],
            lambda: [self._act(server, 'revertResize') for server in moved],
            {*DATABASE_USERS, 'api.top.2', 'conductor.cell2', 'metadata.top', 'placement.top'},
        )
        self._settled()
        self._done(moved, 'ACTIVE', undone='VERIFY_RESIZE')
        self.cloud.wait_for(lambda: not self.cloud.orphan_queues(), 'no orphan queue', BACK_S)
        self.assertEqual([], self.cloud.findings())
        self.assertEqual(
            self.before, {name: child.starts for name, child in self.cloud.cloud.children.items()}
        )
        self._start_without_a_broker()
        self._start_without_a_database()
        self.assertEqual([], self.cloud.findings())

    # ---- steps ----

    def _start_without_a_broker(self):
        broker = self.cloud.brokers['cell1']
        broker.withdraw()
        for name in ('conductor.cell1', 'compute.cell1'):
            since = len(self.cloud.log(name))
            self.cloud.signal(name)
            self._says(name, 'Connection refused', since=since)
        broker.come_back()
        self._boot_everywhere('without a broker')

    def _start_without_a_database(self):
        self.cloud.database.stop()
        since = {name: len(self.cloud.log(name)) for name in DATABASE_USERS}
        for name in (*DATABASE_USERS, 'placement.top'):
            self.cloud.signal(name)
        for name in DATABASE_USERS[:2]:
            self._says(name, 'is waiting: The database is not available', since=since[name])
        self.cloud.database.start()
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', BACK_S)
        self._boot_everywhere('without a database')

    def _silence(self, brokers, movers):
        """Freeze brokers, and reboot servers: no request waits, and each server is rebooted.

        tests/nightly freezes one for longer than hosts may be silent, under all operations.
        """
        took_s = []
        for broker in brokers:
            broker.pause()
            self.addCleanup(broker.resume)
        for server in movers:
            began = runtime.monotonic()
            self.stage.act(server, 'reboot', {'type': 'HARD'})
            answer = self.cloud.api('GET', '/servers')
            self.assertEqual(200, answer.status_code, answer.text)
            took_s.append(runtime.monotonic() - began)
        runtime.wait(runtime.Event(), SILENT_S)
        for broker in brokers:
            broker.resume()
        for server in movers:
            self.cloud.wait_status(server, 'ACTIVE')
        self.addDetail('silence', content.text_content(f'{took_s}'))
        self.assertLess(max(took_s), ANSWER_S)

    def _look_often_enough(self):
        """The options in force let no daemon pause longer between two attempts."""
        for name in ('control', 'conductor-cell1', 'compute-cell1'):
            path = self.cloud.cloud.places.path('etc', f'{name}.conf')
            conf = conf_module.make_conf(files=[path])
            conf.register_opts(impl_rabbit.rabbit_opts, group='oslo_messaging_rabbit')
            self.assertLess(conf.oslo_messaging_rabbit.rabbit_interval_max, RECONNECT_S)
        self.assertLess(lifetime.WAIT_S, RECONNECT_S)

    def _act(self, server, action, body=None):
        self.stage.act(server, action, body)
        self.accepted[server.name] = server.id

    def _outage(self, what, away, move, blind):
        """Take servers away for a while, amid boots and what `move` begins.

        blind: the daemons that must say that they are not well
        """
        started = boots.Boots(self.cloud.admin, BOOTS, prefix=what)
        self.cloud.wait_for(
            lambda: started.errors or len(started.servers) >= BEFORE, 'boots to begin', ACCEPT_S
        )
        move()
        for server in away:
            server.stop()
        ends = runtime.monotonic() + self.outage_s
        self._ask(lambda unwell: blind <= unwell, f'{blind} to say so')
        self.assertEqual(what != 'database', self._balanced())
        runtime.wait(runtime.Event(), max(0, ends - runtime.monotonic()))
        servers.start_all(*away)
        began = runtime.monotonic()
        self._ask(lambda unwell: not unwell, 'all to be well')
        took = f'{runtime.monotonic() - began:.1f} s after its return all were well\n'
        self.addDetail(f'{what}.txt', content.text_content(took))
        self.assertTrue(self._balanced())
        started.join(ACCEPT_S)
        self.accepted |= started.servers

    def _ask(self, expected, what):
        """Wait until what is said of the daemons is as expected."""
        ends = runtime.monotonic() + SAID_S
        while not expected(unwell := self._unwell()):
            self.assertTrue(runtime.monotonic() < ends, f'waited for {what}: {unwell}')
            runtime.wait(runtime.Event(), ASK_S)

    def _unwell(self):
        """Names of the daemons that say they are not well."""

        def unwell(url):
            return requests.get(f'{url}/healthcheck', timeout=60).status_code != 200

        urls = self.cloud.cloud.health_urls
        # Each may take seconds to know.
        with runtime.executor(len(urls)) as pool:
            answers = list(pool.map(unwell, urls.values()))
        return {name for name, answer in zip(urls, answers, strict=True) if answer}

    def _balanced(self):
        """Return whether a load balancer would go on to send requests to the API."""
        answer = requests.get(f'{self.cloud.cloud.url}/compute/healthcheck', timeout=60)
        self.assertIn(answer.status_code, (200, 503))
        return answer.json()['healthy']

    def _settled(self):
        """Wait until nothing goes on with any server; none has failed."""

        def ended(found):
            settled = [each for each in found if each['status'] in SETTLED and not each[TASK]]
            return found if len(settled) == len(found) else None

        found = self.cloud.wait_for_servers(ended, 'all servers to settle', SETTLE_S)
        self.assertLessEqual(set(self.accepted.values()), {server['id'] for server in found})
        failed = {each['name']: each.get('fault') for each in found if each['status'] == 'ERROR'}
        # What was accepted waits for whatever is away; no limit of a server is reached.
        self.assertEqual({}, failed)

    def _done(self, movers, status, *, undone):
        """Return the servers whose move was done; only they have the status.

        The others have the status `undone`; their moves say that something was away.
        """
        rows = self._sagas(movers)
        statuses = {each.id: each.status for each in self.cloud.admin.compute.servers()}
        done = [each for each in movers if journal.outcome(rows[each.id]) == journal.DONE]
        found = {each.name: (statuses[each.id], _error(rows[each.id])) for each in movers}
        self.addDetail(f'moves to {status}', content.text_content(f'{found}\n'))
        wanted = {
            each.name: (status, None) if each in done else (undone, found[each.name][1])
            for each in movers
        }
        self.assertEqual(wanted, found)
        self.assertLessEqual({error for _status, error in found.values()}, {None, *AWAY})
        return done

    def _sagas(self, movers):
        """{server id: its newest saga}, once they have ended for their servers."""
        api_db = self.cloud.open_api_database()
        self.addCleanup(api_db.dispose)

        def ended():
            found = {each.id: api_db.read(sagas.every, instance_uuid=each.id)[0] for each in movers}
            return found if all(map(journal.outcome, found.values())) else None

        return self.cloud.wait_for(ended, 'the moves to end', SETTLE_S)


def _error(saga):
    """Return the class of the error for which a saga was undone; None if it was done."""
    return None if journal.outcome(saga) == journal.DONE else saga.error['type']
