"""Plans: a saga that another release has begun with other steps is not run."""

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

    def test_a_plan_follows_what_steps_find(self):
        self.kind = Finding
        self.begin()
        self.assertEqual('more', self.record().data[step.PLAN]['steps'][-1])
        self.clock.advance(31)
        self.assertEqual('done', self.run_to_end())
        self.assertIn(('more', 'do'), self.world.log)

    def test_of_a_release_that_kept_none(self):
        self.begin()
        data = {name: value for name, value in self.record().data.items() if name != step.PLAN}
        self.database.write(rows.change, sagas.TABLE, {'data': data}, uuid=self.uuid)
        self.clock.advance(31)
        self.assertEqual('done', self.run_to_end())


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
