"""Pairs of a flavor and an image that nova judges."""

import contextlib
import io

import testtools

from tools import judge_guests
from tools.comparison import guest_pairs


def _pair(check='create', **specs):
    return {
        'check': check,
        'vcpus': 2,
        'memory_mb': 128,
        'extra_specs': {key.replace('_', ':', 1): value for key, value in specs.items()},
        'properties': {},
    }


def _report(pairs, verdicts):
    with contextlib.redirect_stdout(io.StringIO()):
        return judge_guests.report(pairs, verdicts)


class PairsTest(testtools.TestCase):
    def test_each_key_at_each_check_and_groups(self):
        found = judge_guests.chosen(4000, seed=1)
        self.assertEqual(found, judge_guests.chosen(4000, seed=1))
        alone = {(p['check'], *p['extra_specs'], *p['properties']) for p in found}
        for check in guest_pairs.CHECKS:
            for key in guest_pairs.BOTH:
                self.assertIn((check, f'hw:{key}'), alone)
                self.assertIn((check, f'hw_{key}'), alone)
        sizes = {len(p['extra_specs']) + len(p['properties']) for p in found}
        self.assertEqual({1, 2, 3, 4, 5, 6}, sizes)


class ReportTest(testtools.TestCase):
    def test_differences(self):
        three, none = _pair(hw_numa_nodes='3'), {'kind': None, 'reason': None}
        refused = {'kind': 'ImageNUMATopologyAsymmetric', 'reason': '...'}
        self.assertEqual(0, _report([three, _pair()], [refused, none]))
        self.assertEqual(1, _report([three], [none]))
        self.assertEqual(1, _report([_pair()], [refused]))

    def test_explained(self):
        alias = {'pci_passthrough:alias': 'gpu'}
        failed = {'kind': '*ValueError', 'reason': '...'}
        pair = {**_pair(), 'extra_specs': alias}
        self.assertEqual(0, _report([pair], [failed]))
        # A rebuild keeps the flavor, whose devices are not checked again.
        kept, none = {**pair, 'check': 'rebuild'}, {'kind': None, 'reason': None}
        self.assertEqual(0, _report([kept], [none]))
