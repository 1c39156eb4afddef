"""Findings in a cloud at work: when they count."""

import math

import testtools

from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import settling

Finding = findings.Finding


class Snapshots:
    """A Reader whose snapshots hold the findings given, the last one for ever."""

    def __init__(self, *snapshots):
        self.snapshots = list(snapshots)

    def read(self, _ctxt):
        return self.snapshots.pop(0) if len(self.snapshots) > 1 else self.snapshots[0]


def stuck(what, detail='is stuck'):
    return Finding('I6', what, detail)


class LookTest(testtools.TestCase):
    def look(self, *snapshots):
        """(result, what is found, what is unsettled)"""
        verdict = settling.look(
            Snapshots(*snapshots),
            settle_s=0.3,
            check=lambda snapshot, ages: snapshot,
            explain=lambda snapshot, found: (found, ()),
        )
        return (
            verdict.result,
            [finding.what for finding in verdict.findings],
            [finding.what for finding in verdict.unsettled],
        )

    def test_a_clean_snapshot_ends_it(self):
        self.assertEqual(('consistent', [], []), self.look([stuck('a')], [], [stuck('b')]))

    def test_what_stays_is_found(self):
        self.assertEqual(('inconsistent', ['a'], []), self.look([stuck('a')]))

    def test_a_detail_that_changes_is_the_same_finding(self):
        found = self.look([stuck('a', 'on h1')], [stuck('a', 'on h2')], [stuck('a', 'on h1')])
        self.assertEqual(('inconsistent', ['a'], []), found)

    def test_inconsistency_that_wanders_is_unsettled(self):
        found = self.look([stuck('a')], [stuck('b')], [stuck('c')])
        self.assertEqual(('unsettled', [], ['c']), found)

    def test_what_comes_beside_what_stays_is_unsettled(self):
        found = self.look([stuck('a')], [stuck('a'), stuck('b')])
        self.assertEqual(('inconsistent', ['a'], ['b']), found)

    def test_a_double_run_counts_in_one_snapshot(self):
        double = Finding('I3', 'server s', 'runs on h1 and h2')
        self.assertEqual(('inconsistent', ['server s'], []), self.look([double], []))


class BoundsTest(testtools.TestCase):
    def test_of_a_stopped_cloud(self):
        """No age counts, and what was asked for is still looked at."""
        stopped = age_limits.AgeLimits(work=1, audit=1, power=1, limits=True).of_stopped()
        self.assertEqual(age_limits.AgeLimits(math.inf, math.inf, math.inf, limits=True), stopped)
