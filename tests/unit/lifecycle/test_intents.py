"""Intents: a saga's row and one transaction, whatever happens between them."""

import types

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.states import transitions
from tests.fixtures import clock
from tests.fixtures import database

SERVER = {
    'project_id': 'p',
    'user_id': 'u',
    'display_name': 's',
    'host': 'host-1',
    'vm_state': 'active',
    'vcpus': 1,
    'memory_mb': 512,
    'root_gb': 1,
    'ephemeral_gb': 0,
    'flavor': {},
}


class Passing(clock.ManualRuntime):
    """A runtime whose sleeps advance the time and call `meanwhile`."""

    def __init__(self, meanwhile=None):
        super().__init__()
        self.meanwhile = meanwhile

    def sleep(self, seconds):
        self.advance(seconds)
        if self.meanwhile:
            self.meanwhile()


class IntentsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.api_db = self.useFixture(database.ApiDatabase()).database
        self.db = self.useFixture(database.CellDatabase()).database
        self.cell = types.SimpleNamespace(db=self.db, uuid=runtime.new_uuid())
        self.ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        self.server = runtime.new_uuid()
        self.db.write(instances.create, [{**SERVER, 'uuid': self.server}])

    def intent(self, **options):
        return intents.Intent(
            kind='resize',
            uuid=runtime.new_uuid(),
            instance_uuid=self.server,
            order=intents.order(transitions.RESIZE, 'resize', **options),
        )

    def begin(self, intent):
        intents.begin(self.api_db, self.cell, self.ctxt, intent)

    def row(self):
        return self.db.read(instances.find, self.server)

    def test_a_host_that_is_heard_of_again_meanwhile(self):
        """No trace is left of an evacuation from a host that is up when it begins."""
        self.db.write(services.beat, ['host-1'], services.COMPUTE, 'compute')
        intent = self.intent(down={'host': 'host-1', 'down_time_s': 60})
        self.assertRaises(services.ServiceIsUp, self.begin, intent)
        self.assertIsNone(self.row().task_state)
        self.assertEqual([], self.api_db.read(sagas.every))
        service = self.db.read(services.find, 'host-1')
        self.db.write(services.update, service.uuid, {'forced_down': True})
        self.begin(intent)
        self.assertEqual('resize_prep', self.row().task_state)

    def test_evacuation_ends_what_the_host_was_doing(self):
        start = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        self.db.write(instances.force, self.server, {'task_state': 'powering-on'})
        self.db.write(actions.start, start, self.server, 'start')
        event = 'compute_start_instance'
        self.db.write(actions.start_event, self.server, start.request_id, event, host='host-1')
        intent = self.intent()
        intent.order = intents.order(transitions.EVACUATE, 'evacuate')
        self.begin(intent)
        self.assertEqual('rebuilding', self.row().task_state)
        asked = self.db.read(actions.find, self.server, start.request_id, 'start')
        (found,) = self.db.read(actions.events_of, [asked.id])[asked.id]
        self.assertEqual(('Error', 'Interrupted by evacuate.'), (found.result, found.details))
        # What the host reports afterwards changes nothing.
        self.db.write(actions.finish_event, self.server, start.request_id, event, host='host-1')
        self.assertEqual([found], self.db.read(actions.events_of, [asked.id])[asked.id])

    def test_begins(self):
        intent = self.intent(changes={'progress': 0})
        self.begin(intent)
        self.assertEqual('resize_prep', self.row().task_state)
        row = self.api_db.read(sagas.get, intent.uuid)
        self.assertEqual(self.cell.uuid, row.arguments['cell'])
        self.assertEqual(intent.order, moves.Order.from_dict(row.arguments['order']))
        found = self.db.read(actions.find, self.server, self.ctxt.request_id, 'resize')
        self.assertEqual('u', found.user_id)

    def test_states_that_forbid_it_leave_nothing(self):
        self.db.write(instances.force, self.server, {'vm_state': 'suspended'})
        intent = self.intent()
        self.assertRaises(exception.StateChanged, self.begin, intent)
        self.assertRaises(exception.SagaNotFound, self.api_db.read, sagas.get, intent.uuid)
        self.assertIsNone(self.db.read(actions.find_newest, self.server))

    def test_second_intent_is_refused_at_once(self):
        self.begin(self.intent())
        self.assertRaises(exception.StateChanged, self.begin, self.intent())
        self.assertEqual(1, len(self.api_db.read(sagas.every)))

    def test_waits_for_a_saga_that_has_all_but_ended(self):
        first = self.intent()
        self.begin(first)
        self.db.write(instances.force, self.server, {'task_state': None})
        second = self.intent()
        self.ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        with runtime.install(
            Passing(
                lambda: self.api_db.write(
                    rows.change, sagas.TABLE, {'active_for': None}, uuid=first.uuid
                )
            )
        ):
            self.begin(second)
        self.assertEqual('resize_prep', self.row().task_state)

    def test_does_not_wait_for_ever(self):
        self.begin(self.intent())
        self.db.write(instances.force, self.server, {'task_state': None})
        with runtime.install(Passing()):
            self.assertRaises(exception.Conflict, self.begin, self.intent())

    def test_host_that_changes_while_it_waits(self):
        first = self.intent()
        self.begin(first)

        def moved():
            self.db.write(instances.update, self.server, {'host': 'host-2'})
            self.api_db.write(rows.change, sagas.TABLE, {'active_for': None}, uuid=first.uuid)

        self.db.write(instances.force, self.server, {'task_state': None})
        self.ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        second = self.intent(host='host-1')
        with runtime.install(Passing(moved)):
            self.assertRaises(exception.StateChanged, self.begin, second)
        self.assertIsNone(self.row().task_state)
        self.assertRaises(exception.SagaNotFound, self.api_db.read, sagas.get, second.uuid)

    def test_host_must_be_the_one_that_was_looked_at(self):
        for found, seen in (('host-2', 'host-1'), (None, 'host-1'), ('host-1', None)):
            self.db.write(instances.update, self.server, {'host': found})
            self.assertRaises(exception.StateChanged, self.begin, self.intent(host=seen))
        self.assertEqual([], self.api_db.read(sagas.every))
        self.db.write(instances.update, self.server, {'host': None})
        self.begin(self.intent(host=None))

    def test_waits_as_long_as_it_has_patience(self):
        first, waited = self.intent(), []
        self.begin(first)
        self.db.write(instances.force, self.server, {'task_state': None})
        self.ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        passing = Passing()
        began = passing.monotonic()

        def look():
            waited.append(passing.monotonic() - began)
            if waited[-1] > 20:
                self.api_db.write(rows.change, sagas.TABLE, {'active_for': None}, uuid=first.uuid)

        passing.meanwhile = look
        second = self.intent()
        second.timeout_s = 30
        with runtime.install(passing):
            self.begin(second)
        self.assertEqual('resize_prep', self.row().task_state)
        self.assertGreater(waited[-1], 20)
        # It looks less often the longer it takes.
        self.assertLess(len(waited), 100)

    def test_claims_a_migration(self):
        migration = runtime.new_uuid()
        values = {
            'uuid': migration,
            'instance_uuid': self.server,
            'migration_type': 'resize',
            'status': 'finished',
        }
        self.db.write(migrations.create, values)
        claims = {'uuid': migration, 'from': ['finished'], 'to': 'confirming'}
        self.begin(self.intent(claims=claims))
        self.assertEqual('confirming', self.db.read(migrations.get, migration).status)

    def test_claim_that_comes_too_late_changes_nothing(self):
        claims = {'uuid': runtime.new_uuid(), 'from': ['finished'], 'to': 'confirming'}
        self.assertRaises(exception.StateChanged, self.begin, self.intent(claims=claims))
        self.assertIsNone(self.row().task_state)
        self.assertEqual([], self.api_db.read(sagas.every))

    def test_transaction_is_made_once(self):
        intent = self.intent()
        first = self.db.write(moves.begin, self.ctxt, self.server, intent.order)
        again = self.db.write(moves.begin, self.ctxt, self.server, intent.order)
        self.assertEqual((True, False), (first, again))

    def test_who_took_it_up_keeps_it(self):
        intent = self.intent()
        self.db.write(instances.force, self.server, {'vm_state': 'suspended'})
        journal = sagas.Journal(self.api_db)
        write = self.cell.db.write

        def taken_up(function, *args, **kwargs):
            journal.acquire(intent.uuid, 'someone', 15)
            return write(function, *args, **kwargs)

        self.cell.db = types.SimpleNamespace(write=taken_up, read=self.db.read)
        self.assertRaises(exception.StateChanged, self.begin, intent)
        self.assertEqual('someone', self.api_db.read(sagas.get, intent.uuid).owner)

    def test_without_an_answer_the_saga_finds_out(self):
        intent = self.intent()

        def lost(function, *args, **kwargs):
            self.db.write(function, *args, **kwargs)
            raise exception.Unavailable(service='The database', reason='gone')

        self.cell.db = types.SimpleNamespace(write=lost, read=self.db.read)
        self.assertRaises(exception.Unavailable, self.begin, intent)
        self.assertEqual(intent.uuid, self.api_db.read(sagas.get, intent.uuid).uuid)

    def late(self, intent, meanwhile):
        """Begin, with `meanwhile` between the saga's row and the transaction of the cell."""

        def after_it(function, *args, **kwargs):
            self.db.write(meanwhile)
            return self.db.write(function, *args, **kwargs)

        self.cell.db = types.SimpleNamespace(write=after_it, read=self.db.read)
        self.begin(intent)

    def ended(self, intent, **columns):
        """Return a transaction of the cell with the records of a saga that another has ended."""

        def act(connection):
            epochs.hold(connection, intent.uuid, 1)
            self.api_db.write(rows.change, sagas.TABLE, columns, uuid=intent.uuid)

        return act

    def test_who_comes_after_the_end_of_the_saga_changes_nothing(self):
        """The task that the late request would set would never be cleared."""
        intent = self.intent()

        ended = self.ended(intent, direction='undo', state='undone')
        self.assertRaises(exception.Conflict, self.late, intent, ended)
        self.assertIsNone(self.row().task_state)
        self.assertIsNone(self.db.read(actions.find_newest, self.server))

    def test_who_comes_after_the_saga_has_taken_the_server_away_is_content(self):
        """A revert between cells leaves nothing in the cell from which it was asked for."""
        intent = self.intent()

        self.late(intent, self.ended(intent, active_for=None, state='done'))
        self.assertIsNone(self.row().task_state)
        self.assertIsNone(self.db.read(actions.find_newest, self.server))

    def test_who_comes_after_the_saga_has_begun_is_content(self):
        intent = self.intent()

        def begun(connection):
            epochs.hold(connection, intent.uuid, 1)
            moves.begin(connection, self.ctxt, self.server, intent.order)

        self.late(intent, begun)
        self.assertEqual('resize_prep', self.row().task_state)
