"""Times that a restore moves: all that sweeps compare with the present time."""

import datetime
import importlib
import operator
import pkgutil

import sqlalchemy as sa
from sqlalchemy.sql import elements
from sqlalchemy.sql import visitors
import testtools

import nova_lite
from nova_lite import conductor
from nova_lite import runtime
from nova_lite import superconductor
from nova_lite.db import rows
from nova_lite.db import types
from nova_lite.db.api import models as api_models
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import models as cell_models
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import stored_times
from nova_lite.moves import rebuild
from nova_lite.moves.parts import shelving
from tests.fixtures import database

ORDERS = (operator.lt, operator.le, operator.gt, operator.ge)
# Times that a statement compares and that stay: what clients are shown, leases that end, and the
# creation of services, which counts before their first heartbeat alone.
STAY = {
    'instances.created_at',
    'instances.launched_at',
    'sagas.lease_until',
    'services.created_at',
}
# Columns whose values are compared in Python.
IN_PYTHON = {'migrations.updated_at', 'deleted_aggregates.deleted_at'}
PACKAGES = (nova_lite.db, conductor, superconductor)
AGO = datetime.datetime.fromisoformat('2026-01-01T12:00:00')
DAY_S = 86400.0


def statements():
    """Expressions that are constants of modules."""
    for package in PACKAGES:
        for info in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):
            if '.schema' not in info.name:
                for value in vars(importlib.import_module(info.name)).values():
                    values = value if isinstance(value, list | tuple) else [value]
                    for each in values:
                        if isinstance(each, sa.ClauseElement) and not isinstance(each, sa.Table):
                            yield each


def compared(statement):
    """Names of the columns with times that a statement compares by order."""
    for part in visitors.iterate(statement):
        if isinstance(part, elements.BinaryExpression) and part.operator in ORDERS:
            for column in visitors.iterate(part):
                if isinstance(column, sa.Column) and isinstance(column.type, types.Time):
                    yield f'{column.table.name}.{column.name}'


class StoredTimesTest(testtools.TestCase):
    def test_all_that_is_compared(self):
        found = {name for statement in statements() for name in compared(statement)}
        self.assertLess(5, len(found))
        moved = {
            f'{table}.{column}'
            for tables in (stored_times.CELL, stored_times.API)
            for table, columns in tables.items()
            for column in columns
        }
        self.assertEqual(found | IN_PYTHON, moved | STAY)

    def check(self, metadata, tables, connection):
        """Check that the columns hold the time a day later, as this module's rows had it."""
        for table, columns in tables.items():
            for column in columns:
                found = connection.scalar(sa.select(metadata.tables[table].c[column]))
                self.assertEqual(AGO + datetime.timedelta(days=1), found, f'{table}.{column}')

    def fill(self, connection, metadata, tables, **others):
        """Add a row to each table. others: {table: values of columns}"""
        for name, columns in tables.items():
            table = metadata.tables[name]
            values = {
                column.name: _any(column)
                for column in table.columns
                if not column.nullable and not column.primary_key and column.default is None
            }
            values |= {column.name: _any(column) for column in table.primary_key}
            rows.insert(
                connection, table, {**values, **dict.fromkeys(columns, AGO), **others.get(name, {})}
            )

    def move(self, found, statements):
        with sqlite_copies.opened(sa.make_url(found.url).database) as connection:
            sqlite_copies.execute(connection, statements)

    def test_cell(self):
        found = self.useFixture(database.CellDatabase()).database
        metadata = cell_models.Base.metadata
        shelf = {shelving.SHELVED_AT: AGO.isoformat(), 'other': 'x'}
        others = {'instances': {'system_metadata': shelf}}
        found.write(self.fill, metadata, stored_times.CELL, **others)
        self.move(found, stored_times.of_cell(DAY_S))
        found.read(lambda connection: self.check(metadata, stored_times.CELL, connection))
        (kept,) = found.read(rows.every, instances.TABLE)
        at = datetime.datetime.fromisoformat(kept.system_metadata.pop(shelving.SHELVED_AT))
        self.assertEqual(
            (AGO + datetime.timedelta(days=1), {'other': 'x'}), (at, kept.system_metadata)
        )

    def test_api(self):
        found = self.useFixture(database.ApiDatabase()).database
        metadata = api_models.Base.metadata
        others = {'sagas': {'data': {rebuild.SINCE: 7.0, 'other': 'x'}}}
        found.write(self.fill, metadata, stored_times.API, **others)
        self.move(found, stored_times.of_api(DAY_S))
        found.read(lambda connection: self.check(metadata, stored_times.API, connection))
        (kept,) = found.read(rows.every, sagas.TABLE)
        self.assertEqual({rebuild.SINCE: 7.0 + DAY_S, 'other': 'x'}, kept.data)


def _any(column):
    """Return a value of a column's type."""
    if isinstance(column.type, types.Time):
        return AGO
    if isinstance(column.type, types.Json):
        return {}
    kinds = {int: 1, float: 1.0, bool: False, str: runtime.new_uuid()}
    return kinds[column.type.python_type]
