"""Ctrl-C during a study."""

import signal

import testtools

from nova_lite.lab.console import interrupts
from nova_lite.lab.replay import command


class InterruptsTest(testtools.TestCase):
    def test_the_first_is_noted_and_the_second_ends(self):
        before = [signal.getsignal(number) for number in interrupts.SIGNALS]
        with command.noted() as is_interrupted:
            self.assertFalse(is_interrupted())
            signal.raise_signal(signal.SIGTERM)
            self.assertTrue(is_interrupted())
            self.assertRaises(KeyboardInterrupt, signal.raise_signal, signal.SIGINT)
        self.assertEqual(before, [signal.getsignal(number) for number in interrupts.SIGNALS])
