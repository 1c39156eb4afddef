"""Records that a run of a saga knows without reading them, and who takes the saga over."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import steps as move_steps
from tests.unit.moves import moves_base

DEST, OTHER = moves_base.DEST, moves_base.OTHER


class SeenRecordsTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.made = self.resize()
        self.here = self.made.scope.here

    def statements(self, call):
        found, engine = [], self.cell.db.engine

        def note(_connection, _cursor, statement, *_more):
            found.append(statement)

        sa.event.listen(engine, 'before_cursor_execute', note)
        try:
            call()
        finally:
            sa.event.remove(engine, 'before_cursor_execute', note)
        return found

    def test_the_record_as_the_last_transaction_has_left_it(self):
        self.do(self.made, moves_base.through(self.made, move_steps.RECORD))
        self.assertEqual([], self.statements(self.made.scope.latest))
        self.assertEqual(self.cell.row(self.server).new_flavor, self.made.scope.latest().new_flavor)
        another = self.again(self.made, self.made.data)
        self.assertEqual(1, len(self.statements(another.scope.latest)))

    def test_a_transaction_that_fails_is_not_what_it_has_left(self):
        self.do(self.made, moves_base.through(self.made, self.made.first))
        wrong = {'progress': 7}
        self.assertRaises(
            exception.StateChanged,
            self.here.write,
            instances.update,
            self.server,
            wrong,
            expect_task=('other',),
        )
        self.assertEqual(0, self.made.scope.latest().progress)
        self.assertEqual(1, len(self.statements(self.made.scope.latest)))

    def test_a_transaction_that_may_lock_a_group_has_not_locked_its_server(self):
        """Or members that wait for each other's group would hold each other's server."""
        self.do(self.made, moves_base.through(self.made, self.made.first))
        self.assertTrue(self.here.write(instances.kept, [self.server]))
        self.made.results[move_steps.GROUP] = 'group'
        self.assertEqual({}, self.made.scope.here.write(instances.kept, [self.server]))

    def test_the_action_of_the_request_is_read_once(self):
        self.do(self.made, moves_base.through(self.made, self.made.first))
        read = self.statements(lambda: self.here.write(self.made.events.start_first, 'event'))
        self.assertEqual([], [each for each in read if 'FROM instance_actions' in each])

    def test_a_server_that_is_gone(self):
        self.cell.db.write(instances.mark_deleted, self.server)
        self.assertRaises(exception.InstanceNotFound, self.made.scope.latest)


class UnrecordedChoiceTest(moves_base.MoveTestCase):
    """The owner of a live migration has recorded DEST, and dies before the journal names it."""

    def setUp(self):
        super().setUp()
        made = self.live_migration()
        self.do(made, moves_base.through(made, move_steps.RECORD))
        self.api_db.write(rows.change, sagas.TABLE, {'epoch': 2}, uuid=made.uuid)
        self.next = self.again(made, {})

    def held(self, uuid):
        return list(self.cell.placement.allocations.get(uuid, ()))

    def dest(self):
        return self.cell.db.read(migrations.get, self.next.uuid).dest_compute

    def test_who_takes_over_may_choose_another_host(self):
        self.assertEqual(DEST, self.dest())
        self.world.scheduler.select_destinations = lambda *args, **kwargs: [
            [self.cell.selection(OTHER)]
        ]
        self.do(self.next, moves_base.through(self.next, move_steps.RECORD))
        self.assertEqual(OTHER, self.dest())
        self.assertEqual([self.cell.provider(OTHER)], self.held(self.server))
        self.assertEqual([self.cell.provider(moves_base.SOURCE)], self.held(self.next.uuid))

    def test_who_takes_over_does_not_find_its_own_claim_in_the_way(self):
        held = []

        def choose(*_args, **_kwargs):
            held.append(self.held(self.server))
            return [[self.cell.selection(DEST)]]

        self.world.scheduler.select_destinations = choose
        self.do(self.next, moves_base.through(self.next, move_steps.RECORD), times=2)
        self.assertEqual([[self.cell.provider(moves_base.SOURCE)]] * 2, held)
        self.assertEqual([self.cell.provider(DEST)], self.held(self.server))
        self.assertEqual([self.cell.provider(moves_base.SOURCE)], self.held(self.next.uuid))

    def test_who_takes_over_undoes_it(self):
        """The undo begins at the step whose record is missing, and knows no result."""
        self.undo(self.next, moves_base.through(self.next, move_steps.RECORD))
        self.assertEqual(('active', None, moves_base.SOURCE), self.cell.state(self.server))
        self.assertEqual('error', self.status(self.next.uuid))
        self.assertEqual([self.cell.provider(moves_base.SOURCE)], self.held(self.server))
        self.assertEqual([], self.held(self.next.uuid))
