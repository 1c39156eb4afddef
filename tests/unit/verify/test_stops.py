"""Findings explained by a saga that a debugger has stopped."""

from nova_lite.saga import breakpoints
from nova_lite.verify import findings
from nova_lite.verify import stops
from tests.unit.verify import base

SAGA, SERVER = 'saga a saga (resize)', f'server {base.SERVER}'


class StopsTest(base.VerifyTest):
    def explained(self, *found, goes=None):
        """(what is kept, what is explained but that the saga is stopped)"""
        mark = breakpoints.Mark(step='s', direction='undo', number=1, goes=goes)
        self.snapshot.sagas = [base.saga(data={breakpoints.MARK: mark})]
        kept, explained = stops.explain(self.snapshot, found)
        if goes is None:
            stopped, *explained = explained
            self.assertEqual(SAGA, stopped.what)
            self.assertIn(f'of {SERVER} is stopped before undo of s; ', stopped.detail)
        return kept, explained

    def test_age_and_records(self):
        found = [
            findings.Finding('I2', SERVER, 'has a visible record in each of two cells'),
            findings.Finding('I6', SERVER, 'is resize_prep for too long'),
            findings.Finding('I6', SAGA, 'has not ended'),
        ]
        self.assertEqual(([], found), self.explained(*found))
        self.assertEqual((found, []), self.explained(*found, goes=breakpoints.GO))

    def test_defects_of_the_same_server(self):
        found = [
            findings.Finding('I1', SERVER, 'has no record'),
            findings.Finding('I3', SERVER, 'runs on two hosts'),
            findings.Finding('I4', f'allocations of {base.SERVER}', 'differ'),
            findings.Finding('I5', SERVER, 'has no guest'),
            findings.Finding('I6', 'saga another (shelve)', f'of {SERVER} has not cleaned up'),
            findings.Finding('I9', SERVER, 'is active on no host'),
            findings.Finding('I11', SERVER, 'does not count in quotas'),
        ]
        self.assertEqual((found, []), self.explained(*found))
