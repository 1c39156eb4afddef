"""Moves between cells in a whole cloud: confirmed, reverted, failed, deleted."""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import crossing
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(2)
class CrossCellTest(testtools.TestCase):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = moving.Moving(self.cloud)
        self.crossing = crossing.Crossing(self.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def boot(self, **options):
        """A server with a port and a volume, in the first cell."""
        return self.moving.boot_full(availability_zone='nova:cell1-host1', **options)

    def migrate(self, server, host='cell2-host1'):
        self.moving.act(server, 'migrate', {'host': host})
        return self.cloud.wait(server, 'VERIFY_RESIZE')

    def addresses(self, server):
        return [
            address['addr']
            for addresses in self.cloud.admin.compute.get_server(server.id).addresses.values()
            for address in addresses
        ]

    def test_migrate_and_confirm(self):
        server = self.boot()
        before = self.addresses(server)
        moved = self.migrate(server)
        self.assertEqual('cell2-host1', moved.compute_host)
        self.assertEqual(before, self.addresses(server))
        self.assertEqual({'cell1': True, 'cell2': False}, self.crossing.records(server))
        migration = self.moving.migration(server)
        self.assertEqual('finished', migration['status'])
        self.assertEqual({'cell1-host1', 'cell2-host1'}, self.moving.hosts_held(server, migration))
        self.assertEqual([], self.cloud.findings())
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')
        self.crossing.idle(server)
        self.assertEqual({'cell2': False}, self.crossing.records(server))
        self.assertEqual(before, self.addresses(server))
        self.assertEqual('confirmed', self.moving.migration(server)['status'])
        self.assertEqual([], self.crossing.images(server))
        self.assertEqual(
            ['confirmResize', 'migrate', 'create'],
            [action.action for action in self.cloud.admin.compute.server_actions(server)],
        )
        # And back again: nothing of the server stands in its way.
        self.assertEqual('cell1-host1', self.migrate(server, 'cell1-host1').compute_host)

    def test_migrate_and_revert(self):
        server = self.boot()
        before = self.addresses(server)
        self.migrate(server)
        self.moving.act(server, 'revertResize')
        reverted = self.cloud.wait(server, 'ACTIVE')
        self.crossing.idle(server)
        self.assertEqual('cell1-host1', reverted.compute_host)
        self.assertEqual(before, self.addresses(server))
        self.assertEqual({'cell1': False}, self.crossing.records(server))
        migration = self.moving.migration(server)
        self.assertEqual('reverted', migration['status'])
        self.assertEqual({'cell1-host1'}, self.moving.hosts_held(server, migration))
        self.assertEqual(1, len(self.crossing.attachments(server)))
        self.assertEqual([], self.cloud.findings())
        self.migrate(server)

    def test_resize_of_a_stopped_server(self):
        server = self.boot()
        self.moving.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.crossing.disable('cell1-host1')
        self.moving.resize(server, 'm1.small')
        resized = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual('cell2-host1', resized.compute_host)
        self.assertEqual('m1.small', resized.flavor.name)
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'SHUTOFF')

    def test_revert_of_a_stopped_server(self):
        server = self.boot()
        self.moving.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.migrate(server)
        self.moving.act(server, 'revertResize')
        self.cloud.wait(server, 'SHUTOFF')

    def test_server_that_boots_from_a_volume(self):
        server = self.moving.boot_from_volume(availability_zone='nova:cell1-host1')
        self.migrate(server)
        self.assertEqual([], self.crossing.images(server))
        self.moving.act(server, 'revertResize')
        self.cloud.wait(server, 'ACTIVE')
        self.crossing.idle(server)
        self.migrate(server)
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(1, len(self.crossing.attachments(server)))

    def test_delete_in_verify_resize(self):
        server = self.boot()
        self.migrate(server)
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)
        self.crossing.idle(server)
        self.assertNotIn('cell1', self.crossing.records(server))
        self.assertEqual([], self.crossing.attachments(server))

    def test_soft_deletion_in_verify_resize(self):
        self.cloud.cloud.confs['control'].set_override('reclaim_instance_interval', 3600)
        server = self.boot()
        self.migrate(server)
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait(server, 'SOFT_DELETED')
        self.crossing.idle(server)
        self.assertNotIn('cell1', self.crossing.records(server))
        self.assertEqual([], self.cloud.findings())
        self.moving.act(server, 'restore')
        self.cloud.wait(server)
        self.assertEqual(1, len(self.crossing.attachments(server)))

    def test_name_given_at_the_destination_stays(self):
        server = self.boot()
        self.migrate(server)
        self.cloud.admin.compute.update_server(server, name='renamed')
        self.moving.act(server, 'revertResize')
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual('renamed', self.cloud.admin.compute.get_server(server.id).name)

    def test_others_stay_in_their_cell(self):
        """The default of the policy permits no user to cross; the file permits administrators."""
        server = self.cloud.boot(connection=self.cloud.demo)
        flavor = self.cloud.admin.compute.find_flavor('m1.small')
        self.cloud.demo.compute.resize_server(server.id, flavor.id)
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual('error', self.moving.migration(server)['status'])


