"""Sagas that a former release has begun, whose steps had names of several words."""

import types

from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.saga import breakpoints
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import renaming
from nova_lite.saga import step
from tests.unit.saga import test_engine
from tests.unit.saga import test_plans

TAKE = saga.Result('take-it', str)
NAMES = ('begin with it', 'take the thing', 'switch it over', 'end')


class Current(test_engine.Toy):
    """The steps with the ids of this release. The second asks for something by its key."""

    former_ids = {'take the thing': 'take-it'}

    def steps(self):
        do, undo = self.do, self.undo
        return (
            saga.Step('begin-with-it', do('first'), undo('first')),
            saga.Step(TAKE, self.second, undo('second')),
            saga.Step('switch-it-over', do('third'), undo('third'), pivot=True),
            saga.Step('end', do('fourth')),
        )

    def second(self):
        self.world.keys = [self.key(each) for each in (TAKE, 'take-it/part', 'undo take-it')]
        return super().second()


class Former(test_engine.Toy):
    """The same saga in the former release."""

    def steps(self):
        found = super().steps()
        return tuple(
            saga.Step(name, each.do, each.undo, pivot=each.pivot)
            for name, each in zip(NAMES, found, strict=True)
        )


class RenamingTest(test_plans.PlansCase):
    kind = Former

    def take_over(self):
        self.kind = Current
        self.clock.advance(31)
        self.assertEqual('done', self.run_to_end('new'))

    def test_is_finished(self):
        self.begin()
        self.assertEqual([*NAMES], self.record().data[step.PLAN]['steps'])
        self.take_over()
        self.assertEqual([(name, 'do') for name in test_engine.STEPS], self.world.log)
        self.assertEqual(0, self.failing())
        ids = [each.id for each in self.make_saga(Current, self.record()).steps()]
        self.assertEqual(ids, self.record().data[step.PLAN]['steps'])

    def test_far_sides_know_its_steps_by_their_former_names(self):
        self.begin()
        self.take_over()
        names = ('take the thing', 'take the thing/part', 'undo take the thing')
        self.assertEqual([f'{self.uuid}/{name}' for name in names], self.world.keys)

    def test_and_so_they_do_after_it_was_parked_here(self):
        self.begin()
        self.kind, self.world.wait = Current, 1
        self.clock.advance(31)
        self.assertEqual(journal.PARKED, self.engine('new').run(self.uuid))
        self.take_over()
        self.assertEqual(f'{self.uuid}/take the thing', self.world.keys[0])

    def test_of_a_release_without_plans(self):
        self.begin()
        self.database.write(rows.change, sagas.TABLE, {'data': {NAMES[0]: 1}}, uuid=self.uuid)
        self.kind = Current
        self.clock.advance(31)
        self.assertEqual(journal.PARKED, self.engine('new').run(self.uuid))
        self.assertEqual(1, self.failing())

    def test_a_saga_of_this_release_has_ids_in_its_keys(self):
        self.kind = Current
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(f'{self.uuid}/take-it', self.world.keys[0])
        self.assertNotIn(step.FORMER, self.record().data)


class DataTest(test_engine.EngineTestCase):
    def test_all_that_is_kept_by_step(self):
        name, known = 'take the thing', {'begin with it': 1}
        made = types.SimpleNamespace(
            former_ids=Current.former_ids,
            data={
                **known,
                name: 'it',
                step.TRIES: {name: 2},
                step.NOT_UNDONE: {name: {}},
                step.GO_BACK: 'begin with it',
                breakpoints.MARK: {'step': name, 'goes': None},
                step.PLAN: {'version': 1, 'steps': [*NAMES]},
                cleaning.HELD: {name: {'ports': ['a port']}},
                cleaning.CLEANED: [name],
                cleaning.DUTIES: [{'step': name, 'data': known, 'error': 'take the thing'}],
            },
        )
        renaming.rename(made)
        known, done = {'begin-with-it': 1}, ['begin-with-it', 'take-it', 'switch-it-over', 'end']
        expected = {
            **known,
            'take-it': 'it',
            step.TRIES: {'take-it': 2},
            step.NOT_UNDONE: {'take-it': {}},
            step.GO_BACK: 'begin-with-it',
            breakpoints.MARK: {'step': 'take-it', 'goes': None},
            step.PLAN: {'version': 1, 'steps': done},
            cleaning.HELD: {'take-it': {'ports': ['a port']}},
            cleaning.CLEANED: ['take-it'],
            cleaning.DUTIES: [{'step': 'take-it', 'data': known, 'error': 'take the thing'}],
            step.FORMER: dict(zip(done, NAMES, strict=True)),
        }
        self.assertEqual(expected, made.data)
