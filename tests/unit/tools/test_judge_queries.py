"""Queries to placement that nova's are compared with."""

import contextlib
import io

import testtools

from tools import judge_queries

SIZES = [['limit', '1000'], ['resources', 'VCPU:2,DISK_GB:1,MEMORY_MB:128']]


def _pair(**specs):
    named = {key.replace('_', ':', 1): value for key, value in specs.items()}
    sizes = {'vcpus': 2, 'memory_mb': 128}
    return {'check': 'create', **sizes, 'extra_specs': named, 'properties': {}}


def _report(pair, answer):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        return judge_queries.report([pair], [answer]), printed.getvalue()


class ReportTest(testtools.TestCase):
    def test_alike(self):
        self.assertEqual(0, _report(_pair(), [SIZES, SIZES])[0])
        self.assertEqual(0, _report(_pair(os_secure_boot='x'), 'Invalid')[0])
        # Both refuse at once.
        code, printed = _report(_pair(hw_numa_nodes='3'), None)
        self.assertEqual((0, '1 pairs, 0 accepted'), (code, printed[:19]))

    def test_differences(self):
        fewer = [['limit', '1000'], ['resources', 'DISK_GB:1,MEMORY_MB:128']]
        code, printed = _report(_pair(), [SIZES, fewer])
        self.assertEqual(1, code)
        self.assertIn("nova alone: []; here alone: [('resources', 'VCPU:2')]", printed)
        self.assertEqual(1, _report(_pair(), 'Invalid')[0])
