"""Records that a run of a saga knows without reading them."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.moves import steps as move_steps
from tests.unit.moves import moves_base


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
        another = self.resize_again(self.made)
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

    def test_the_action_of_the_request_is_read_once(self):
        self.do(self.made, moves_base.through(self.made, self.made.first))
        read = self.statements(lambda: self.here.write(self.made.events.start_first, 'event'))
        self.assertEqual([], [each for each in read if 'FROM instance_actions' in each])

    def test_a_server_that_is_gone(self):
        self.cell.db.write(instances.mark_deleted, self.server)
        self.assertRaises(exception.InstanceNotFound, self.made.scope.latest)
