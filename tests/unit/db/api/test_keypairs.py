"""Key pairs in the API database."""

import testtools

from nova_lite import exception
from nova_lite.db.api import keypairs
from tests.fixtures import database


class KeypairsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.ApiDatabase())

    def create(self, name, user_id='u'):
        return self.db.write(
            keypairs.create,
            {'user_id': user_id, 'name': name, 'public_key': 'key', 'fingerprint': 'print'},
        )

    def test_belongs_to_a_user(self):
        row = self.create('k')
        self.create('k', user_id='other')
        self.assertEqual('ssh', row.type)
        self.assertEqual(row, self.db.read(keypairs.get, 'u', 'k'))
        self.assertEqual(1, self.db.read(keypairs.count, 'u'))
        self.assertRaises(exception.AlreadyExists, self.create, 'k')
        self.db.write(keypairs.destroy, 'u', 'k')
        self.assertRaises(exception.KeypairNotFound, self.db.read, keypairs.get, 'u', 'k')
        self.assertRaises(exception.KeypairNotFound, self.db.write, keypairs.destroy, 'u', 'k')

    def test_pages_by_name(self):
        for name in ('c', 'a', 'b'):
            self.create(name)
        self.create('d', user_id='other')

        def page(**options):
            return [row.name for row in self.db.read(keypairs.page, 'u', **options)]

        self.assertEqual(['a', 'b', 'c'], page())
        self.assertEqual(['a', 'b'], page(limit=2))
        self.assertEqual(['c'], page(limit=2, marker='b'))
        self.assertRaises(exception.MarkerNotFound, page, marker='d')
