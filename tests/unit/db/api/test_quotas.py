"""Limits in the API database."""

import testtools

from nova_lite.db.api import quotas
from tests.fixtures import database


class QuotasTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.ApiDatabase())

    def test_of_projects_and_users(self):
        self.db.write(quotas.set_limits, 'p', {'cores': 5, 'ram': 10})
        self.db.write(quotas.set_limits, 'p', {'cores': 6})
        self.db.write(quotas.set_limits, 'p', {'cores': 2}, 'u')
        self.assertEqual({'cores': 6, 'ram': 10}, self.db.read(quotas.of_project, 'p'))
        self.assertEqual({'cores': 2}, self.db.read(quotas.of_project, 'p', 'u'))
        self.db.write(quotas.set_class, quotas.DEFAULT_CLASS, {'ram': 1})
        self.db.write(quotas.set_class, 'other', {'ram': 2})
        of_project = {'cores': 6, 'ram': 10}
        for user, of_user in (('u', {'cores': 2}), ('v', {})):
            self.assertEqual(
                ({'ram': 1}, of_project, of_user),
                self.db.read(quotas.of_class_project_and_user, 'p', user),
            )
        self.assertEqual({'u': {'cores': 2}}, self.db.read(quotas.of_users, 'p'))
        self.db.write(quotas.clear, 'p', 'u')
        self.assertEqual({}, self.db.read(quotas.of_users, 'p'))
        self.db.write(quotas.set_limits, 'p', {'cores': 2}, 'u')
        self.db.write(quotas.clear, 'p')
        self.assertEqual({}, self.db.read(quotas.of_project, 'p'))
        self.assertEqual({}, self.db.read(quotas.of_users, 'p'))

    def test_of_classes(self):
        self.db.write(quotas.set_class, 'default', {'cores': 5})
        self.db.write(quotas.set_class, 'default', {'cores': -1, 'ram': 1})
        self.assertEqual({'cores': -1, 'ram': 1}, self.db.read(quotas.of_class, 'default'))
        self.assertEqual({}, self.db.read(quotas.of_class, 'other'))