class FailingSpawnTest(testtools.TestCase):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = moving.Moving(self.cloud)
        self.crossing = crossing.Crossing(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def test_source_takes_the_server_back(self):
        server = self.moving.boot_full(availability_zone='nova:cell1-host1')
        self.faults.fault = saga_faults.Fault(
            'cross-cell-migrate', 'spawn-on-destination', saga_faults.Mode.AFTER
        )
        self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
        self.crossing.idle(server)
        found = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual('cell1-host1', found.compute_host)
        self.assertEqual('error', self.moving.migration(server)['status'])
        self.assertEqual({'cell1': False}, self.crossing.records(server))
        self.assertEqual([], self.crossing.images(server))
        self.assertEqual(1, len(self.crossing.attachments(server)))
        self.assertEqual([], self.cloud.findings())
        self.faults.fault = None
        self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual([], self.cloud.findings())


class ListerTest(testtools.TestCase):
    """Each list of servers shows each server once during 12 moves; tox -e faults has 100."""

    settings = moves_base.ONE_HOST_EACH
    SERVERS, ROUNDS = (10, 10) if saga_faults.ALL else (6, 2)

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = moving.Moving(self.cloud)
        self.crossing = crossing.Crossing(self.cloud)

    def boot(self):
        """Servers in both cells, two of them with a port and a volume."""
        hosts = ('cell1-host1', 'cell2-host1')
        full = [
            self.moving.boot_full(f'server-{number}', availability_zone=f'nova:{host}')
            for number, host in enumerate(hosts)
        ]
        bare = [
            self.cloud.boot(f'server-{number}', availability_zone=f'nova:{hosts[number % 2]}')
            for number in range(len(hosts), self.SERVERS)
        ]
        return [*full, *bare]

    def meet(self, lister):
        """Wait until a round of lists has begun and ended from now on."""
        before = lister.rounds
        self.cloud.wait_for(lambda: lister.rounds > before + 1, 'another round of lists')

    def test_lists(self):
        servers = self.boot()
        lister = self.useFixture(crossing.Lister(self.cloud, servers))
        for number in range(self.ROUNDS):
            for server in servers:
                found = self.cloud.admin.compute.get_server(server.id)
                there = 'cell2-host1' if 'cell1' in found.compute_host else 'cell1-host1'
                self.moving.act(server, 'migrate', {'host': there})
            self.meet(lister)
            for index, server in enumerate(servers):
                self.cloud.wait(server, 'VERIFY_RESIZE')
                self.crossing.idle(server)
                # Each server is confirmed and reverted in turn, half of them at a time.
                reverts = (number + index) % 2
                action, status = ('revertResize', 202) if reverts else ('confirmResize', 204)
                self.moving.act(server, action, status=status)
            self.meet(lister)
            for server in servers:
                self.cloud.wait(server, 'ACTIVE')
                self.crossing.idle(server)
        lister.stop()
        self.assertEqual([], lister.wrong)
        moves = [len(self.moving.migrations(server)) for server in servers]
        self.assertEqual([self.ROUNDS] * self.SERVERS, moves)
        self.assertEqual([], self.cloud.findings())


class AutomaticConfirmTest(testtools.TestCase):
    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {
            'DEFAULT': {'resize_confirm_window': 1},
            'conductor': {'sweep_interval_s': 0.2},
        },
    }

    def test_unconfirmed_move_is_confirmed(self):
        cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        stage, looking = moving.Moving(cloud), crossing.Crossing(cloud)
        server = stage.boot_full(availability_zone='nova:cell1-host1')
        stage.act(server, 'migrate', {'host': 'cell2-host1'})
        cloud.wait_for(
            lambda: [each['status'] for each in stage.migrations(server)] == ['confirmed'],
            'the confirmation',
        )
        looking.idle(server)
        self.assertEqual('cell2-host1', cloud.wait(server, 'ACTIVE').compute_host)
        self.assertEqual({'cell2': False}, looking.records(server))
        self.assertEqual([], cloud.findings())
