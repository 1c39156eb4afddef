"""The policy of retries: pauses, and what is logged of failures."""

import logging

import testtools

from nova_lite import exception
from nova_lite.saga import retries

KNOWN, DEFECT = exception.Unavailable(service='x', reason='y'), ZeroDivisionError()


class RetriesTest(testtools.TestCase):
    def test_pauses_double_up_to_the_longest(self):
        found = [retries.pause_s(attempts, 0.5, 3) for attempts in range(5)]
        self.assertEqual([0.5, 1, 2, 3, 3], found)
        self.assertEqual(3, retries.pause_s(5000, 0.5, 3))

    def test_many_failures_are_an_error(self):
        levels = [retries.level(attempts) for attempts in (1, retries.MANY_ATTEMPTS)]
        self.assertEqual([logging.WARNING, logging.ERROR], levels)

    def test_only_tracebacks_of_defects_are_logged_and_not_each(self):
        logged = [n for n in range(1, 18) if retries.exc_info(DEFECT, n)]
        self.assertEqual([1, 2, 4, 8, 16], logged)
        self.assertIsNone(retries.exc_info(KNOWN, 1))
