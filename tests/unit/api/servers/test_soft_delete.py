"""DELETE with reclaim_instance_interval: each state, with the host up and down.

Nova keeps whatever has a guest on a host, and deletes what never ran.
"""

from nova_lite import runtime
from nova_lite import states
from nova_lite.clients import release
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from tests.unit.api.servers import base

Vm = states.VmState
# A server that is resized is confirmed first; the others have no guest on a host.
DELETED = (Vm.BUILDING, Vm.RESIZED, Vm.SHELVED_OFFLOADED)
KEPT = tuple(state for state in Vm if state not in (*DELETED, Vm.DELETED))
SOFT_DELETED = (str(Vm.SOFT_DELETED), 'soft-deleting')


class SoftDeleteCase(base.Case):
    overrides = ((None, 'reclaim_instance_interval', 60),)

    def lose_host(self, down=True):
        cell = self.api.cell('cell1')
        service = cell.db.read(services.find, 'host1')
        cell.db.write(services.update, service.uuid, {'forced_down': down})

    def add(self, vm_state, **values):
        values = {
            'deleted_at': runtime.naive_now() if vm_state == Vm.SOFT_DELETED else None,
            **values,
        }
        return self.api.add_server(vm_state=str(vm_state), **values)

    def delete(self, uuid):
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.api_db.read(instance_mappings.get, uuid).queued_for_delete)
        return self.api.row(uuid)

    def last_sent(self, uuid):
        """The last method that the server's host was sent."""
        sent = [name for name, given in self.sent() if given['instance'].uuid == uuid]
        return sent[-1] if sent else None

    def settle(self, uuid):
        """Do what the host does with a soft-deleted server."""
        done = {'vm_state': str(Vm.SOFT_DELETED), 'task_state': None}
        self.api.cell('cell1').db.write(instances.force, uuid, done)


class TestHostUp(SoftDeleteCase):
    def test_every_state_with_a_guest_is_kept(self):
        for state in KEPT:
            with self.subTest(state):
                uuid = self.add(state)
                row = self.delete(uuid)
                self.assertEqual((str(state), 'soft-deleting'), (row.vm_state, row.task_state))
                self.assertIsNotNone(row.deleted_at)
                self.assertEqual('soft_delete_instance', self.last_sent(uuid))
                self.settle(uuid)
                self.act(uuid, 'restore')
                self.assertEqual('restore_instance', self.last_sent(uuid))
                self.act(uuid, 'forceDelete')
                self.assertEqual('delete_instance', self.last_sent(uuid))

    def test_whatever_the_task(self):
        """The guest of a server that leaves its host may be destroyed already."""
        final = (states.TaskState.DELETING, states.TaskState.SHELVING_OFFLOADING)
        for task in states.TaskState:
            with self.subTest(task):
                uuid = self.add(Vm.ACTIVE, task_state=str(task))
                row = self.delete(uuid)
                ends = 'deleting' if task in final else 'soft-deleting'
                self.assertEqual(ends, row.task_state)

    def test_what_never_ran_is_deleted(self):
        for state in (*KEPT, Vm.BUILDING):
            if state != Vm.SOFT_DELETED:
                with self.subTest(state):
                    uuid = self.add(state, launched_at=None)
                    self.assertEqual('deleting', self.delete(uuid).task_state)
                    self.assertEqual('delete_instance', self.last_sent(uuid))

    def test_offloaded(self):
        uuid = self.add(Vm.SHELVED_OFFLOADED, host=None, node=None)
        self.assertTrue(self.delete(uuid).deleted)

    def test_a_restored_server_is_not_shelved(self):
        images = self.api.neighbours.image
        images.add('shelf')
        shelf = {release.SHELVED_IMAGE: 'shelf', 'shelved_at': 'x', 'shelved_host': 'host1'}
        uuid = self.add(Vm.SHELVED, system_metadata={**shelf, 'other': 'stays'})
        self.delete(uuid)
        self.assertIn('shelf', images.images)
        self.settle(uuid)
        self.act(uuid, 'restore')
        self.assertNotIn('shelf', images.images)
        self.assertEqual({'other': 'stays'}, self.api.row(uuid).system_metadata)

    def test_its_state_is_reset(self):
        """The server exists again: it counts in quotas, and is not deleted later."""
        for settled in (False, True):
            for state in ('active', 'error'):
                with self.subTest(state, settled=settled):
                    uuid = self.add(Vm.ACTIVE)
                    self.delete(uuid)
                    if settled:
                        self.settle(uuid)
                    self.act(uuid, 'os-resetState', {'state': state}, who=base.ADMIN)
                    row = self.api.row(uuid)
                    self.assertEqual(
                        (state, None, None), (row.vm_state, row.task_state, row.deleted_at)
                    )
                    mapping = self.api.api_db.read(instance_mappings.get, uuid)
                    self.assertFalse(mapping.queued_for_delete)


