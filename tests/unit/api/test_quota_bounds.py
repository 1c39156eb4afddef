"""Bounds of limits: each name, of projects, their users and classes, at each microversion.

Values and answers are those of nova 34.
"""

import itertools

from nova_lite.api import quota_names
from tests.unit.api import test_quotas

MOST = 0x7FFFFFFF
ACCEPTED = (-1, 0, 1, 5.0, MOST, '0', '-0', '-1', '5', '007', str(MOST))
REFUSED = (
    -2, MOST + 1, 2**63, 5.5, None, True, [], {}, '', ' 5', '5 ', '+5', '-2', '5.0', '1e3',
    '\N{ARABIC-INDIC DIGIT THREE}', str(MOST + 1),
)  # fmt: skip
MINORS = (1, 36, 50, 57, 100)
SETS = {'project': test_quotas.URL, 'user': f'{test_quotas.URL}?user_id=alice'}
CLASS = '/os-quota-class-sets/default'


class ValuesTest(test_quotas.QuotaTest):
    def send(self, path, key, minor, status, **limits):
        return self.admin('PUT', path, {key: limits}, status=status, version=f'2.{minor}')

    def targets(self, minor):
        """Yield (path, key of the body, names of limits, further keys)."""
        for path in SETS.values():
            yield path, 'quota_set', quota_names.of_sets(minor), {'force': True}
        yield CLASS, 'quota_class_set', quota_names.settable(minor), {}

    def test_values(self):
        """Of one name at each microversion, and of each name at one of those that have it."""
        for minor in MINORS:
            for path, key, names, more in self.targets(minor):
                for name in names if minor in (1, 57) else ['cores']:
                    accepted, refused = ACCEPTED, REFUSED
                    if name != 'cores':
                        accepted, refused = ACCEPTED[:2], REFUSED[:2]
                    for value in accepted:
                        self.send(path, key, minor, 200, **{name: value}, **more)
                    for value in refused:
                        self.send(path, key, minor, 400, **{name: value}, **more)

    def test_names(self):
        known = {*quota_names.of_sets(1), *quota_names.settable(1)}
        for minor in MINORS:
            for path, key, names, _more in self.targets(minor):
                for name in (*known, 'id', 'tenant_id', 'volumes', 'Cores'):
                    status = 200 if name in names else 400
                    self.send(path, key, minor, status, **{name: -1 if path != SETS['user'] else 0})
                for body in ({}, {key: None}, {key: {}, 'more': 1}):
                    self.admin('PUT', path, body, status=400, version=f'2.{minor}')
                self.send(path, key, minor, 200)

    def test_force(self):
        for path in SETS.values():
            for value, status in (
                (True, 200), ('yes', 200), ('False', 200), ('maybe', 400), (None, 400), (1, 400),
            ):  # fmt: skip
                self.send(path, 'quota_set', 57, status, cores=5, force=value)
        self.send(CLASS, 'quota_class_set', 57, 400, cores=5, force=True)


class BoundsTest(test_quotas.QuotaTest):
    """Limits between what is used or promised, and what the project has."""

    def setUp(self):
        super().setUp()
        self.add_server(vcpus=3, user_id='alice')
        self.add_server(vcpus=2, user_id='bob')
        self.put(cores=20)

    def test_every_limit_against_use_promises_and_the_project(self):
        """bob's own limit is promised: the others share the rest."""
        for promised, limit in itertools.product((None, 2, 6, -1), range(-1, 24)):
            with self.subTest(promised=promised, limit=limit):
                self.admin('DELETE', f'{SETS["user"][:-5]}bob', status=202)
                if promised is not None:
                    self.put('?user_id=bob', cores=promised, force=True)
                reserved = max(promised or 0, 0)
                unlimited = limit < 0
                fits = not unlimited and 3 <= limit <= 20 - reserved
                self.put('?user_id=alice', status=200 if fits else 400, cores=limit)
                self.admin('DELETE', SETS['user'], status=202)
                enough = unlimited or limit >= max(5, reserved)
                self.put(status=200 if enough else 400, cores=limit)
                self.put(cores=20, force=True)

    def test_forced(self):
        for limit in (-1, 0, 1, 100):
            self.assertEqual(limit, self.put(cores=limit, force=True)['cores'])
            shown = self.put('?user_id=alice', cores=limit, force=True)
            self.assertEqual(limit, shown['cores'])

    def test_messages(self):
        self.put('?user_id=bob', cores=8)
        message = self.put(cores=7, status=400)['badRequest']['message']
        self.assertEqual(
            'Quota limit 7 for cores must be greater than or equal to already used and reserved 8.',
            message,
        )
        message = self.put('?user_id=alice', cores=13, status=400)['badRequest']['message']
        self.assertEqual('Quota limit 13 for cores must be less than or equal to 12.', message)
