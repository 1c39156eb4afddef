"""The saga engine over the real journal: failures at every step, leases, waits."""

import sqlalchemy
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.saga import engine
from nova_lite.saga import journal
from nova_lite.saga import retries
from nova_lite.saga import run
from tests.fixtures import clock
from tests.fixtures import database


class World:
    """The objects that the toy saga changes: three switches, and orders to fail."""

    def __init__(self):
        self.on = set()
        self.log = []
        self.fail = {}
        self.wait = 0

    def effect(self, name, verb):
        order = self.fail.get((name, verb))
        if order and order[0] == 'before':
            raise order[1]
        (self.on.add if verb == 'do' else self.on.discard)(name)
        self.log.append((name, verb))
        if order and order[0] == 'after':
            raise order[1]


SECOND = saga.Result('second', str, secret=True)


class Toy(saga.Saga):
    """Three switches on; the second waits; after the third there is no way back."""

    kind = 'toy'

    def steps(self):
        return (
            saga.Step('first', self.do('first'), undo=self.undo('first')),
            saga.Step(SECOND, self.second, undo=self.undo('second')),
            saga.Step('third', self.do('third'), undo=self.undo('third'), pivot=True),
            saga.Step('fourth', self.do('fourth')),
        )

    def do(self, name):
        return lambda: self.world.effect(name, 'do')

    def undo(self, name):
        return lambda: self.world.effect(name, 'undo')

    def second(self):
        if self.world.wait:
            self.world.wait -= 1
            return saga.Pending(wake_in=5, detail='not yet')
        self.world.effect('second', 'do')
        return 'a secret'


STEPS = ('first', 'second', 'third', 'fourth')


class EngineTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.database = self.useFixture(database.ApiDatabase(threads=16)).database
        self.journal = sagas.Journal(self.database)
        self.world = World()
        self.uuid = runtime.new_uuid()
        self.server = runtime.new_uuid()
        self.create(self.uuid)

    def create(self, uuid):
        self.database.write(
            sagas.create,
            context.admin(),
            uuid=uuid,
            kind='toy',
            instance_uuid=self.server,
            arguments={},
        )

    def engine(self, owner='one'):
        made = engine.Engine(
            self.journal,
            lambda record: self.make_saga(Toy, record),
            owner=owner,
        )
        self.addCleanup(made.stop)
        return made

    def make_saga(self, kind, record):
        return kind(self.world, record, context.RequestContext.from_wire(record.context))

    def record(self):
        return self.database.read(sagas.get, self.uuid)

    def run_to_end(self, owner='one', attempts=50):
        """Run, advancing the clock over waits, until the saga has ended."""
        for _attempt in range(attempts):
            state = self.engine(owner).run(self.uuid)
            if state in journal.ENDED:
                return state
            self.clock.advance(31)
        self.fail('the saga did not end')


