"""Daemons that stop in the middle: nothing accepted is lost, and nothing is left over."""

import testtools

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.daemons import compute
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.db.api import build_requests
from nova_lite.lab import memory_broker
from nova_lite.rpc.methods import super_conductor as super_rpc
from tests.fixtures import cloud as cloud_fixture
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 2}}]\n"
SWEEPING = {'conductor': {'build_lease_s': 1, 'sweep_interval_s': 0.2}}


class InterruptionTest(testtools.TestCase):
    settings = {'cells': 2, 'hosts': 2, 'options': SWEEPING}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def boot_many(self, count):
        """Ask for servers, one request for each; returns them as accepted."""
        return [self.cloud.boot(f'server-{number}', wait=False) for number in range(count)]

    def wait_all(self, servers, status='ACTIVE'):
        """Wait for each; returns them as they are then."""
        return [self.cloud.wait(server, status) for server in servers]

    def where(self):
        """{server id: (name, status, host)} as a list shows them."""
        return {
            each.id: (each.name, each.status, each.compute_host)
            for each in self.cloud.admin.compute.servers(all_projects=True)
        }


@sample.in_turns(2)
class RestartTest(InterruptionTest):
    def test_servers_and_guests_are_as_before(self):
        network = self.cloud.admin.network.find_network('private')
        running = [
            self.cloud.boot(f'running-{number}', networks=[{'uuid': network.id}])
            for number in range(2)
        ]
        stopped = self.cloud.boot('stopped', connection=self.cloud.demo)
        self.cloud.demo.compute.stop_server(stopped)
        self.cloud.wait(stopped, 'SHUTOFF')
        before = self.where()
        guests = self.cloud.guests()
        self.assertEqual({each.id for each in running}, set(guests))
        self.cloud.restart()
        self.assertEqual(before, self.where())
        self.assertEqual(guests, self.cloud.guests())
        self.cloud.demo.compute.start_server(stopped)
        self.cloud.wait(stopped)
        self.assertEqual(3, len(self.cloud.guests()))

    def test_builds_go_on(self):
        self.cloud.behave(SLOW)
        servers = self.boot_many(4)
        self.cloud.wait(servers[-1], 'BUILD', task='spawning')
        self.cloud.restart()
        self.wait_all(servers)
        self.assertEqual({each.id for each in servers}, set(self.cloud.guests()))

    def test_who_asks_the_scheduler_stops_before_it(self):
        """Else a build under way waits a minute for an answer that does not come."""
        daemons, asked, seen = self.cloud.cloud.daemons, runtime.Event(), []
        daemons['scheduler'].manager.stopping = asked.set
        daemons['super-conductor']._closing.append(lambda: seen.append(runtime.wait(asked, 1)))
        self.cloud.restart()
        self.assertEqual([False], seen)
        self.assertTrue(asked.is_set())

    def test_a_deletion_goes_on(self):
        server = self.cloud.boot()
        self.cloud.behave("extends: instant\nhosts: [{match: '*', delays: {destroy: 1}}]\n")
        self.cloud.admin.compute.delete_server(server)
        self.cloud.restart()
        self.cloud.wait_gone(server)
        self.assertEqual({}, self.cloud.guests())


@sample.in_turns(2, first=1)
class ComputeTest(InterruptionTest):
    def test_stopped_and_started_amid_boots(self):
        self.cloud.behave(SLOW)
        servers = self.boot_many(6)
        self.cloud.wait(servers[-1], 'BUILD', task='spawning')
        for cell in ('cell1', 'cell2'):
            self.cloud.cloud.stop_daemon(f'compute-{cell}')
            self.cloud.cloud.start_daemon(f'compute-{cell}', compute.make)
        self.wait_all(servers)
        self.assertEqual({each.id for each in servers}, set(self.cloud.guests()))

    def test_what_is_asked_while_it_is_away_waits(self):
        server = self.cloud.boot()
        cell = server.compute_host.split('-')[0]
        self.cloud.cloud.stop_daemon(f'compute-{cell}')
        self.cloud.admin.compute.stop_server(server)
        other = self.cloud.boot('other', wait=False, availability_zone=f'nova:{cell}-host2')
        found = self.cloud.admin.compute.get_server(server.id)
        self.assertEqual(('ACTIVE', 'powering-off'), (found.status, found.task_state))
        self.cloud.cloud.start_daemon(f'compute-{cell}', compute.make)
        self.cloud.wait(server, 'SHUTOFF')
        self.cloud.wait(other)


