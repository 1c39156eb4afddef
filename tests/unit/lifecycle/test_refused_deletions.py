"""Deletions without a host that a neighbour refuses: how long audits repeat them."""

import testtools

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.lifecycle import refused_deletions
from tests.fixtures import cell
from tests.fixtures import clock


class RefusedDeletionsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(cell.Cell())
        self.server = self.cell.boot()
        self.refused = refused_deletions.RefusedDeletions()

    def ask(self):
        self.cell.ask(self.server, 'delete', 'deleting')

    def attempt(self):
        db, row = self.cell.db, self.cell.row(self.server)
        with self.refused.ending(db.write, row, read=db.read):
            raise exception.Conflict(reason='it is in use')

    def test_a_refusal_is_repeated_for_some_time(self):
        self.ask()
        for _ in range(2):
            self.assertRaises(exception.Conflict, self.attempt)
            self.clock.advance(refused_deletions.REPEATED_S / 2)
        self.attempt()
        self.assertEqual(('error', None), self.cell.state(self.server)[:2])
        self.assertIn('it is in use', self.cell.fault(self.server))

    def test_a_second_deletion_has_a_time_of_its_own(self):
        """An administrator has reset the state of the server after the first one."""
        self.ask()
        self.assertRaises(exception.Conflict, self.attempt)
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        self.clock.advance(refused_deletions.REPEATED_S)
        self.ask()
        self.assertRaises(exception.Conflict, self.attempt)
        self.clock.advance(refused_deletions.REPEATED_S)
        self.attempt()
        self.assertEqual(('error', None), self.cell.state(self.server)[:2])