class TestHostDown(SoftDeleteCase):
    def setUp(self):
        super().setUp()
        self.lose_host()

    def test_every_state_with_a_guest_is_kept(self):
        """The record says so at once. The host stops the guest when it finds the task."""
        for state in KEPT:
            with self.subTest(state):
                uuid = self.add(state)
                row = self.delete(uuid)
                self.assertEqual(SOFT_DELETED, (row.vm_state, row.task_state))
                self.assertIsNone(self.last_sent(uuid))
                self.assertEqual('SOFT_DELETED', self.show(uuid)['status'])
                self.delete(uuid)
                self.act(uuid, 'restore')
                row = self.api.row(uuid)
                self.assertEqual(('restoring', None), (row.task_state, row.deleted_at))

    def test_its_host_went_down_in_the_deletion(self):
        """The event that the host has begun ends with the restoration."""
        uuid = self.add(Vm.ACTIVE)
        self.delete(uuid)
        cell = self.api.cell('cell1')
        action = cell.db.read(actions.find_newest, uuid)
        event = 'compute_soft_delete_instance'
        cell.db.write(actions.start_event, uuid, action.request_id, event, host='host1')
        self.act(uuid, 'restore')
        (found,) = cell.db.read(actions.events_of, [action.id])[action.id]
        self.assertEqual(('Error', 'Interrupted by restore.'), (found.result, found.details))

    def test_deleted_for_good(self):
        for state in KEPT:
            with self.subTest(state):
                uuid = self.add(state)
                self.delete(uuid)
                self.act(uuid, 'forceDelete')
                self.assertTrue(self.api.row(uuid).deleted)

    def test_what_never_ran_is_deleted(self):
        for state in KEPT:
            if state != Vm.SOFT_DELETED:
                with self.subTest(state):
                    self.assertTrue(self.delete(self.add(state, launched_at=None)).deleted)

    def test_its_host_returns_before_the_record_says_so(self):
        uuid = self.add(Vm.ACTIVE)
        write = self.api.cell('cell1').db.write
        self.addCleanup(setattr, self.api.cell('cell1').db, 'write', write)

        def settle(function, *args, **options):
            if self.api.row(uuid).task_state == 'soft-deleting':
                self.api.cell('cell1').db.write = write
                self.settle(uuid)
            return write(function, *args, **options)

        self.api.cell('cell1').db.write = settle
        row = self.delete(uuid)
        self.assertEqual((str(Vm.SOFT_DELETED), None), (row.vm_state, row.task_state))

    def show(self, uuid):
        return self.ok('GET', f'/servers/{uuid}').json['server']


class TestResized(SoftDeleteCase):
    """As in nova the resize is confirmed, and then the server is kept."""

    def resized(self, status='finished', **values):
        uuid = self.add(Vm.RESIZED, **values)
        migration = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'migration_type': 'resize',
            'status': status,
            'source_compute': 'host1',
            'dest_compute': 'host1',
        }
        self.api.cell('cell1').db.write(migrations.create, migration)
        return uuid

    def confirm(self, uuid):
        """Do what a confirmation does at its end."""
        cell = self.api.cell('cell1')
        (row,) = cell.db.read(migrations.of_instance, uuid, None)
        cell.db.write(migrations.update, row.uuid, {'status': 'confirmed'})
        cell.db.write(instances.force, uuid, {'vm_state': str(Vm.ACTIVE)})

    def assert_kept(self, uuid, vm_state):
        row = self.api.row(uuid)
        self.assertEqual((str(vm_state), 'soft-deleting'), (row.vm_state, row.task_state))

    def test_confirmed_first(self):
        for down in (False, True):
            with self.subTest(down=down):
                self.lose_host(down)
                uuid = self.resized()
                self.delete(uuid)
                self.assert_kept(uuid, Vm.RESIZED)
                saga = self.api.api_db.read(sagas.find_active, uuid)
                wanted = {'delete': False, 'keep': True}
                found = {name: saga.arguments.get(name, False) for name in wanted}
                self.assertEqual(('confirm-resize', wanted), (saga.kind, found))
                self.assertIsNone(self.last_sent(uuid))

    def test_again_while_it_is_confirmed(self):
        """The host need not wait for the end of the confirmation."""
        uuid = self.resized()
        self.delete(uuid)
        row = self.delete(uuid)
        self.assert_kept(uuid, Vm.RESIZED)
        self.assertIsNotNone(row.deleted_at)
        self.assertEqual('soft_delete_instance', self.last_sent(uuid))

    def test_confirmed_by_its_user(self):
        uuid = self.resized('confirming')
        self.delete(uuid)
        self.assertEqual('soft_delete_instance', self.last_sent(uuid))
        self.confirm(uuid)
        self.assert_kept(uuid, Vm.ACTIVE)

    def test_while_it_is_reverted(self):
        uuid = self.resized('reverting', task_state='resize_reverting')
        self.assertEqual('deleting', self.delete(uuid).task_state)

    def test_deleted_for_good(self):
        uuid = self.resized()
        self.delete(uuid)
        self.act(uuid, 'forceDelete')
        self.assertEqual('deleting', self.api.row(uuid).task_state)
