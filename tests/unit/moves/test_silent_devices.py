"""Sagas of devices that were accepted, and whose host is silent before it changes the guest."""

import datetime

import testscenarios

from nova_lite import runtime
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.saga import journal
from tests.unit.moves import test_device_duties

HOST = test_device_duties.HOST


class SilentTest(testscenarios.WithScenarios, test_device_duties.LostHostCase):
    """A host that falls silent after the answer is awaited, as a message to it would be."""

    scenarios = [
        (name.replace('_', ' '), {'name': name})
        for name in ('attach_volume', 'swap_volume', 'detach_volume', 'detach_interface')
    ]

    def hear(self, *, ago):
        service = self.cell.db.read(services.find, HOST)
        seen = runtime.naive_now() - datetime.timedelta(seconds=ago)
        self.cell.db.write(services.update, service.uuid, {'last_seen_up': seen})

    def begun(self):
        """The saga, which has tried in vain to change the guest."""
        made = getattr(self, self.name)()
        self.record(made)
        self.hear(ago=1000)
        self.assertEqual(journal.PARKED, self.attempt(made))
        self.assertEqual(1, self.journal_row(made).attempts)
        return made

    def test_it_reports_again(self):
        made = self.begun()
        self.hear(ago=0)
        self.assertEqual(journal.DONE, self.run_until(made, *journal.ENDED))

    def test_it_stays_silent(self):
        made = self.begun()
        self.run_until(made, journal.CLEANING)
        self.hear(ago=0)
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertFalse(self.is_reserved())

    def test_it_is_forced_down(self):
        made = self.begun()
        self.force_down()
        self.assertEqual(journal.CLEANING, self.attempt(made))

    def test_an_evacuation_waits(self):
        made = self.begun()
        self.cell.db.write(instances.force, self.server, {'task_state': 'rebuilding'})
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertIsNone(self.journal_row(made).active_for)
