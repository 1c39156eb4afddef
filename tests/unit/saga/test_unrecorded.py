"""Steps whose end is recorded with that of a later one, and those that are skipped."""

import dataclasses

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.saga import journal
from nova_lite.saga import step as step_module
from tests.unit.saga import test_engine

NAMES = ('first', 'second', 'third', 'pivot', 'fifth', 'sixth')
REFUSED = exception.Invalid(reason='a test says so')


class Grouped(test_engine.Toy):
    """The ends of the first two steps are recorded with that of the third, unless it is skipped."""

    def steps(self):
        made = {
            'first': {'later': True},
            'second': {'later': True},
            'third': {},
            'pivot': {'pivot': True},
            'fifth': {'later': True},
            'sixth': {},
        }
        return [
            saga.Step(
                name,
                lambda name=name: self.acts(name),
                undo=self.undo(name) if name in NAMES[:3] else None,
                **options,
            )
            for name, options in made.items()
        ]

    def acts(self, name):
        self.world.effect(name, 'do')
        if name == 'first' and self.world.wait and self.repeated:
            self.world.wait -= 1
            return saga.Pending(wake_in=1)
        return None


class Skipping(Grouped):
    """The third step has nothing to do."""

    def steps(self):
        return [
            dataclasses.replace(step, do=saga.Skipped, skips=True) if step.id == 'third' else step
            for step in super().steps()
        ]


class UnrecordedTestCase(test_engine.EngineTestCase):
    kind = Grouped

    def make_saga(self, kind, record):
        return super().make_saga(self.kind, record)

    def dies(self, name):
        """Make the first owner of the saga die after a step."""
        self.world.fail = {(name, 'do'): ('after', journal.LostLease(name))}
        self.assertIsNone(self.engine().run(self.uuid))
        self.world.fail, self.world.log = {}, []
        self.clock.advance(60)

    def waits(self, name):
        """Make the saga wait at a step."""
        self.world.fail = {(name, 'do'): ('before', exception.Unavailable(service='x'))}
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.world.fail = {}
        self.clock.advance(1)

    def positions(self):
        """Return a list to which the positions that are recorded are added."""
        found, write = [], self.journal.advance

        def advance(record, notes, *, position, **more):
            found.append(position)
            write(record, notes, position=position, **more)

        self.patch(self.journal, 'advance', advance)
        return found

    def recorded(self):
        """Return the steps whose ends are in the journal, in order."""
        events = self.database.read(sagas.events, self.uuid)
        return [event.step for event in events if event.what == 'done' and event.step]

    def log_of(self, verb):
        return [name for name, what in self.world.log if what == verb]