@sample.in_turns(2)
class SuperConductorTest(InterruptionTest):
    def start_another(self, host):
        """Run one more super-conductor, by another name."""
        path = self.cloud.cloud.places.path('etc', 'control.conf')
        conf = conf_module.make_conf(files=[path])
        conf.set_override('host', host)
        self.cloud.cloud.confs[host] = conf
        self.cloud.cloud.start_daemon(f'super-conductor-{host}', super_conductor.make, host)

    def lose_casts(self, number):
        """Drop that number of messages to the super-conductors, once they have been sent."""
        lost = []

        def lose():
            lost.append(self._lose_casts())
            return sum(lost) >= number

        self.cloud.wait_for(lose, f'{number} messages to be sent')
        self.assertEqual(number, sum(lost))

    def _lose_casts(self):
        """Drop messages to the super-conductors that none has taken yet. Return their number."""
        broker = memory_broker.broker(f'{self.cloud.cloud.places.tag}-top')
        lost = 0
        with broker.lock:
            for name, waiting in broker.queues.items():
                if name.startswith(super_rpc.SuperConductorAPI.topic):
                    lost += len(waiting)
                    waiting.clear()
        return lost

    def test_another_takes_over(self):
        self.start_another('second')
        servers = self.boot_many(3)
        self.cloud.cloud.stop_daemon('super-conductor')
        servers += self.boot_many(3)
        self.wait_all(servers)

    def test_volumes_of_a_build_that_is_taken_over(self):
        """The user's token went with the message; they are the user's all the same."""
        self.cloud.cloud.stop_daemon('super-conductor')
        image = {'source_type': 'image', 'uuid': self.cloud.image_id('cirros')}
        volume = {'destination_type': 'volume', 'volume_size': 1, 'delete_on_termination': True}
        server = self.cloud.boot(
            connection=self.cloud.demo,
            wait=False,
            block_device_mapping=[
                {'boot_index': 0, **image, **volume},
                {'boot_index': -1, 'source_type': 'blank', **volume},
            ],
        )
        self.lose_casts(1)
        self.start_another('second')
        self.cloud.wait(server)
        made = self.cloud.demo.block_storage.volumes()
        self.assertEqual(['in-use', 'in-use'], [each.status for each in made])

    def test_the_sweep_finds_what_was_accepted_and_lost(self):
        self.cloud.cloud.stop_daemon('super-conductor')
        servers = self.boot_many(3)
        for server in servers:
            self.assertEqual('BUILD', self.cloud.admin.compute.get_server(server.id).status)
        self.lose_casts(3)
        deleted = servers.pop()
        self.cloud.admin.compute.delete_server(deleted)
        self.cloud.wait_gone(deleted)
        self.start_another('second')
        self.wait_all(servers)
        self.assertEqual({each.id for each in servers}, set(self.cloud.guests()))

    def test_the_scheduler_was_away(self):
        self.cloud.cloud.stop_daemon('scheduler')
        servers = self.boot_many(3)
        api_db = self.cloud.cloud.daemons['super-conductor'].manager.world.api_db
        self.cloud.wait_for(
            lambda: all(request.epoch for request in api_db.read(build_requests.every)),
            'the sweep to have tried them again',
        )
        self.cloud.cloud.start_daemon('scheduler', scheduler.make, 'control')
        self.wait_all(servers)
