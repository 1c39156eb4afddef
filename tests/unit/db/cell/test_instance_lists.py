"""Statements of lists of servers."""

import testtools

from nova_lite.db.cell import instance_lists
from tests.fixtures import database


class TestKeys(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.CellDatabase())

    def compiled(self, names):
        """Read by each of these columns; how many statements were compiled for that."""
        cache = {}

        def read(connection, name):
            connection.execution_options(compiled_cache=cache)
            return instance_lists.keys(connection, [], [(name, 'asc')], limit=1)

        for name in names:
            self.db.read(read, name)
        return len(cache)

    def test_one_order_is_compiled_once(self):
        self.assertEqual(1, self.compiled(['uuid', 'uuid']))
        self.assertEqual(1, self.compiled(['created_at', 'created_at']))

    def test_columns_are_told_apart(self):
        self.assertEqual(3, self.compiled(['display_name', 'host', 'created_at']))
