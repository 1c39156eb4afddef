"""The differences of two scheduling decisions."""

import contextlib
import copy
import io

import testtools

from nova_lite.lab.console import decision_differences

HOSTS = [
    {
        'host': 'a',
        'stage': 'chosen',
        'reason': '',
        'weight': 2.0,
        'weights': {'RAM': 1.0, 'CPU': 1.0},
    },
    {
        'host': 'b',
        'stage': 'passed',
        'reason': 'others were better',
        'weight': 1.0,
        'weights': {'RAM': 1.0},
    },
    {'host': 'c', 'stage': 'placement', 'reason': 'has 0 VCPU left', 'weight': None, 'weights': {}},
]
DECISION = {
    'instance_uuid': 'one',
    'request_id': 'req-1',
    'at': '2026-11-30T12:00:00+00:00',
    'chosen': 'a',
    'alternates': ['b'],
    'error': None,
    'request_filters': [['compute_status_filter', 'forbids a trait']],
    'queries': ['limit=1000&resources=VCPU:1'],
    'hosts': HOSTS,
    'more': 0,
}


class DifferencesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.other = {**copy.deepcopy(DECISION), 'instance_uuid': 'two', 'request_id': 'req-2'}

    def find(self):
        return decision_differences.find(DECISION, self.other)

    def text(self, found):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            decision_differences.show(found)
        return out.getvalue()

    def test_none(self):
        """Servers, requests, times and small parts of weights are not compared."""
        self.other['hosts'][0]['weights']['RAM'] += 1e-9
        found = self.find()
        self.assertTrue(found['same'])
        self.assertEqual(([], 3), (found['hosts'], found['alike']))
        self.assertEqual('two', found['b']['instance_uuid'])
        self.assertIn('The decisions do not differ.', self.text(found))

    def test_a_part_of_the_hosts(self):
        self.other['more'] = 7
        self.assertIn('The compared hosts do not differ.', self.text(self.find()))

    def test_hosts(self):
        first, second, third = self.other['hosts']
        self.other['chosen'] = 'b'
        first |= {'stage': 'passed', 'reason': 'others were better', 'weight': 1.5}
        first['weights'] = {'RAM': 0.5, 'CPU': 1.0}
        second |= {'stage': 'chosen', 'reason': ''}
        third['host'] = 'd'
        found = self.find()
        self.assertFalse(found['same'])
        self.assertEqual(['a', 'b', 'c', 'd'], [each['host'] for each in found['hosts']])
        self.assertIsNone(found['hosts'][2]['b'])
        text = self.text(found)
        rows = [
            [cell.strip() for cell in line.strip('|').split('|')]
            for line in text.splitlines()
            if line.startswith('|')
        ]
        self.assertEqual(
            [
                ['host', 'difference', 'A', 'B'],
                ['a', 'stage', 'chosen', 'passed: others were better'],
                ['a', 'weight', '+2.000', '+1.500'],
                ['a', 'RAM', '+1.000', '+0.500'],
                ['b', 'stage', 'passed: others were better', 'chosen'],
                ['c', 'host', 'placement: has 0 VCPU left', '-'],
                ['d', 'host', '-', 'placement: has 0 VCPU left'],
            ],
            rows,
        )

    def test_requests(self):
        self.other['request_filters'] = []
        self.other['queries'] = ['limit=1000&resources=VCPU:2']
        found = self.find()
        self.assertFalse(found['same'])
        self.assertEqual(
            [{'name': 'compute_status_filter', 'a': 'forbids a trait', 'b': None}],
            found['request_filters'],
        )
        text = self.text(found)
        for words in (
            'request filter compute_status_filter',
            'resources=VCPU:2',
            '3 hosts without',
        ):
            self.assertIn(words, text)

    def test_results(self):
        self.other |= {'chosen': None, 'error': 'No valid host was found.', 'more': 5}
        found = self.find()
        self.assertFalse(found['same'])
        text = self.text(found)
        for words in ('chosen: none', 'No valid host was found.', '5 more hosts not compared'):
            self.assertIn(words, text)
