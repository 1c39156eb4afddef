"""Servers that move on before the host they were evacuated from has returned.

They hold their part of that host all the while, and nothing of it after its return.
"""

from nova_lite import context
from tests.fixtures import live_moving
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
FAILS = 'extends: instant\nfailures: [{{verb: {}, first: 1}}]\n'
WAYS_TO_END = (('confirmResize', 204), ('revertResize', 202))


class EvacuatedTestCase(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 4}

    def boot_evacuated(self, **options):
        """A server that was evacuated from `lost`."""
        self.server = self.cloud.boot(**options)
        self.lost = self.server.compute_host
        self.evacuate()

    def evacuate(self):
        """From the host that the server is on, which fails."""
        self.moving.fail(self.cloud.admin.compute.get_server(self.server.id).compute_host)
        self.act('evacuate', {}, status=200, version='2.94')
        self.assertEqual('done', self.moving.ended(self.server)['status'])

    def act(self, action, content=None, **options):
        self.moving.act(self.server, action, content, **options)

    def reach(self, status):
        found = self.cloud.wait(self.server, status)
        self.moving.wait_idle(self.server)
        return found

    def resize(self):
        self.moving.resize(self.server, 'm1.small')
        self.reach('VERIFY_RESIZE')

    def check(self, *hosts):
        """The server itself holds its part of these hosts, and of the one it is on."""
        nodes = {node.name: node.id for node in self.cloud.admin.compute.hypervisors()}
        here = self.cloud.admin.compute.get_server(self.server.id).compute_host
        wanted = {nodes[host] for host in (*hosts, here) if host}
        self.assertEqual(wanted, set(self.moving.allocations(self.server.id)))
        self.assertEqual([], self.cloud.findings())

    def come_back(self):
        self.moving.come_back(self.lost)
        self.check()


@sample.in_turns(3)
class EvacuatedMovesTest(EvacuatedTestCase):
    def begin_endless(self):
        """Start an endless copy of an evacuated server. Return the migration."""
        self.boot_evacuated()
        self.moving.behave(live_moving.ENDLESS)
        self.moving.go(self.server)
        return self.moving.watched(self.server, 'running')

    def abort(self, migration):
        self.assertEqual(202, self.moving.abort(self.server, migration))
        self.assertEqual('cancelled', self.moving.ended(self.server)['status'])

    def test_live_migrated(self):
        self.boot_evacuated()
        self.moving.go(self.server)
        self.assertEqual('completed', self.moving.ended(self.server)['status'])
        self.check(self.lost)
        self.come_back()

    def test_the_host_returns_while_it_is_live_migrated(self):
        migration = self.begin_endless()
        self.moving.come_back(self.lost)
        self.abort(migration)
        self.check()

    def test_live_migration_aborted(self):
        migration = self.begin_endless()
        self.abort(migration)
        self.check(self.lost)
        self.come_back()

    def test_live_migration_forced(self):
        self.boot_evacuated()
        here = self.cloud.admin.compute.get_server(self.server.id).compute_host
        dest = self.moving.others(self.lost, here)[0]
        self.moving.go(self.server, dest, version='2.67')
        self.assertEqual(dest, self.reach('ACTIVE').compute_host)
        self.check(self.lost)
        self.come_back()

    def test_resized(self):
        for action, status in WAYS_TO_END:
            self.boot_evacuated()
            self.resize()
            self.check(self.lost)
            self.act(action, status=status)
            self.reach('ACTIVE')
            self.check(self.lost)
            self.come_back()

    def test_the_host_returns_before_the_resize_is_ended(self):
        for action, status in WAYS_TO_END:
            self.boot_evacuated()
            self.resize()
            self.come_back()
            self.act(action, status=status)
            self.reach('ACTIVE')
            self.check()

    def test_the_resize_is_undone(self):
        for verb in ('migrate_out', 'finish_migration'):
            self.boot_evacuated()
            self.moving.behave(FAILS.format(verb))
            self.moving.resize(self.server, 'm1.small')
            self.moving.wait_idle(self.server)
            self.assertEqual('error', self.moving.migration(self.server)['status'])
            self.check(self.lost)
            self.come_back()

    def test_deleted_while_the_resize_is_unconfirmed(self):
        self.boot_evacuated()
        self.resize()
        self.cloud.admin.compute.delete_server(self.server)
        self.cloud.wait_gone(self.server)
        self.moving.wait_idle(self.server)
        self.assertEqual([], self.cloud.findings())
        self.moving.come_back(self.lost)

    def test_evacuated_twice_and_migrated(self):
        self.boot_evacuated()
        second = self.cloud.admin.compute.get_server(self.server.id).compute_host
        self.evacuate()
        self.check(self.lost, second)
        self.act('migrate')
        self.reach('VERIFY_RESIZE')
        self.check(self.lost, second)
        self.moving.come_back(self.lost)
        self.check(second)
        self.act('revertResize')
        self.reach('ACTIVE')
        self.check(second)
        self.moving.come_back(second)
        self.check()

    def test_shelved_and_unshelved(self):
        self.boot_evacuated()
        self.act('shelve')
        self.reach('SHELVED_OFFLOADED')
        self.check(self.lost)
        self.act('unshelve')
        self.reach('ACTIVE')
        self.check(self.lost)
        self.come_back()

    def test_the_host_returns_while_it_is_shelved(self):
        self.boot_evacuated()
        self.act('shelve')
        self.reach('SHELVED_OFFLOADED')
        self.come_back()
        self.act('unshelve')
        self.reach('ACTIVE')
        self.check()

    def test_an_undone_move_could_not_give_it_back(self):
        """The audit hands over what the migration has, and nothing else is lost."""
        self.boot_evacuated()
        self.resize()
        self.act('revertResize')
        self.reach('ACTIVE')
        world, ctxt = self.moving.world, context.admin()
        nodes = {node.name: node.id for node in self.cloud.admin.compute.hypervisors()}
        world.placement.move_allocations(
            ctxt,
            self.server.id,
            self.moving.migration(self.server)['uuid'],
            keep={nodes[self.lost]},
        )
        for _number in range(2):
            self.cloud.cloud.daemons['super-conductor'].manager.audit_allocations()
        self.check(self.lost)
        self.come_back()


class EvacuatedCrossingTest(EvacuatedTestCase):
    settings = base.ROOMY

    def test_it_stays_in_its_cell_until_the_host_returns(self):
        self.boot_evacuated(availability_zone='nova:cell1-host1')
        self.act('migrate', {'host': 'cell2-host1'})
        self.moving.wait_idle(self.server)
        self.assertEqual('error', self.moving.migration(self.server)['status'])
        self.reach('ACTIVE')
        self.check(self.lost)
        self.come_back()
        self.act('migrate', {'host': 'cell2-host1'})
        self.reach('VERIFY_RESIZE')
        self.act('confirmResize', status=204)
        self.reach('ACTIVE')
        self.check()