class EngineTest(EngineTestCase):
    def test_runs_every_step_once(self):
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual([(name, 'do') for name in STEPS], self.world.log)
        self.assertIsNone(self.record().active_for)

    def test_secrets_leave_the_journal_at_the_end(self):
        refused = ('before', exception.Invalid(reason='a test says so'))
        for fail, state in (({}, 'done'), ({('third', 'do'): refused}, 'undone')):
            self.uuid, self.server = runtime.new_uuid(), runtime.new_uuid()
            self.create(self.uuid)
            self.world = World()
            self.world.fail = fail
            self.assertEqual(state, self.run_to_end())
            self.assertNotIn('second', self.record().data)

    def test_secrets_are_in_the_journal_until_then(self):
        self.world.fail = {('third', 'do'): ('before', exception.Unavailable(service='a'))}
        self.engine().run(self.uuid)
        self.assertEqual('a secret', self.record().data['second'])

    def test_a_second_intent_that_was_not_seen_is_refused(self):
        """Neither of two requests sees the other's saga; the unique key tells the later."""
        self.patch(sagas.rows, 'find', lambda *_args, **_where: None)
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())

    def test_waits_without_a_thread(self):
        self.world.wait = 2
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.assertIsNone(self.engine().run(self.uuid), 'woken before its time')
        self.clock.advance(5)
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.clock.advance(5)
        self.assertEqual('done', self.engine().run(self.uuid))
        waits = [e for e in self.database.read(sagas.events, self.uuid) if e.what == 'waits']
        self.assertEqual(1, len(waits))

    def test_undoes_newest_first_with_the_failed_step(self):
        for position, name in enumerate(STEPS[:3]):
            for moment in ('before', 'after'):
                with self.subTest(step=name, fails=moment):
                    self.uuid, self.server = runtime.new_uuid(), runtime.new_uuid()
                    self.create(self.uuid)
                    self.world = World()
                    self.world.fail[name, 'do'] = (moment, exception.Conflict(reason='no'))
                    self.assertEqual('undone', self.run_to_end())
                    self.assertEqual(set(), self.world.on)
                    undone = [n for n, verb in self.world.log if verb == 'undo']
                    self.assertEqual(list(reversed(STEPS[: position + 1])), undone)
                    self.assertEqual('Conflict: no', self.record().error['message'])
                    self.assertIsNone(self.record().active_for)

    def test_repeats_a_pivot_whose_commit_failed_in_unknown_words(self):
        """It may have taken place: undoing would destroy what the records name by now."""
        shutdown = sqlalchemy.exc.OperationalError('COMMIT', {}, Exception('in progress'))
        self.world.fail['third', 'do'] = ('after', shutdown)
        for _attempt in range(retries.MANY_ATTEMPTS + 2):
            self.assertEqual('parked', self.engine().run(self.uuid))
            self.clock.advance(run.LONGEST_DEFECT_PAUSE_S + 1)
        self.assertEqual({'first', 'second', 'third'}, self.world.on)
        self.world.fail.clear()
        self.assertEqual('done', self.run_to_end())
        self.assertNotIn('undo', [verb for _name, verb in self.world.log])

    def test_undoes_a_step_before_the_pivot_that_failed_in_unknown_words(self):
        self.world.fail['second', 'do'] = ('after', ValueError('a defect'))
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(set(), self.world.on)

    def test_goes_on_after_the_pivot(self):
        self.world.fail['fourth', 'do'] = ('before', exception.Conflict(reason='no'))
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.assertEqual({'first', 'second', 'third'}, self.world.on)
        self.world.fail.clear()
        self.assertEqual('done', self.run_to_end())

    def test_lets_go_before_it_is_woken(self):
        """Else an alarm that rings at once finds the saga taken, and is lost."""
        self.world.wait = 1
        made, later = self.engine(), 99

        def ring(waiting, seconds):
            self.assertNotIn(waiting.uuid, made._held)
            made._held[waiting.uuid] = later

        self.patch(made, 'alarm', ring)
        self.assertEqual('parked', made.run(self.uuid))
        self.assertEqual({self.uuid: later}, made._held, 'the next run lost its lease')

    def test_the_clock_outlives_any_error_of_the_journal(self):
        made = self.engine()

        def fail(*_args):
            raise ValueError('no such column')

        self.patch(self.journal, 'renew', fail)
        made._renew({self.uuid: 1})

    def test_repeats_a_step_whose_reply_was_lost(self):
        lost = exception.MessagingTimeout(service='c', reason='r', method='m', topic='t')
        self.world.fail['first', 'do'] = ('after', lost)
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.world.fail.clear()
        self.assertEqual('done', self.run_to_end())

    def test_gives_up_on_a_service_that_never_answers(self):
        down = exception.Unavailable(service='placement', reason='down')
        self.world.fail['second', 'do'] = ('before', down)
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(set(), self.world.on)

    def test_an_undo_that_fails_does_not_stop_the_others(self):
        self.world.fail['third', 'do'] = ('after', exception.Conflict(reason='first error'))
        self.world.fail['second', 'undo'] = ('before', exception.Conflict(reason='second'))
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual({'second'}, self.world.on)
        self.assertEqual('Conflict: first error', self.record().error['message'])

    def test_a_dead_owner_is_taken_over_when_its_lease_ends(self):
        dead = self.journal.acquire(self.uuid, 'dead', 15)
        self.assertIsNone(self.engine('two').run(self.uuid))
        self.clock.advance(16)
        self.assertEqual([self.uuid], self.journal.due(10))
        self.assertEqual('done', self.engine('two').run(self.uuid))
        self.assertRaises(
            journal.LostLease,
            self.journal.advance,
            dead,
            [journal.Note('done', 'first')],
            position=1,
            data={},
            direction='forward',
        )
        self.assertIn('taken over', [e.what for e in self.database.read(sagas.events, self.uuid)])

    def test_a_zombie_stops_at_its_next_word(self):
        zombie = self.engine('zombie')

        def paused():
            self.clock.advance(16)
            self.assertEqual('done', self.engine('two').run(self.uuid))
            return self.world.effect('first', 'do')

        class Slow(Toy):
            def steps(self):
                return (saga.Step('first', paused), *super().steps()[1:])

        zombie.make_saga = lambda record: self.make_saga(Slow, record)
        self.assertIsNone(zombie.run(self.uuid))
        self.assertEqual('done', self.record().state)
        self.assertEqual(2, self.world.log.count(('first', 'do')))
        self.assertEqual(1, self.world.log.count(('second', 'do')))

    def test_a_zombie_is_told_before_a_neighbour_changes_something(self):
        zombie = self.engine('zombie')

        def paused(ctxt):
            ctxt.guard()
            self.world.effect('first', 'do')
            self.clock.advance(16)
            self.assertEqual('done', self.engine('two').run(self.uuid))
            ctxt.guard()
            self.world.effect('first', 'undo')

        class Slow(Toy):
            def steps(self):
                return (saga.Step('first', lambda: paused(self.ctxt)), *super().steps()[1:])

        zombie.make_saga = lambda record: self.make_saga(Slow, record)
        self.assertIsNone(zombie.run(self.uuid))
        self.assertEqual(2, self.world.log.count(('first', 'do')))
        self.assertNotIn(('first', 'undo'), self.world.log)

    def test_one_saga_for_a_server_at_a_time(self):
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())
        self.engine().run(self.uuid)
        self.create(runtime.new_uuid())

    def test_the_journal_keeps_no_token(self):
        self.assertNotIn('auth_token', self.record().context)

    def test_abandoned_tells_nobody(self):
        """As after a kill: the saga stays with the dead one until its lease ends."""
        dead = self.engine('dead')

        def killed():
            dead.abandon()
            return self.world.effect('second', 'do')

        class Killed(Toy):
            def steps(self):
                first, _second, *others = super().steps()
                return (first, saga.Step('second', killed), *others)

        dead.make_saga = lambda record: self.make_saga(Killed, record)
        self.assertIsNone(dead.run(self.uuid))
        record = self.record()
        self.assertEqual(('running', 'dead', 'first'), (record.state, record.owner, record.step))
        self.assertIsNone(self.engine('two').run(self.uuid))
        self.clock.advance(16)
        self.assertEqual('done', self.engine('two').run(self.uuid))
        self.assertEqual(2, self.world.log.count(('second', 'do')))
        told = [event.what for event in self.database.read(sagas.events, self.uuid)]
        self.assertEqual(1, told.count('taken over'))
