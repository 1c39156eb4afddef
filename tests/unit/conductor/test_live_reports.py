"""A cell's transactions about live migrations and evacuations."""

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import live_turns
from nova_lite.db.cell import migrations
from tests.unit.conductor import base


class LiveTestCase(base.CellConductorTestCase):
    def migration(self, instance_uuid, **columns):
        """A live migration from host-1 to host-2; its uuid."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': instance_uuid,
            'migration_type': 'live-migration',
            'status': 'accepted',
            'source_compute': 'host-1',
            'source_node': 'host-1',
            'dest_compute': 'host-2',
            'dest_node': 'host-2',
            **columns,
        }
        self.cell.db.write(migrations.create, values)
        return values['uuid']

    def begun(self, **columns):
        """(context, migration's uuid) of a server that is asked to move."""
        _ctxt, uuid = self.server()
        return self.cell.ask(uuid, 'live-migration', 'migrating'), self.migration(uuid, **columns)

    def read(self, move):
        return self.cell.db.read(migrations.get, move)

    def turn(self, ctxt, move, limit=1):
        return self.conductor.live_migration_turn(
            ctxt, host='host-1', migration_uuid=move, limit=limit
        )

    def progress(self, ctxt, move, **counters):
        return self.conductor.live_migration_progress(
            ctxt, host='host-1', migration_uuid=move, counters=counters
        )

    def command(self, move, name):
        """Do what the API does. Return the context of that request."""
        ctxt = self.context()

        def write(connection):
            row = live_migrations.lock(connection, move)
            live_migrations.add_command(connection, row, name, ctxt)
            actions.start(connection, ctxt, row.instance_uuid, name)

        self.cell.db.write(write)
        return ctxt


class TurnTest(LiveTestCase):
    def test_first_come_first_served(self):
        first, second, third = (self.begun() for _ in range(3))
        self.assertEqual({'turn': True, 'ahead': 0}, self.turn(*first))
        self.assertFalse(self.turn(*third)['turn'])
        self.assertFalse(self.turn(*second)['turn'])
        self.assertEqual('queued', self.read(second[1]).status)
        self.cell.db.write(migrations.update, first[1], {'status': 'completed'})
        self.assertFalse(self.turn(*third)['turn'])
        self.assertTrue(self.turn(*second)['turn'])
        self.assertEqual('preparing', self.read(second[1]).status)

    def test_asked_again(self):
        ctxt, move = self.begun()
        self.turn(ctxt, move)
        self.assertTrue(self.turn(ctxt, move)['turn'])
        self.progress(ctxt, move)
        self.assertTrue(self.turn(ctxt, move)['turn'])
        self.assertEqual('running', self.read(move).status)

    def test_no_limit(self):
        self.turn(*self.begun())
        self.assertTrue(self.turn(*self.begun(), limit=0)['turn'])

    def test_another_host_has_turns_of_its_own(self):
        self.turn(*self.begun(source_compute='host-3'))
        self.assertTrue(self.turn(*self.begun())['turn'])

    def test_what_is_over_or_called_off_has_no_turn(self):
        self.assertRaises(exception.StateChanged, self.turn, *self.begun(status='error'))
        ctxt, move = self.begun(status='queued')
        self.command(move, live_migrations.ABORT)
        self.assertRaises(exception.LiveMigrationAborted, self.turn, ctxt, move)

    def test_what_may_copy(self):
        def begin(move):
            self.cell.db.write(live_turns.begin_copy, move)

        for status in ('preparing', 'running'):
            _ctxt, move = self.begun(status=status)
            begin(move)
            self.assertTrue(self.cell.db.read(live_turns.has_begun, move))
        # The source aborts a copy that runs.
        self.command(move, live_migrations.ABORT)
        begin(move)
        _ctxt, move = self.begun(status='preparing')
        self.command(move, live_migrations.ABORT)
        self.assertRaises(exception.LiveMigrationAborted, begin, move)
        self.assertFalse(self.cell.db.read(live_turns.has_begun, move))
        _ctxt, move = self.begun(status='failed')
        self.assertRaises(exception.StateChanged, begin, move)


class ProgressTest(LiveTestCase):
    def test_counters_and_commands(self):
        ctxt, move = self.begun(status='preparing')
        self.assertEqual({}, self.progress(ctxt, move))
        self.progress(ctxt, move, memory_total=10, memory_processed=4)
        row = self.read(move)
        self.assertEqual(('running', 10, 4), (row.status, row.memory_total, row.memory_processed))
        asked = self.command(move, live_migrations.ABORT)
        found = self.progress(ctxt, move)
        self.assertEqual(asked.request_id, found['abort']['request_id'])
        self.assertNotIn('auth_token', found['abort'])

    def test_the_copy_ends_the_preparation(self):
        ctxt, move = self.begun(status='preparing')
        uuid = self.read(move).instance_uuid
        event = 'compute_pre_live_migration'
        self.cell.db.write(actions.start_event, uuid, ctxt.request_id, event, host='host-2')
        self.progress(ctxt, move)
        self.assertIn((event, 'host-2', 'Success'), self.cell.events(uuid))

    def test_a_copy_that_was_called_off_does_not_begin(self):
        ctxt, move = self.begun(status='preparing')
        self.command(move, live_migrations.ABORT)
        self.assertRaises(exception.LiveMigrationAborted, self.progress, ctxt, move)
        self.assertEqual('preparing', self.read(move).status)

    def test_an_answer_ends_the_event_and_the_command(self):
        for command, error, kept in (
            (live_migrations.ABORT, None, True),
            (live_migrations.ABORT, 'it has left', False),
            (live_migrations.FORCE_COMPLETE, None, False),
        ):
            _ctxt, move = self.begun(status='running')
            asked = self.command(move, command)
            for _ in range(2):
                self.conductor.live_migration_answered(
                    asked, host='host-1', migration_uuid=move, command=command, error=error
                )
            row = self.read(move)
            self.assertEqual(kept, command in row.data)
            self.assertIn(
                (f'compute_live_migration_{command}', 'host-1', 'Error' if error else 'Success'),
                self.cell.events(row.instance_uuid),
            )

    def test_an_earlier_command_is_kept_until_it_is_answered(self):
        _ctxt, move = self.begun(status='running')
        early = self.command(move, live_migrations.FORCE_COMPLETE)
        late = self.command(move, live_migrations.FORCE_COMPLETE)
        for asked, kept in ((late, True), (early, False)):
            self.conductor.live_migration_answered(
                asked, host='host-1', migration_uuid=move, command='force_complete', error=None
            )
            self.assertEqual(kept, 'force_complete' in self.read(move).data)


class EndedMovesTest(LiveTestCase):
    def test_the_newest_counts(self):
        _ctxt, uuid = self.server()
        first = self.migration(uuid, status='failed')
        self.assertEqual({uuid: first}, self.conductor.ended_moves(context.admin(), [uuid]))
        self.migration(uuid, status='running')
        self.assertEqual({}, self.conductor.ended_moves(context.admin(), [uuid]))

    def test_those_that_are_confirmed(self):
        _ctxt, uuid = self.server()
        statuses = ('confirmed', 'completed', 'finished', 'reverted', 'error')
        moves = [self.migration(uuid, status=status) for status in statuses]
        found = self.conductor.confirmed_moves(context.admin(), [*moves, runtime.new_uuid()])
        self.assertEqual(set(moves[:2]), set(found))


class EvacuationsTest(LiveTestCase):
    def test_what_a_host_has_to_clean(self):
        self.node()
        _ctxt, uuid = self.server()
        move = self.migration(uuid, migration_type='evacuation', status='pre-migrating')

        def left():
            return self.conductor.evacuations_from(context.admin(), ['host-1'])

        self.assertEqual([False], [each['done'] for each in left()])
        self.conductor.evacuation_cleaned(context.admin(), 'host-1', move)
        self.assertEqual('pre-migrating', self.read(move).status)
        self.cell.db.write(migrations.update, move, {'status': 'done'})
        self.assertEqual([(uuid, True)], [(e['instance_uuid'], e['done']) for e in left()])
        self.assertIsNotNone(left()[0]['provider'])
        self.conductor.evacuation_cleaned(context.admin(), 'host-1', move)
        self.assertEqual(('completed', []), (self.read(move).status, left()))
