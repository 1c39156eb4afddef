"""What a cell loses is removed for good; tables come from the models."""

import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.db import types
from nova_lite.db.cell import copies
from nova_lite.db.cell import models
from tests.fixtures import database

TABLES = models.Base.metadata.sorted_tables
# What was archived is of servers that were deleted, and stays until it is purged.
KEPT = ('archived_rows',)


def whose(table):
    """The column that names the server, or None."""
    name = 'uuid' if table.name == 'instances' else 'instance_uuid'
    return None if table.name in KEPT else table.c.get(name)


class PurgeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.database = self.useFixture(database.CellDatabase()).database
        self.uuid, self.other = runtime.new_uuid(), runtime.new_uuid()

    def add(self, connection, table, uuid):
        """A row with something in every column that needs it."""
        values = {}
        for column in table.columns:
            if column is whose(table):
                values[column.name] = uuid
            elif not column.nullable and column.default is None and column.name != 'id':
                values[column.name] = self.value(column)
        connection.execute(table.insert().values(values))

    def value(self, column):
        if isinstance(column.type, types.Time):
            return runtime.naive_now()
        if isinstance(column.type, types.Json):
            return {}
        return runtime.new_uuid()[: column.type.length] if column.type.python_type is str else 0

    def left(self, uuid):
        """Names of tables that have a row of the server."""
        return [
            table.name
            for table in TABLES
            if whose(table) is not None
            and self.database.read(
                lambda c, table=table: c.scalar(
                    sa.select(sa.func.count()).select_from(table).where(whose(table) == uuid)
                )
            )
        ]

    def test_nothing_of_the_server_is_left_and_all_of_the_others(self):
        for table in TABLES:
            if whose(table) is not None:
                for uuid in (self.uuid, self.other):
                    self.database.write(self.add, table, uuid)
        there = self.left(self.uuid)
        self.assertIn('console_auth_tokens', there)
        self.database.write(copies.purge, self.uuid)
        self.assertEqual([], self.left(self.uuid))
        self.assertEqual(there, self.left(self.other))
