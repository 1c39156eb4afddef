"""Samples of requests that nova's schemas judge."""

import testtools

from nova_lite.api import operation as operations
from tests.fixtures import request_samples
from tools import judge_requests
from tools.comparison import kinds
from tools.comparison import odd_requests

SERVERS = 'GET /servers'


def _sample(value, accepted, minor=1, field='a'):
    return {
        'operation': f'{SERVERS} ',
        'known': SERVERS,
        'kind': 'query',
        'minor': minor,
        'field': field,
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
        refused = [each for each in found if not each['accepted'] and each['minor'] == 53]
        self.assertIn({'limit': ['-1']}, [each['value'] for each in refused])
        self.assertIn(('limit', 'GET /os-hypervisors'), [(e['field'], e['known']) for e in refused])


class OddRequestsTest(testtools.TestCase):
    def find(self, name):
        (found,) = (each for each in operations.load_all() if str(each) == name)
        return found

    def test_bodies_have_one_in_each_place(self):
        operation = self.find('POST /os-server-groups')
        body = request_samples.load().body(operation)
        found = list(odd_requests.bodies(body, operation, [1, 64]))
        places = {field for _minor, field, _value, _accepted in found}
        self.assertLessEqual({'', 'server_group.name', 'server_group.rules'}, places)
        self.assertIn('server_group.unknown_name', places)
        # Each place once: at its newest microversion.
        names = {minor for minor, field, _value, _ok in found if field == 'server_group.name'}
        self.assertEqual({64}, names)
        lists = {minor for minor, field, _value, _ok in found if field == 'server_group.policies'}
        self.assertEqual({1}, lists)
        group = {'name': ' x', 'policy': 'affinity'}
        self.assertIn((64, 'server_group.name', {'server_group': group}, False), found)
        without = {'server_group': {'policy': 'affinity'}}
        self.assertIn((64, 'server_group.name', without, False), found)

    def test_queries(self):
        operation = self.find('GET /os-hypervisors')
        query = request_samples.load().query(operation)
        found = list(odd_requests.queries(query, operation, [1, 53]))
        self.assertIn((53, 'limit', {'limit': ['1', 'x']}, False), found)
        self.assertIn((1, 'limit', {'limit': ['1', 'x']}, True), found)


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
                    'accepted here: GET /servers  query a {"a": ["3"]}': asked[2],
                    'refused here: GET /servers  query a {"a": ["4"]}': asked[4],
                },
                5,
            ),
            judge_requests.differences(asked, verdicts),
        )

    def test_long_values_are_told_apart(self):
        refused = {'judged': True, 'reason': 'no'}
        asked = [_sample({'a': ['x' * 500 + end]}, True) for end in 'yz']
        found, _judged = judge_requests.differences(asked, [refused, refused])
        self.assertEqual(asked, list(found.values()))

    def test_what_nova_refuses_behind_its_schema_is_explained(self):
        found = {
            'one': _sample({'a': ['0']}, False),
            'another field': _sample({'b': ['0']}, False, field='b'),
            'another kind of value': _sample({'a': ['1']}, False),
            'accepted only here': _sample({'a': ['0']}, True),
        }
        left, used = judge_requests.explained(
            found, {SERVERS: {'a': '500 zeros'}, 'GET /os-hosts': {'b': '500 zeros'}}
        )
        self.assertEqual(found.keys() - {'one'}, left.keys())
        self.assertEqual({(SERVERS, 'a')}, used)

    def test_operations_with_an_explanation_exist(self):
        known = {request_samples.name_of(each) for each in operations.load_all()}
        behind = request_samples.load().behind
        self.assertEqual(set(), behind.keys() - known)
        for fields in behind.values():
            for reason in fields.values():
                status, kind = reason.split()
                self.assertIn(status, ('200', '400', '500'))
                kinds.is_of(kind, 'x')


class KindsTest(testtools.TestCase):
    def test_values_in_a_field(self):
        body = {'kind': 'body', 'field': 'a.b', 'value': {'a': [{'b': 1}, {}, 'x']}}
        self.assertEqual([1, kinds.ABSENT, kinds.ABSENT], kinds.values(body))
        whole = {'kind': 'body', 'field': '', 'value': {'a': 1}}
        self.assertEqual([{'a': 1}], kinds.values(whole))
        self.assertEqual(['1', '2'], kinds.values(_sample({'a': ['1', '2']}, True)))

    def test_kinds(self):
        for kind, value, other in (
            ('absent', kinds.ABSENT, None),
            ('empty_item', [{'a': 1}, {}], [{'a': 1}]),
            ('key_longer_than_255', {'x' * 256: 1}, {'x' * 255: 1}),
            ('line_break', '\n', 'x\n'),
            ('longer_than_64', 'x' * 65, 'x' * 64),
            ('no_pattern', '(', 'x'),
            ('present', None, kinds.ABSENT),
            ('zeros', '00', ''),
        ):
            self.assertTrue(kinds.is_of(kind, value), kind)
            self.assertFalse(kinds.is_of(kind, other), kind)
