"""The row of a server that a transaction has locked is what the database has, without a read."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import notes
from nova_lite.db.cell import epochs
from nova_lite.db.cell import fence
from nova_lite.db.cell import instances
from tests.unit.conductor import base

SAGA = '88888888-8888-4888-8888-888888888888'
CHANGES = {
    'task_state': 'resize_prep',
    'new_flavor': {'id': 7, 'extra_specs': {'a': 'b'}},
    'launched_at': None,
}


class KeptInstanceTest(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server(vm_state='active', task_state=None)
        self.ctxt = self.context().for_saga(SAGA, 2)

    def write(self, function):
        """Run a transaction. Return its result, and its statements."""
        found, engine = [], self.cell.db.engine

        def note(_connection, _cursor, statement, *_more):
            found.append(statement)

        sa.event.listen(engine, 'before_cursor_execute', note)
        try:
            return self.cell.db.write(function), found
        finally:
            sa.event.remove(engine, 'before_cursor_execute', note)

    def test_it_has_the_changes_of_the_transaction(self):
        def change(connection):
            instances.hold(connection, self.uuid)
            self.clock.advance(1)
            instances.update(connection, self.uuid, CHANGES, expect_task=(None,))
            return instances.get(connection, self.uuid)

        row, statements = self.write(change)
        self.assertEqual(2, len(statements), statements)
        self.assertEqual(dict(self.cell.row(self.uuid)._mapping), row._mapping)
        self.assertEqual('resize_prep', row.task_state)

    def test_a_change_of_other_functions_is_read(self):
        def change(connection):
            instances.hold(connection, self.uuid)
            instances.seal(connection, self.uuid)
            return instances.find(connection, self.uuid).sealed

        self.assertTrue(self.write(change)[0])

    def test_a_refused_change_keeps_nothing(self):
        def change(connection):
            instances.hold(connection, self.uuid)
            update = instances.update
            self.assertRaises(
                exception.StateChanged,
                update,
                connection,
                self.uuid,
                {'progress': 1},
                expect_task=('other',),
            )
            return instances.find(connection, self.uuid).progress

        self.assertEqual(0, self.write(change)[0])

    def test_a_deleted_server_is_not_held(self):
        def change(connection):
            instances.hold(connection, self.uuid)
            instances.mark_deleted(connection, self.uuid)
            return instances.held(connection, self.uuid), instances.find(connection, self.uuid)

        (held, found), _statements = self.write(change)
        self.assertIsNone(held)
        self.assertTrue(found.deleted)

    def test_the_fence_reads_it(self):
        self.cell.db.write(epochs.hold, SAGA, 1)

        def change(connection):
            fence.check_with_server(connection, self.ctxt, self.uuid)
            return instances.hold(connection, self.uuid)

        row, statements = self.write(change)
        # It has recorded the newer epoch.
        self.assertEqual(2, len(statements), statements)
        self.assertEqual(dict(self.cell.row(self.uuid)._mapping), row._mapping)
        self.assertEqual({SAGA: 2}, self.cell.db.read(epochs.seen, [SAGA]))
        self.assertEqual(1, len(self.write(change)[1]))
        self.ctxt = self.ctxt.for_saga(SAGA, 1)
        self.assertRaises(exception.StaleEpoch, self.write, change)

    def test_the_fence_of_an_unknown_saga_or_server(self):
        for uuid in (self.uuid, SAGA):
            self.cell.db.write(fence.check_with_server, self.ctxt, uuid)
            self.assertTrue(self.cell.db.read(fence.is_newest, self.ctxt))
        older = self.ctxt.for_saga(SAGA, 1)
        self.assertFalse(self.cell.db.read(fence.is_newest, older))
        self.assertRaises(
            exception.StaleEpoch, self.cell.db.write, fence.check_with_server, older, SAGA
        )

    def test_a_request_is_older_than_each_owner(self):
        self.cell.db.write(epochs.hold, SAGA, 0)
        self.cell.db.write(epochs.hold, SAGA, 0)
        self.cell.db.write(epochs.hold, SAGA, 1)
        self.assertRaises(exception.StaleEpoch, self.cell.db.write, epochs.hold, SAGA, 0)

    def test_without_notifications_a_change_reads_four_columns(self):
        def change(connection):
            self.assertFalse(notes.is_kept(connection))
            instances.update(connection, self.uuid, CHANGES, expect_task=(None,))

        (query, _change) = self.write(change)[1]
        self.assertNotIn('flavor', query)
