"""Deletion of a server that a move takes elsewhere while the request is handled."""

import fixtures

from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.saga import journal
from tests.fixtures import api_neighbours
from tests.fixtures import compute_api
from tests.unit.api.servers import base

ACTIVE = {'host': 'host1', 'node': 'host1', 'vm_state': 'active'}
SHELVED = {'vm_state': 'shelved', 'system_metadata': {'shelved_image_id': api_neighbours.IMAGE_ID}}
OFFLOADED = {**SHELVED, 'host': None, 'node': None, 'vm_state': 'shelved_offloaded'}


class RacingCase(base.Case):
    def delete(self, before, after):
        """Delete a server that is as `before` when it is loaded, and then as `after`."""
        uuid = self.api.add_server(**before)
        self.before_it_is_recorded(lambda write: write(instances.force, uuid, after))
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        return uuid

    def before_it_is_recorded(self, change):
        """Make a change in the cell, by `change(write)`, just before the next one there."""
        database = self.api.cell('cell1').db
        write = database.write

        def first(*args, **options):
            database.write = write
            change(write)
            return write(*args, **options)

        database.write = first
        self.addCleanup(lambda: self.assertEqual(write, database.write))

    def assert_ended(self, uuid):
        self.assertTrue(self.api.row(uuid).deleted)
        self.assertEqual([], self.sent())
        self.assertEqual({}, self.api.neighbours.image.images)


class TestRaces(RacingCase):
    def test_offloaded(self):
        self.assert_ended(self.delete(SHELVED, OFFLOADED))

    def test_unshelved(self):
        uuid = self.delete(OFFLOADED, ACTIVE)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        ((method, arguments),) = self.sent()
        self.assertEqual(('delete_instance', 'host1'), (method, arguments['host']))
        self.assertEqual([], self.api.neighbours.placement.released)

    def test_shelved(self):
        uuid = self.delete(ACTIVE, SHELVED)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        # Its host deletes the image before it ends the record.
        self.assertEqual(['delete_instance'], [method for method, _arguments in self.sent()])

    def test_deleted(self):
        """Another request was faster, and all is done."""
        uuid = self.api.add_server(**ACTIVE)
        self.api.api_db.write(instance_mappings.set_queued_for_delete, [uuid])
        self.before_it_is_recorded(lambda write: write(instances.mark_deleted, uuid))
        self.refused('DELETE', f'/servers/{uuid}', code=404)
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertTrue(mapping.queued_for_delete)


class TestKept(RacingCase):
    """A server that was to be kept, and that has left its host, is deleted at once."""

    overrides = ((None, 'reclaim_instance_interval', 60),)

    def test_kept_and_offloaded(self):
        self.assert_ended(self.delete(ACTIVE, OFFLOADED))


class TestChangingCells(RacingCase):
    """Its record was hidden, and another cell's stands for it."""

    def moved_meanwhile(self):
        uuid, there = self.api.add_server(**ACTIVE), self.api.cell('cell2')
        copy = self.api.record(uuid=uuid, host='host2', node='host2', vm_state='resized')

        def move(write):
            there.db.write(instances.create, [copy])
            cell_ids = (self.api.cell('cell1').id, there.id)
            self.api.api_db.write(instance_mappings.switch, uuid, *cell_ids)
            write(instances.seal, uuid)
            write(copies.show, uuid, False)

        self.before_it_is_recorded(move)
        return uuid

    def test_deleted(self):
        uuid = self.moved_meanwhile()
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertIsNone(self.api.row(uuid).task_state)
        self.assertEqual('deleting', self.api.row(uuid, 'cell2').task_state)
        ((method, arguments),) = self.sent('cell2')
        self.assertEqual(('delete_instance', 'host2'), (method, arguments['host']))
        self.assertEqual([], self.sent())

    def test_state_set_by_hand(self):
        uuid = self.moved_meanwhile()
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        self.assertEqual('active', self.api.row(uuid).vm_state)
        self.assertEqual('error', self.api.row(uuid, 'cell2').vm_state)

    def test_action_that_its_state_there_refuses(self):
        uuid = self.moved_meanwhile()
        self.refused_act(uuid, 'pause', code=409)
        self.assertIsNone(self.api.row(uuid).task_state)
        self.assertEqual([], self.sent() + self.sent('cell2'))

    def test_move(self):
        uuid = self.moved_meanwhile()
        self.refused_act(uuid, 'migrate', code=409, who=base.ADMIN)
        self.assertEqual([], self.api.api_db.read(lambda c: c.execute(sagas.TABLE.select()).all()))


class TestResized(RacingCase):
    """The source of a resize keeps what it has unless the resize is confirmed."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lifecycle.intents.END_TIMEOUT_S', 0))

    def resized(self, *, status='finished', **changes):
        uuid = self.api.add_server(**{**ACTIVE, 'vm_state': 'resized', **changes})
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

    def hold(self, uuid, **values):
        """Start a saga of the server."""
        row = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'active_for': uuid,
            'project_id': compute_api.MEMBER['project'],
            'context': {},
            'arguments': {},
            'direction': journal.FORWARD,
            'state': journal.RUNNING,
            'wake_at': runtime.naive_now(),
            **values,
        }
        self.api.api_db.write(rows.insert, sagas.TABLE, row)

    def assert_untouched(self, uuid):
        row = self.api.row(uuid)
        self.assertEqual(('resized', None), (row.vm_state, row.task_state))
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertFalse(mapping.queued_for_delete)

    def test_a_saga_that_cleans_up_confirms_nothing(self):
        for kind in ('detach-volume', 'revert-resize', 'cross-cell-confirm'):
            uuid = self.resized()
            self.hold(uuid, kind=kind, state=journal.CLEANING)
            self.refused('DELETE', f'/servers/{uuid}', code=409, text='another operation')
            self.assert_untouched(uuid)

    def test_the_resize_itself_has_not_ended(self):
        uuid = self.resized()
        self.hold(uuid, kind='migrate')
        self.refused('DELETE', f'/servers/{uuid}', code=409, text='another operation')
        self.assert_untouched(uuid)

    def test_it_is_being_confirmed_or_reverted(self):
        for kind, task in (('confirm-resize', None), ('cross-cell-revert', 'resize_reverting')):
            uuid = self.resized(status='confirming', task_state=task)
            self.hold(uuid, kind=kind)
            self.ok('DELETE', f'/servers/{uuid}', code=204)
            self.assertEqual('deleting', self.api.row(uuid).task_state)

    def test_the_resize_ends_before_the_deletion_is_recorded(self):
        """It stays on its host: only its state tells that there is something to confirm."""
        uuid = self.resized(vm_state='active', task_state='resize_finish')
        values = {'vm_state': 'resized', 'task_state': None}
        self.before_it_is_recorded(lambda write: write(instances.force, uuid, values))
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        saga = self.api.api_db.read(sagas.find_active, uuid)
        self.assertEqual(('confirm-resize', True), (saga.kind, saga.arguments['delete']))
        self.assertEqual([], self.sent())
