"""Columns that a cell loses are removed for good; tables come from the models."""

import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.db import types
from nova_lite.db.cell import actions
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from tests.fixtures import cell
from tests.fixtures import database

TABLES = models.Base.metadata.sorted_tables
# What was archived is of servers that were deleted, and stays until it is purged.
KEPT = ('archived_rows',)


def whose(table):
    """The column that names the server, or None."""
    name = 'uuid' if table.name == 'instances' else 'instance_uuid'
    return None if table.name in KEPT else table.c.get(name)


class CreateTest(testtools.TestCase):
    """A server comes to a cell that may know it from before."""

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1',)))
        _ctxt, self.server = self.cell.accept()

    def copy(self, *moves):
        """The server's records as another cell has them, with these migrations."""
        found = self.cell.db.read(copies.read, self.server)
        found.instance.update(hidden=True, host=None, display_name=f'{len(moves)} moves')
        found.migrations = [
            {
                'uuid': uuid,
                'instance_uuid': self.server,
                'migration_type': 'migration',
                'status': 'migrating',
                'dest_compute': 'host-1',
                'cross_cell_move': True,
            }
            for uuid in moves
        ]
        return found

    def known(self):
        found = self.cell.db.read(migrations.of_instance, self.server)
        row = self.cell.row(self.server)
        return row.display_name, row.hidden, [each.uuid for each in found]

    def test_actions_keep_their_events_and_their_order(self):
        uuid, (ctxt, other) = self.server, self.cell.accept()
        for number in range(3):
            asked = self.cell.ask(uuid, f'action {number}', None)
            for event in range(number):
                name = f'event {number} {event}'
                self.cell.db.write(actions.record_event, uuid, asked.request_id, name)
            self.cell.db.write(actions.start, ctxt, other, 'between')
        found = self.cell.db.read(copies.read, uuid)
        for write in (copies.renew, self.create_again):
            self.cell.db.write(write, found)
            again = self.cell.db.read(copies.read, uuid)
            self.assertEqual(self.plain(found), self.plain(again))
        names = [[event['event'] for event in events] for _action, events in found.actions]
        self.assertEqual([[], ['event 1 0'], ['event 2 0', 'event 2 1']], names[-3:])

    @staticmethod
    def plain(copy):
        """The actions with their events, without the numbers of the actions."""
        return [
            (action, [{**event, 'action_id': None} for event in events])
            for action, events in copy.actions
        ]

    @staticmethod
    def create_again(connection, copy):
        copies.purge(connection, copy.instance['uuid'])
        copies.create(connection, copy, runtime.new_uuid())

    def test_what_a_former_move_left_is_replaced(self):
        first, second = runtime.new_uuid(), runtime.new_uuid()
        left, coming = self.copy(first), self.copy(first, second)
        self.cell.db.write(copies.purge, self.server)
        self.cell.db.write(copies.create, left, first)
        self.cell.db.write(copies.create, coming, second)
        self.assertEqual(('2 moves', True, [first, second]), self.known())

    def test_what_the_same_move_wrote_stays(self):
        move = runtime.new_uuid()
        coming = self.copy(move)
        self.cell.db.write(copies.purge, self.server)
        self.cell.db.write(copies.create, coming, move)
        self.cell.db.write(instances.update, self.server, {'display_name': 'meanwhile'})
        self.cell.db.write(copies.create, coming, move)
        self.assertEqual(('meanwhile', True, [move]), self.known())

    def test_another_destination_of_the_same_move(self):
        """Its first destination failed, and the copy could not be purged."""
        move = runtime.new_uuid()
        coming = self.copy(move)
        self.cell.db.write(copies.purge, self.server)
        self.cell.db.write(copies.create, coming, move)
        coming.migrations[0]['dest_compute'] = 'host-2'
        coming.instance['availability_zone'] = 'another'
        for _time in range(2):
            self.cell.db.write(copies.create, coming, move)
        found = self.cell.db.read(migrations.of_instance, self.server)
        self.assertEqual(['host-2'], [each.dest_compute for each in found])
        self.assertEqual('another', self.cell.row(self.server).availability_zone)


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