class UnrecordedTest(UnrecordedTestCase):
    def test_one_record_for_several_steps(self):
        found = self.positions()
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual([3, 4], found)

    def test_all_steps_are_in_the_story(self):
        self.engine().run(self.uuid)
        self.assertEqual(list(NAMES), self.recorded())
        events = self.database.read(sagas.events, self.uuid)
        self.assertEqual(sorted(event.at for event in events), [event.at for event in events])

    def test_who_takes_over_repeats_them(self):
        self.dies('second')
        self.assertEqual('done', self.run_to_end('two'))
        self.assertEqual(list(NAMES), self.log_of('do'))

    def test_a_repetition_that_fails(self):
        """All steps that may have begun are undone."""
        self.dies('third')
        self.world.fail = {('first', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(['third', 'second', 'first'], self.log_of('undo'))
        self.assertEqual(set(), self.world.on)
        self.assertNotIn(step_module.BEGUN, self.record().data[step_module.PLAN])

    def test_a_repetition_that_is_never_answered(self):
        """All steps that may have begun are undone, by the next owner."""
        self.dies('third')
        self.world.fail = {('first', 'do'): ('before', exception.Unavailable(service='x'))}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(['third', 'second', 'first'], self.log_of('undo'))
        self.assertEqual(set(), self.world.on)

    def test_a_repetition_that_fails_after_a_wait(self):
        self.dies('third')
        self.world.wait = 1
        self.assertEqual('parked', self.engine('two').run(self.uuid))
        self.world.fail = {('first', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(set(), self.world.on)

    def test_a_takeover_after_a_wait(self):
        """Steps after a wait are not on record before it, so one step is recorded at once."""
        self.waits('first')
        self.dies('third')
        self.world.fail = {('second', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(['third', 'second', 'first'], self.log_of('undo'))
        self.assertEqual(set(), self.world.on)

    def test_a_release_that_repeats_no_later_steps(self):
        """It compares whole plans, and so parks a saga of which it would not undo all."""
        plan = {'version': 1, 'steps': [*NAMES]}
        self.waits('first')
        self.assertEqual(plan, self.record().data[step_module.PLAN])
        self.dies('second')
        self.assertEqual({**plan, 'begun': 'third'}, self.record().data[step_module.PLAN])

    def test_a_failure_after_a_wait(self):
        """Steps that have not begun before or after the wait are not undone."""
        self.waits('first')
        self.world.fail = {('second', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(['second', 'first'], self.log_of('undo'))

    def test_a_failure_without_a_takeover(self):
        """Steps that have not begun are not undone."""
        self.world.fail = {('second', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(['second', 'first'], self.log_of('undo'))

    def test_after_the_pivot(self):
        self.dies('sixth')
        self.assertEqual('done', self.run_to_end('two'))
        self.assertEqual(['fifth', 'sixth'], self.log_of('do'))

    def test_a_wait_records_what_has_ended(self):
        self.waits('second')
        record = self.record()
        self.assertEqual((1, 'first'), (record.position, record.step))


class Replanning(Grouped):
    """A saga whose first step adds one to those that may be recorded later."""

    def steps(self):
        first, *others = super().steps()
        if 'first' not in self.data:
            return [first, *others]
        undo = self.undo('added')
        added = saga.Step('added', lambda: self.acts('added'), undo=undo, later=True)
        return [first, added, *others]

    def acts(self, name):
        return super().acts(name) or (True if name == 'first' else None)


class ReplanningTest(UnrecordedTestCase):
    kind = Replanning

    def test_a_step_that_changes_the_plan_is_recorded_at_once(self):
        found = self.positions()
        self.assertEqual('done', self.engine().run(self.uuid))
        self.assertEqual([1, 4, 5], found)

    def test_who_takes_over_undoes_what_was_added(self):
        self.dies('third')
        self.world.fail = {('added', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(['third', 'second', 'added', 'first'], self.log_of('undo'))
        self.assertEqual(set(), self.world.on)


class Latter(Grouped):
    """A step before them is recorded at once."""

    def steps(self):
        return [saga.Step('zeroth', lambda: None), *super().steps()]


class Former(Latter):
    """The same in a former release, which records the second step at once, too."""

    def steps(self):
        return [
            dataclasses.replace(step, later=False) if step.id == 'second' else step
            for step in super().steps()
        ]


class FormerTest(UnrecordedTestCase):
    def test_a_takeover_that_would_repeat_more_steps(self):
        """The ends that the former release would have recorded earlier are recorded earlier."""
        self.kind = Former
        self.dies('second')
        self.kind = Latter
        self.dies('third')
        self.world.fail = {(name, 'do'): ('before', REFUSED) for name in NAMES}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(set(), self.world.on)


class SkippedTest(UnrecordedTest):
    """The same when a step is skipped before the pivot: that is recorded before the pivot."""

    kind = Skipping

    def test_all_steps_are_in_the_story(self):
        self.engine().run(self.uuid)
        self.assertEqual([name for name in NAMES if name != 'third'], self.recorded())

    def test_who_takes_over_repeats_them(self):
        self.dies('second')
        self.assertEqual('done', self.run_to_end('two'))
        self.assertEqual([name for name in NAMES if name != 'third'], self.log_of('do'))

    def test_a_repetition_that_fails(self):
        self.dies('second')
        self.world.fail = {('first', 'do'): ('before', REFUSED)}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(set(), self.world.on)

    test_a_repetition_that_fails_after_a_wait = test_a_takeover_after_a_wait = None
    test_a_repetition_that_is_never_answered = None


class SkippingFirst(Grouped):
    """The first step has nothing to do in the end."""

    def steps(self):
        first, *others = super().steps()
        skips = {'do': lambda: self.acts('first') or saga.Skipped(), 'skips': True, 'later': False}
        return [dataclasses.replace(first, **skips), *others]


class SkippedFirstTest(UnrecordedTest):
    kind = SkippingFirst

    def test_all_steps_are_in_the_story(self):
        self.engine().run(self.uuid)
        self.assertEqual([*NAMES[1:]], self.recorded())

    test_a_wait_records_what_has_ended = None


class SkippedAtTheEnd(Grouped):
    """The last step has nothing to do."""

    def steps(self):
        *plan, last = super().steps()
        return [*plan, dataclasses.replace(last, do=saga.Skipped, skips=True)]


class SkippedAtTheEndTest(test_engine.EngineTestCase):
    def make_saga(self, _kind, record):
        return super().make_saga(SkippedAtTheEnd, record)

    def test_what_is_not_recorded_yet(self):
        self.assertEqual('done', self.engine().run(self.uuid))
        events = self.database.read(sagas.events, self.uuid)
        self.assertIn('fifth', [event.step for event in events])
        self.assertEqual(len(NAMES), self.record().position)


class Undeclared(Skipping):
    """The third step has nothing to do, and does not declare that."""

    def steps(self):
        return [dataclasses.replace(step, skips=False) for step in super().steps()]


class UndeclaredTest(UnrecordedTest):
    """A step that is skipped without declaring it is recorded."""

    kind = Undeclared
    test_who_takes_over_repeats_them = test_a_repetition_that_fails = None
    test_a_repetition_that_fails_after_a_wait = test_a_takeover_after_a_wait = None
    test_a_repetition_that_is_never_answered = None
