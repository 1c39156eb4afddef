"""Actions of servers: what a transaction reads of them once."""

import sqlalchemy as sa
import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from tests.fixtures import database


class AskedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.CellDatabase()).database
        self.ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        self.server = runtime.new_uuid()
        self.event = self.server, self.ctxt.request_id, 'compute_stop_instance'
        self.db.write(actions.start, self.ctxt, self.server, 'stop')

    def count(self, function):
        """Run a transaction. Return how often it reads actions."""
        read = []

        def heard(_connection, _cursor, statement, *_more):
            if statement.startswith('SELECT') and 'FROM instance_actions ' in (
                statement.replace('\n', '')
            ):
                read.append(statement)

        sa.event.listen(self.db.engine, 'before_cursor_execute', heard)
        try:
            self.db.write(function)
        finally:
            sa.event.remove(self.db.engine, 'before_cursor_execute', heard)
        return len(read)

    def newest(self, connection):
        return actions.asked(connection, self.server, self.ctxt.request_id)

    def test_a_transaction_reads_an_action_once(self):
        def begin_and_end(connection):
            actions.start_event(connection, *self.event)
            actions.finish_event(connection, *self.event)

        self.assertEqual(1, self.count(begin_and_end))
        self.assertEqual(1, self.count(self.newest))

    def test_an_event_that_is_open_is_taken_up_again(self):
        for _again in range(2):
            self.db.write(actions.start_event, *self.event)
        number = self.db.read(self.newest).id
        self.assertEqual(1, len(self.db.read(actions.events_of, [number])[number]))
        self.db.write(actions.start_event, *self.event, new=True)
        self.assertEqual(2, len(self.db.read(actions.events_of, [number])[number]))

    def test_an_action_that_it_begins_is_the_newest(self):
        def begin(connection):
            before = self.newest(connection)
            number = actions.start(connection, self.ctxt, self.server, 'reboot')
            self.assertLess(before.id, number)
            self.assertEqual(number, self.newest(connection).id)

        self.db.write(begin)

    def test_actions_that_it_removes_are_gone(self):
        def remove(connection):
            self.assertIsNotNone(self.newest(connection))
            instances.purge_actions(connection, self.server)
            self.assertIsNone(self.newest(connection))

        self.db.write(remove)

    def test_an_action_is_found_once_it_has_begun(self):
        ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)

        def find_and_begin(connection):
            self.assertIsNone(actions.asked(connection, self.server, ctxt.request_id))
            actions.start(connection, ctxt, self.server, 'reboot')
            found = actions.asked(connection, self.server, ctxt.request_id)
            self.assertEqual('reboot', found.action)

        self.db.write(find_and_begin)
