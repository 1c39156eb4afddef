"""Sagas that fail and leave effects, as `Saga.leave_at` says."""

from nova_lite import exception
from nova_lite import saga
from nova_lite.saga import cleaning
from nova_lite.saga import step
from tests.unit.saga import test_engine

REFUSED = ('after', exception.Invalid(reason='a test says so'))


class Leaving(test_engine.Toy):
    """Leaves the effect of its second step. The last step may be given up."""

    def steps(self):
        *steps, _last = super().steps()
        clean = saga.Clean(self.do('cleaned'))
        last = {'attempts': 3, 'best_effort': True, 'clean': clean}
        return (*steps, saga.Step('fourth', self.do('fourth'), **last))

    def leave_at(self, failed, error):
        self.world.log.append((failed.id, 'leave?'))
        return saga.Leave('kept', ('second', 'third')) if self.world.leaves else None


class LeavingTest(test_engine.EngineTestCase):
    def setUp(self):
        super().setUp()
        self.world.leaves = True

    def make_saga(self, _kind, record):
        return super().make_saga(Leaving, record)

    def fails(self, name, error=REFUSED, state='undone'):
        self.world.fail = {(name, 'do'): error}
        self.assertEqual(state, self.run_to_end())
        return self.record().data.get(step.LEFT_AS)

    def test_effects_stay(self):
        """The effects of the failed step and of an earlier one stay; the first is undone."""
        left = self.fails('third')
        self.assertEqual({'name': 'kept', 'step': 'third', 'keeps': ['second', 'third']}, left)
        self.assertEqual({'second', 'third'}, self.world.on)
        self.assertIn(('first', 'undo'), self.world.log)
        self.assertIsNone(self.record().active_for)

    def test_all_is_undone_without(self):
        self.world.leaves = False
        self.assertIsNone(self.fails('third'))
        self.assertEqual(set(), self.world.on)

    def test_another_engine_goes_on(self):
        """The undo of the first step does not answer, and another engine repeats it."""
        unavailable = ('before', exception.Unavailable(service='a'))
        self.world.fail = {('third', 'do'): REFUSED, ('first', 'undo'): unavailable}
        self.engine().run(self.uuid)
        self.world.fail = {}
        self.clock.advance(31)
        self.assertEqual('undone', self.engine('two').run(self.uuid))
        self.assertEqual({'second', 'third'}, self.world.on)
        self.assertEqual(1, self.world.log.count(('third', 'leave?')))

    def test_a_step_after_the_pivot_is_given_up_at_once(self):
        left = self.fails('fourth', state='done')
        self.assertEqual('fourth', left['step'])
        self.assertEqual(1, self.world.log.count(('fourth', 'do')))
        self.assertNotIn(cleaning.DUTIES, self.record().data)

    def test_a_step_after_the_pivot_is_repeated_without(self):
        self.world.leaves = False
        self.world.fail = {('fourth', 'do'): REFUSED}
        self.run_to_end_or_cleaning()
        self.assertEqual(3, self.world.log.count(('fourth', 'do')))

    def run_to_end_or_cleaning(self):
        for _attempt in range(5):
            self.engine().run(self.uuid)
            self.clock.advance(31)
        self.assertIn(('cleaned', 'do'), self.world.log)

    def test_an_outage_is_not_left(self):
        self.world.fail = {('second', 'do'): ('before', exception.Unavailable(service='a'))}
        self.engine().run(self.uuid)
        self.assertNotIn(('second', 'leave?'), self.world.log)
