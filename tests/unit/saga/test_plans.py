"""Plans: a saga that another release has begun is run by the steps that it was begun with."""

import dataclasses
import logging

import fixtures
import testscenarios

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.api import saga_counts
from nova_lite.db.api import sagas
from nova_lite.saga import journal
from nova_lite.saga import retries
from nova_lite.saga import step
from nova_lite.saga import values
from tests.unit.saga import test_engine

DOWN = exception.Unavailable(service='volume', reason='down')


class Renamed(test_engine.Toy):
    """A later release: what was the third step is called otherwise."""

    def steps(self):
        first, second, third, fourth = super().steps()
        renamed = saga.Step('last chance', third.do, undo=third.undo, pivot=True)
        return first, second, renamed, fourth


class Longer(test_engine.Toy):
    """A later release, which has a step more before each step, and one more at the end."""

    def steps(self):
        more = [saga.Step(f'more-{n}', self.do(f'more-{n}')) for n in range(5)]
        found = [step for pair in zip(more, super().steps(), strict=False) for step in pair]
        return (*found, more[-1])


class Newer(test_engine.Toy):
    """The same steps under another version: what they do is not the same."""

    version = 2


class Flavored(saga.Value):
    flavor: str


class Given(test_engine.Toy):
    """The same steps, of what must be given something."""

    arguments: Flavored


class Leaving(test_engine.Toy):
    """The same steps; what the first one leaves has a kind."""

    def steps(self):
        first, *others = super().steps()
        return (dataclasses.replace(first, id=saga.Result('first', Flavored)), *others)


class Mistaken(Leaving):
    """The first step leaves something else."""

    def steps(self):
        first, *others = super().steps()
        return (dataclasses.replace(first, do=lambda: {'flavr': 'small'}), *others)


class Finding(test_engine.Toy):
    """A saga whose first step decides which steps follow."""

    def first(self):
        self.data['found'] = True
        return self.world.effect('first', 'do')

    def steps(self):
        first, *others = super().steps()
        found = (saga.Step('more', self.do('more')),) if self.data.get('found') else ()
        return (saga.Step('first', self.first, undo=first.undo), *others, *found)


class PlansCase(test_engine.EngineTestCase):
    kind = test_engine.Toy

    def engine(self, owner='one'):
        made = super().engine(owner)
        made.make_saga = lambda record: self.make_saga(self.kind, record)
        return made

    def begin(self):
        """Run until the second step waits."""
        self.world.wait = 1
        self.assertEqual(journal.PARKED, self.engine().run(self.uuid))

    def failing(self):
        return sum(count for *_what, count in self.database.read(saga_counts.failing))

    def events(self):
        return [event.what for event in self.database.read(sagas.events, self.uuid)]


class PlansTest(PlansCase):
    def test_is_kept(self):
        self.begin()
        expected = {'version': 1, 'steps': [*test_engine.STEPS]}
        self.assertEqual(expected, self.record().data[step.PLAN])

    def test_counts_no_attempt_of_the_time_aside(self):
        """A service that does not answer once is asked again, as if nothing had been."""
        self.begin()
        self.kind = Renamed
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.engine('new').run(self.uuid)
        self.kind = test_engine.Toy
        self.world.fail['second', 'do'] = ('before', DOWN)
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.engine().run(self.uuid)
        self.assertEqual((journal.PARKED, 1), (self.record().state, self.record().attempts))
        del self.world.fail['second', 'do']
        self.assertEqual('done', self.run_to_end())

    def take_over(self):
        """Take a saga over by a release that has more steps; return how it ended."""
        self.begin()
        self.kind = Longer
        self.clock.advance(31)
        ended = self.run_to_end('new')
        self.assertEqual([*test_engine.STEPS], self.record().data[step.PLAN]['steps'])
        self.assertEqual(0, self.failing())
        return ended

    def test_ends_without_steps_that_were_added_since(self):
        self.assertEqual('done', self.take_over())
        self.assertEqual([(name, 'do') for name in test_engine.STEPS], self.world.log)

    def test_is_undone_without_steps_that_were_added_since(self):
        self.world.fail['third', 'do'] = ('before', exception.NoValidHost(reason='full'))
        self.assertEqual('undone', self.take_over())
        self.assertEqual({'first', 'second', 'third'}, {name for name, _verb in self.world.log})
        self.assertEqual(set(), self.world.on)

    def test_what_begins_now_has_them(self):
        self.kind = Longer
        self.assertEqual('done', self.run_to_end())
        self.assertIn(('more-4', 'do'), self.world.log)

    def test_a_former_release_does_not_run_the_longer_plan(self):
        self.kind = Longer
        self.begin()
        self.kind = test_engine.Toy
        self.clock.advance(31)
        self.engine().run(self.uuid)
        self.assertEqual(('unknown', 1), (self.events()[-1], self.failing()))

    def test_a_plan_follows_what_steps_find(self):
        self.kind = Finding
        self.begin()
        self.assertEqual('more', self.record().data[step.PLAN]['steps'][-1])
        self.clock.advance(31)
        self.assertEqual('done', self.run_to_end())
        self.assertIn(('more', 'do'), self.world.log)


class ResultsTest(PlansCase):
    kind = Leaving

    def leave(self, value):
        data = {**self.record().data, 'first': value}
        self.database.write(rows.change, sagas.TABLE, {'data': data}, uuid=self.uuid)

    def test_of_another_release(self):
        self.begin()
        for value in ({'flavor': 'small', values.VERSION: 2}, {'flavr': 'small'}):
            self.leave(value)
            self.clock.advance(retries.LONGEST_WAIT_S)
            self.assertEqual(journal.PARKED, self.engine('new').run(self.uuid))
        self.assertEqual(('unknown', 1), (self.events()[-1], self.failing()))
        self.leave({'flavor': 'small'})
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.assertEqual('done', self.run_to_end())


class MistakenTest(PlansCase):
    kind = Mistaken

    def test_a_step_that_leaves_something_else_fails(self):
        self.useFixture(fixtures.FakeLogger())
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual('UnknownPlan', self.record().error['type'])
        self.assertNotIn('first', self.record().data)


class OtherStepsTest(testscenarios.WithScenarios, PlansCase):
    scenarios = [
        ('names', {'other': Renamed}),
        ('version', {'other': Newer}),
        ('arguments', {'other': Given}),
    ]

    def test_is_not_run(self):
        self.begin()
        self.kind, before = self.other, list(self.world.log)
        log = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))
        for _attempt in range(2):
            self.clock.advance(retries.LONGEST_WAIT_S)
            self.assertEqual(journal.PARKED, self.engine('new').run(self.uuid))
        self.assertEqual(before, self.world.log)
        self.assertIn('was started by another release', log.output)
        self.assertEqual(1, self.events().count('unknown'))
        self.assertEqual(1, self.failing())
        self.kind = test_engine.Toy
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(0, self.failing())
        self.assertNotIn(step.ASIDE, self.record().data)
