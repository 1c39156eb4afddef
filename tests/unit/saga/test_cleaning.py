"""Sagas that could not clean up: their servers are free, and cleaning continues."""

import fixtures

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.api import saga_counts
from nova_lite.db.api import sagas
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import retries
from tests.unit.saga import test_engine

GONE = exception.CellMappingNotFound(cell='a uuid')
DOWN = exception.Unavailable(service='volume', reason='down')


class Messy(test_engine.Toy):
    """The fourth step, and the undo of the second, may be left for later."""

    alone = False

    def steps(self):
        first, second, third, _fourth = super().steps()
        clean = saga.Clean(self.clean, alone=self.alone)
        return (
            first,
            saga.Step('second', second.do, undo=second.undo, clean=clean),
            third,
            saga.Step('fourth', self.do('fourth'), attempts=2, best_effort=True, clean=clean),
        )

    def clean(self):
        self.world.effect('mess', 'clean')


class Alone(Messy):
    alone = True


class Slow(Alone):
    """Its duty takes as long as the world says."""

    def clean(self):
        self.world.keys.append(self.key('fourth/clean'))
        if self.world.wait:
            self.world.wait -= 1
            return saga.Pending(wake_in=2, keeps=True)
        return super().clean()


class CleaningTest(test_engine.EngineTestCase):
    kind = Messy

    def engine(self, owner='one'):
        made = super().engine(owner)
        made.make_saga = lambda record: self.make_saga(self.kind, record)
        return made

    def end_dirty(self):
        """Run until only the duty is left to be done, with the service still silent."""
        self.world.fail['fourth', 'do'] = ('before', DOWN)
        self.world.fail['mess', 'clean'] = ('before', DOWN)
        for _attempt in range(retries.MANY_ATTEMPTS + 3):
            if self.engine().run(self.uuid) == journal.CLEANING:
                return
            self.clock.advance(31)
        self.fail('it does not clean')

    def cleaned(self):
        return self.world.log.count(('mess', 'clean'))

    def test_with_other_steps_is_not_cleaned(self):
        """Another release has begun it; see test_plans."""
        self.end_dirty()
        self.kind = type('Newer', (Messy,), {'version': 2})
        self.world.fail.clear()
        for _attempt in range(2):
            self.clock.advance(retries.LONGEST_WAIT_S)
            self.engine('new').run(self.uuid)
        self.assertEqual(journal.CLEANING, self.record().state)
        self.assertEqual(0, self.cleaned())
        self.kind = Messy
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(1, self.cleaned())

    def test_the_server_is_free_and_the_saga_goes_on(self):
        self.end_dirty()
        record = self.record()
        self.assertEqual(('cleaning', None), (record.state, record.active_for))
        self.assertEqual(journal.DONE, journal.outcome(record))
        self.create(runtime.new_uuid())
        self.world.fail.clear()
        self.clock.advance(31)
        self.assertEqual([self.uuid], [u for u in self.journal.due(9) if u == self.uuid])
        self.assertEqual('done', self.engine('two').run(self.uuid))
        self.assertEqual(1, self.cleaned())
        self.assertIsNone(self.engine().run(self.uuid))

    def test_the_journal_names_what_was_cleaned_up(self):
        self.end_dirty()
        self.assertEqual([], self.record().data.get('_cleaned', []))
        self.world.fail.clear()
        self.clock.advance(31)
        self.assertEqual('done', self.engine().run(self.uuid))
        data = self.record().data
        self.assertEqual((['fourth'], ['fourth']), (list(data['_left']), data['_cleaned']))

    def test_what_was_not_undone(self):
        self.world.fail['third', 'do'] = ('before', exception.Conflict(reason='first error'))
        self.world.fail['second', 'undo'] = ('before', exception.Conflict(reason='second'))
        self.assertEqual('cleaning', self.engine().run(self.uuid))
        self.assertEqual(journal.UNDONE, journal.outcome(self.record()))
        self.clock.advance(31)
        self.assertEqual('undone', self.engine().run(self.uuid))
        self.assertEqual('Conflict: first error', self.record().error['message'])

    def notes(self):
        found = self.database.read(sagas.events, self.uuid)
        return [(note.what, note.step, note.detail) for note in found]

    def test_a_cell_that_is_not_mapped_any_more(self):
        """It may be mapped again, under another uuid."""
        self.end_dirty()
        self.world.fail['mess', 'clean'] = ('before', GONE)
        self.clock.advance(31)
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertIn(('left', 'fourth', GONE.message), self.notes())
        data = self.record().data
        self.assertEqual((['fourth'], []), (list(data['_gone']), data['_cleaned']))

    def test_undo_in_a_cell_that_is_not_mapped_any_more(self):
        """Its step has no duty, and does not break the server."""
        self.world.fail['third', 'do'] = ('before', exception.Conflict(reason='first error'))
        self.world.fail['second', 'undo'] = ('before', GONE)
        self.assertEqual('undone', self.engine().run(self.uuid))
        data = self.record().data
        self.assertEqual((['second'], None), (list(data['_gone']), data.get('_not_undone')))
        self.assertEqual({'second'}, self.world.on)

    def test_step_after_the_pivot_in_a_cell_that_is_not_mapped_any_more(self):
        self.world.fail['fourth', 'do'] = ('before', GONE)
        self.assertEqual('cleaning', self.engine().run(self.uuid))
        self.clock.advance(31)
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual(['fourth'], list(self.record().data['_left']))

    def test_pauses_grow_and_do_not_end(self):
        self.assertEqual([30, 60, 120], [cleaning.pause_s(n) for n in range(3)])
        self.assertEqual(600, cleaning.pause_s(5000))
        self.end_dirty()
        for attempts in range(11):
            self.clock.advance(cleaning.pause_s(attempts) - 1)
            self.assertIsNone(self.engine().run(self.uuid), 'before its time')
            self.clock.advance(2)
            self.assertEqual('cleaning', self.engine().run(self.uuid))

        labels = (self.record().kind, 'fourth', 'cleaning')
        self.assertEqual([(*labels, 1)], self.database.read(saga_counts.failing))

    def test_a_wait_for_another_saga_is_logged_once(self):
        self.kind = Alone
        self.end_dirty()
        self.create(runtime.new_uuid())
        self.world.fail.clear()
        logger = self.useFixture(fixtures.FakeLogger())
        for attempts in range(3):
            self.clock.advance(cleaning.pause_s(attempts) + 1)
            self.assertEqual('cleaning', self.engine().run(self.uuid))
        text = f'Saga {self.uuid} will clean up "fourth" of server'
        self.assertEqual(1, logger.output.count(text))
        self.assertIn('later: another saga has the server', logger.output)

    def test_the_server_of_another_saga_is_left_alone(self):
        self.kind = Alone
        self.end_dirty()
        other = runtime.new_uuid()
        self.create(other)
        self.world.fail.clear()
        self.clock.advance(31)
        self.assertEqual('cleaning', self.engine().run(self.uuid))
        self.assertEqual(0, self.cleaned())
        self.assertEqual('done', self.engine().run(other))
        self.clock.advance(61)
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual(1, self.cleaned())
        self.assertIsNone(self.record().active_for)

    def test_no_saga_begins_while_the_server_is_needed(self):
        self.kind = Alone
        self.end_dirty()
        self.world.fail.clear()
        self.patch(
            Alone,
            'clean',
            lambda _saga: self.assertRaises(exception.Conflict, self.create, runtime.new_uuid()),
        )
        self.clock.advance(31)
        self.assertEqual('done', self.engine().run(self.uuid))
        self.create(runtime.new_uuid())

    def test_who_dies_while_it_holds_the_server_is_taken_over(self):
        self.kind = Alone
        self.end_dirty()
        self.world.fail.clear()
        self.clock.advance(31)
        dead = self.journal.acquire(self.uuid, 'dead', 15)
        self.assertTrue(self.journal.hold_server(dead))
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())
        self.assertIsNone(self.engine('two').run(self.uuid))
        self.clock.advance(16)
        self.assertEqual('done', self.engine('two').run(self.uuid))
        self.assertRaises(journal.LostLease, self.journal.hold_server, dead)
        self.create(runtime.new_uuid())

    def end_slowly(self):
        """As `end_dirty`; then the duty is under way."""
        self.kind, self.world.keys = Slow, []
        self.end_dirty()
        self.world.fail.clear()
        self.world.wait = 2
        self.clock.advance(31)
        self.assertEqual('cleaning', self.engine().run(self.uuid))

    def test_no_saga_begins_while_a_duty_is_under_way(self):
        self.end_slowly()
        for state in ('cleaning', 'done'):
            self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())
            self.assertIsNone(self.engine().run(self.uuid), 'before its time')
            self.clock.advance(2.1)
            self.assertEqual(state, self.engine('two').run(self.uuid))
        self.create(runtime.new_uuid())
        self.assertEqual(1, len(set(self.world.keys)))

    def test_no_saga_begins_when_who_does_the_duty_dies(self):
        self.end_slowly()
        self.clock.advance(2.1)
        self.assertIsNotNone(self.journal.acquire(self.uuid, 'dead', 15))
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())
        self.clock.advance(16)
        self.assertEqual('cleaning', self.engine('two').run(self.uuid))
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())

    def test_a_stop_does_not_give_the_server_back(self):
        self.end_slowly()
        self.clock.advance(2.1)
        stopping, attempts = self.engine(), self.record().attempts
        stopping.stopping = True
        self.assertEqual('cleaning', stopping.run(self.uuid))
        self.assertRaises(exception.Conflict, self.create, runtime.new_uuid())
        self.assertEqual(attempts, self.record().attempts)
        self.assertEqual('cleaning', self.engine('two').run(self.uuid), 'at once')
        self.assertEqual(self.record().instance_uuid, self.record().active_for)

    def test_a_stop_keeps_no_server_for_a_duty_that_fails(self):
        self.kind = Alone
        self.end_dirty()
        self.clock.advance(31)
        stopping = self.engine()

        def fail(name, verb):
            stopping.stopping = True
            raise DOWN

        self.world.effect = fail
        self.assertEqual('cleaning', stopping.run(self.uuid))
        self.assertIsNone(self.record().active_for)
        self.create(runtime.new_uuid())

    def test_a_duty_that_fails_gives_the_server_back(self):
        """Far sides keep failures by key, so the next attempt has another key."""
        self.end_slowly()
        self.world.wait = 0
        self.world.fail['mess', 'clean'] = ('before', DOWN)
        self.clock.advance(2.1)
        self.assertEqual('cleaning', self.engine().run(self.uuid))
        self.assertIsNone(self.record().active_for)
        self.world.fail.clear()
        self.clock.advance(61)
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual(2, len(set(self.world.keys)))

    def test_the_first_step_is_undone_however_long_its_database_is_silent(self):
        self.world.fail['second', 'do'] = ('before', exception.Conflict(reason='no'))
        self.world.fail['first', 'undo'] = ('before', DOWN)
        for _attempt in range(2 * retries.MANY_ATTEMPTS):
            self.assertEqual('parked', self.engine().run(self.uuid))
            self.clock.advance(31)
        self.world.fail.clear()
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual({}, self.record().data.get('_not_undone', {}))

    def test_events_tell_of_it(self):
        self.end_dirty()
        self.world.fail.clear()
        self.clock.advance(31)
        self.engine().run(self.uuid)
        told = [event.what for event in self.database.read(sagas.events, self.uuid)]
        self.assertEqual(['left', 'cleaning', 'cleaned', 'done'], told[-4:])
