"""Samples of requests that nova's schemas judge."""

import testtools

from tools import judge_requests


def _sample(value, accepted, minor=1):
    return {
        'operation': 'GET /servers ',
        'kind': 'query',
        'minor': minor,
        'value': value,
        'accepted': accepted,
    }


class SamplesTest(testtools.TestCase):
    def test_of_all_kinds_at_the_microversions_of_both(self):
        name = 'GET /os-hypervisors '
        found = [
            each
            for each in judge_requests.samples({name: {'body': (), 'query': [70]}})
            if each['operation'] == name
        ]
        # 2.33 and 2.53 change it here, 2.70 there.
        self.assertEqual({1, 33, 53, 70}, {1, 33, 53, 70} & {each['minor'] for each in found})
        accepted = [each['value'] for each in found if each['accepted'] and each['minor'] == 53]
        self.assertIn({'limit': ['1']}, accepted)
        refused = [each['value'] for each in found if not each['accepted'] and each['minor'] == 53]
        self.assertIn({'limit': ['-1']}, refused)


class DifferencesTest(testtools.TestCase):
    def test_only_where_both_have_a_verdict(self):
        asked = [
            _sample({'a': ['1']}, True),
            _sample({'a': ['2']}, False),
            _sample({'a': ['3']}, True, minor=5),
            _sample({'a': ['3']}, True, minor=6),
            _sample({'a': ['4']}, False),
            _sample({'a': ['5']}, True),
        ]
        agreed, refused = {'judged': True, 'reason': None}, {'judged': True, 'reason': 'no'}
        verdicts = [agreed, refused, refused, refused, agreed, {'judged': False, 'reason': None}]
        self.assertEqual(
            (
                {
                    'accepted here: GET /servers  query {"a": ["3"]}': 5,
                    'refused here: GET /servers  query {"a": ["4"]}': 1,
                },
                5,
            ),
            judge_requests.differences(asked, verdicts),
        )
