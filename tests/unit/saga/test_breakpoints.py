"""Sagas stop where a debugger says so, and go on from there in any super-conductor."""

import math

from nova_lite import exception
from nova_lite.db.api import breakpoints as rows
from nova_lite.db.api import sagas
from nova_lite.saga import breakpoints
from nova_lite.saga import retries
from tests.unit.saga import test_engine

LEASE_S = 16


class Debugger:
    """Stops sagas before these steps, and has these lost."""

    def __init__(self, *steps):
        self.steps, self.killed = list(steps), set()

    def find(self, _saga, step):
        return self.steps.index(step) if step in self.steps else None

    def kills(self, uuid):
        found = uuid in self.killed
        self.killed.discard(uuid)
        return found


class BreakpointsTest(test_engine.EngineTestCase):
    def setUp(self):
        super().setUp()
        self.debugger = Debugger()
        self.one = self.debugged('one')

    def debugged(self, owner):
        made = self.engine(owner)
        made.debugger = self.debugger
        return made

    def stopped(self):
        """Return the step before which the saga is stopped, None if it is not."""
        mark = breakpoints.stopped(self.record().data)
        return mark and breakpoints.place(mark)

    def go(self, how=breakpoints.GO, by=None):
        self.assertTrue(self.database.write(rows.go_on, self.uuid, how))
        return (by or self.one).run(self.uuid)

    def events(self):
        found = self.database.read(sagas.events, self.uuid)
        return [(event.what, event.step) for event in found if event.step]

    def test_stops_before_a_step(self):
        self.debugger.steps = ['third']
        self.assertEqual('parked', self.one.run(self.uuid))
        self.assertEqual('before third', self.stopped())
        self.assertEqual({'first', 'second'}, self.world.on)
        self.assertEqual((None, None), (self.record().owner, self.record().lease_until))
        self.assertEqual('done', self.go())
        self.assertEqual(
            [
                ('done', 'first'),
                ('done', 'second'),
                ('stopped', 'third'),
                ('continued', 'third'),
                ('done', 'third'),
                ('done', 'fourth'),
            ],
            self.events(),
        )

    def test_stays_stopped_for_every_super_conductor(self):
        """Also when the breakpoint is gone, and however often it is looked at."""
        self.debugger.steps = ['first']
        self.one.run(self.uuid)
        self.debugger.steps = []
        self.clock.advance(retries.LONGEST_WAIT_S)
        for owner in ('two', 'three'):
            self.assertEqual('parked', self.debugged(owner).run(self.uuid))
            self.clock.advance(retries.LONGEST_WAIT_S)
        self.assertEqual([('stopped', 'first')], self.events())
        self.assertEqual('done', self.go(by=self.debugged('four')))

    def test_single_steps(self):
        self.debugger.steps = ['first']
        self.one.run(self.uuid)
        for name in test_engine.STEPS[1:]:
            self.assertEqual('parked', self.go(breakpoints.STEP))
            self.assertEqual(f'before {name}', self.stopped())
        self.assertEqual('done', self.go(breakpoints.STEP))

    def test_a_step_that_waits_is_one_step(self):
        self.world.wait = 2
        self.debugger.steps = ['second']
        self.one.run(self.uuid)
        self.assertEqual('parked', self.go(breakpoints.STEP))
        self.assertIsNone(self.stopped())
        self.clock.advance(5)
        self.debugged('two').run(self.uuid)
        self.assertIsNone(self.stopped())
        self.clock.advance(5)
        self.one.run(self.uuid)
        self.assertEqual('before third', self.stopped())

    def test_one_that_has_begun_does_not_stop_there(self):
        self.world.wait = 1
        self.one.run(self.uuid)
        self.debugger.steps = ['second', 'fourth']
        self.clock.advance(5)
        self.one.run(self.uuid)
        self.assertEqual('before fourth', self.stopped())

    def test_stops_before_an_undo(self):
        self.world.fail = {('third', 'do'): ('before', exception.Invalid(reason='a test'))}
        self.debugger.steps = ['second']
        self.one.run(self.uuid)
        self.go()
        self.assertEqual('before undo of second', self.stopped())
        self.go(breakpoints.STEP)
        self.assertEqual('before undo of first', self.stopped())
        self.assertEqual({'first'}, self.world.on)
        self.assertEqual('undone', self.go())

    def test_lost_there(self):
        self.debugger.steps = ['third', 'fourth']
        self.one.run(self.uuid)
        self.debugger.killed = {self.uuid}
        before = self.events()
        self.assertIsNone(self.go())
        lost = self.record()
        self.assertEqual(('running', 'one'), (lost.state, lost.owner))
        self.assertEqual([*before, ('continued', 'third')], self.events())
        self.assertNotIn('third', self.world.on)
        self.assertEqual([], self.one._ring(math.inf), 'it would take the saga up itself')
        # Its lease holds.
        two = self.debugged('two')
        self.assertIsNone(two.run(self.uuid))
        self.clock.advance(LEASE_S)
        # Who has lost it is dead.
        self.one.submit(self.uuid)
        self.assertEqual('parked', two.run(self.uuid))
        self.assertEqual('before fourth', self.stopped())
        self.assertIn(('taken over', 'second'), self.events())
        # Later the first may have it again.
        self.assertEqual('done', self.go())

    def test_a_super_conductor_without_a_debugger(self):
        self.debugger.steps = ['third']
        self.one.run(self.uuid)
        self.clock.advance(retries.LONGEST_WAIT_S)
        self.assertEqual('done', self.engine('two').run(self.uuid))
        self.assertNotIn(breakpoints.MARK, self.record().data)

    def test_only_what_is_stopped_goes_on(self):
        self.assertFalse(self.database.write(rows.go_on, self.uuid, breakpoints.GO))
        self.debugger.steps = ['second']
        self.one.run(self.uuid)
        self.assertEqual([self.uuid], [row.uuid for row in self.database.read(rows.stopped)])
        self.assertTrue(self.database.write(rows.go_on, self.uuid, breakpoints.GO))
        self.assertFalse(self.database.write(rows.go_on, self.uuid, breakpoints.GO))
        self.assertEqual([], self.database.read(rows.stopped))


class RowsTest(test_engine.EngineTestCase):
    def test_rows(self):
        self.assertEqual([], self.database.read(rows.every))
        first = self.database.write(rows.add, instance_uuid=self.server, kind=None, step='a')
        again = self.database.write(rows.add, instance_uuid=self.server, kind=None, step='a')
        other = self.database.write(rows.add, instance_uuid=None, kind='toy', step='a')
        self.assertEqual((first, [first, other]), (again, self.database.read(rows.every)))
        self.database.write(rows.remove, other.id)
        later = self.database.write(rows.add, instance_uuid=None, kind='toy', step='b')
        self.assertEqual([1, 3], [first.id, later.id])
