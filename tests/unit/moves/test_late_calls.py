"""Calls of hosts that arrive after the saga has undone their effect."""

import functools

from nova_lite import exception
from nova_lite.saga import journal
from tests.unit.moves import test_device_duties


class Delayed:
    """The computes: the first attachment is called later, from `late`, and its host is silent."""

    def __init__(self, compute, late, silence):
        self._compute, self._late, self._silence = compute, late, silence

    def __getattr__(self, name):
        return getattr(self._compute, name)

    def attach_volume(self, *args, **kwargs):
        self._late.append(functools.partial(self._compute.attach_volume, *args, **kwargs))
        self._silence()
        raise exception.Unavailable(service='compute', reason='no reply')


class AttachmentTest(test_device_duties.LostHostCase):
    def test_it_comes_after_a_detachment_whose_reply_was_lost(self):
        """The host refuses its epoch, which is older than that of the duty.

        So the detachment may be repeated under the same key, which gives the former result.
        """
        late = []
        made = self.attach_volume()
        self.record(made)
        self.world.compute = lambda cell: Delayed(self.cell.answers, late, self.force_down)
        self.run_until(made, journal.CLEANING)
        lost = exception.MessagingTimeout(
            service='compute', reason='no reply', method='detach_volume', topic='compute'
        )
        self.answer('detach_volume', lost, after=True)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertRaises(exception.StaleEpoch, late.pop())
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertNotIn(self.new, self.plugged())
