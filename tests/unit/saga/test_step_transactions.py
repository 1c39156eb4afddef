"""Steps whose effect is a part of the transaction that records their end."""

import dataclasses

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from tests.unit.saga import test_engine

THIRD = saga.Result('third', str)
DID = 'did'


class Joined(test_engine.Toy):
    """The pivot and the last step are transactions of the journal's database.

    The second step is recorded with the pivot. Each transaction adds an event.
    """

    def steps(self):
        first, _second, third, fourth = super().steps()
        return (
            first,
            saga.Step('second', self.do('second'), undo=self.undo('second'), later=True),
            dataclasses.replace(
                third, id=THIRD, do=saga.nothing, transaction=self.write('third', 'a result')
            ),
            dataclasses.replace(fourth, do=saga.nothing, transaction=self.write('fourth')),
        )

    def write(self, name, result=None):
        def write(connection):
            note = journal.Note(DID, name)
            sagas.add_event(connection, self.uuid, 'a test', self.epoch, note)
            self.world.effect(name, 'do')
            return result

        return write


class Owing(Joined):
    """The second step leaves a duty."""

    def steps(self):
        first, second, *others = super().steps()
        clean = saga.Clean(lambda: self.world.effect('cleaned', 'do'))
        return (first, dataclasses.replace(second, do=self.owe, clean=clean), *others)

    def owe(self):
        step = self.steps()[1]
        cleaning.add(self, step, {'message': 'a test says so'})


class StepTransactionsTest(test_engine.EngineTestCase):
    kind = Joined

    def make_saga(self, _kind, record):
        return super().make_saga(self.kind, record)

    def events(self, what):
        found = self.database.read(sagas.events, self.uuid)
        return [event.step for event in found if event.what == what and event.step]

    def committed(self, *, lost=None):
        """Return a list of the functions of transactions to which each that commits is added.

        lost: number of the transaction whose COMMIT is not answered
        """
        found, write = [], self.database.write

        def counted(function, *args, **kwargs):
            result = write(function, *args, **kwargs)
            found.append(function.__name__)
            if len(found) == lost:
                raise exception.Unavailable(service='x', reason='y', may_have_committed=True)
            return result

        self.patch(self.database, 'write', counted)
        return found

    def test_record_and_effect_are_one_transaction(self):
        found = self.committed()
        self.assertEqual('done', self.engine().run(self.uuid))
        # After the first step, with the pivot, and with the end of the saga.
        self.assertEqual(['_acquire', *['_change'] * 3], found)
        self.assertEqual([*test_engine.STEPS], self.events('done'))
        self.assertEqual(['third', 'fourth'], self.events(DID))
        self.assertEqual('a result', self.record().data[THIRD])

    def test_a_failure_changes_nothing(self):
        self.world.fail['third', 'do'] = ('after', exception.Conflict(reason='no'))
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual([], self.events(DID))
        self.assertEqual(set(), self.world.on)
        self.assertNotIn(THIRD, self.record().data)

    def test_a_failure_after_the_pivot(self):
        self.world.fail['fourth', 'do'] = ('after', exception.Conflict(reason='no'))
        for _attempt in range(3):
            self.assertEqual('parked', self.engine().run(self.uuid))
            self.clock.advance(31)
        self.assertEqual((3, 3), (self.record().position, self.record().attempts))
        self.assertEqual(['third'], self.events(DID))
        self.world.fail.clear()
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(['third', 'fourth'], self.events(DID))

    def test_a_commit_that_is_not_answered(self):
        """The transaction is made again, which changes nothing, and nothing is undone."""
        self.committed(lost=3)
        self.assertEqual('parked', self.engine().run(self.uuid))
        self.assertEqual(2, self.record().position)
        self.assertNotIn(THIRD, self.record().data)
        self.assertEqual('done', self.run_to_end())
        self.assertNotIn('undo', [verb for _name, verb in self.world.log])

    def test_a_last_commit_that_is_not_answered(self):
        self.committed(lost=4)
        self.assertIsNone(self.engine().run(self.uuid))
        self.assertEqual('done', self.record().state)
        self.assertEqual(['third', 'fourth'], self.events(DID))

    def test_who_was_taken_over_changes_nothing(self):
        zombie, other = self.engine('zombie'), self.engine('two')
        test = self

        class Slow(Joined):
            def steps(self):
                first, second, third, fourth = super().steps()
                return (first, second, dataclasses.replace(third, do=self.sleep), fourth)

            def sleep(self):
                test.clock.advance(16)
                test.assertEqual('done', other.run(self.uuid))

        other.make_saga = lambda record: Joined(self.world, record, context.admin())
        self.kind = Slow
        self.assertIsNone(zombie.run(self.uuid))
        self.assertEqual(['third', 'fourth'], self.events(DID))

    def test_a_saga_that_is_taken_over_before_its_pivot(self):
        self.world.fail['third', 'do'] = ('after', journal.LostLease('x'))
        self.assertIsNone(self.engine().run(self.uuid))
        self.assertEqual(1, self.record().position)
        self.clock.advance(16)
        self.world.fail = {('second', 'do'): ('before', exception.Invalid(reason='no'))}
        self.assertEqual('undone', self.run_to_end('two'))
        self.assertEqual(set(), self.world.on - {'third'})
        self.assertEqual([], self.events(DID))

    def test_a_saga_with_duties(self):
        self.kind = Owing
        self.assertEqual('cleaning', self.engine().run(self.uuid))
        self.assertEqual(['third', 'fourth'], self.events(DID))
        self.assertIsNone(self.record().active_for)
        self.assertEqual('done', self.run_to_end())
        self.assertIn('cleaned', self.world.on)


class StepTest(testtools.TestCase):
    def test_a_transaction_is_not_recorded_later(self):
        """A step that is recorded later has no transaction of its own: the effect would be lost."""
        given = {'do': saga.nothing, 'transaction': lambda connection: None, 'later': True}
        error = self.assertRaises(ValueError, saga.Step, 'a-step', **given)
        self.assertIn('a-step', str(error))
