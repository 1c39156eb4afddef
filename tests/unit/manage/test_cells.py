"""cell_v2: cells, hosts and where servers are."""

import contextlib
import functools
import json

import fixtures

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import discovery
from nova_lite.manage import servers
from tests.unit.manage import base

NOWHERE = runtime.new_uuid()


class CellTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.set_up_cells()

    def cell(self, verb, *argv, code=0):
        return self.run_verb('cell_v2', verb, *argv, code=code)

    @contextlib.contextmanager
    def meanwhile(self, name, act):
        """Do something before the next transaction of a function with this name."""
        write, left = transactions.Database.write, [act]

        def do(database, function, *args, **more):
            if getattr(function, '__name__', '') == name and left:
                left.pop()()
            return write(database, function, *args, **more)

        with fixtures.MonkeyPatch('nova_lite.db.transactions.Database.write', do):
            yield

    def silence(self):
        """Cells do not answer from now on."""
        name = 'nova_lite.cells.Cell.submit'
        self.useFixture(fixtures.MonkeyPatch(name, lambda *args, **options: None))

    def add_move(self, **columns):
        values = {'uuid': runtime.new_uuid(), 'instance_uuid': runtime.new_uuid()}
        values |= {'migration_type': 'resize', 'status': 'migrating', 'data': {}, **columns}
        self.local.write(migrations.create, values)

    def end_moves(self):
        for row in self.local.read(migrations.in_progress):
            self.local.write(migrations.update, row.uuid, {'status': 'failed'})

    def second(self, name='cell2'):
        """Another cell; returns its uuid."""
        database = self.database(name)
        self.run_verb('db', 'sync')
        argv = ('--transport-url', f'rabbit://bus/{name}', '--database_connection', database.url)
        return self.cell('create_cell', '--name', name, '--verbose', *argv).strip()


class CellsTest(CellTest):
    def test_cell0_is_mapped_once(self):
        self.assertIn('already', self.cell('map_cell0'))
        self.assertEqual({'cell0', 'cell1'}, set(self.cells()))

    def test_create(self):
        row = self.cells()['cell1']
        self.assertEqual(
            ('rabbit://u:secret@bus/cell1', self.local.url, False),
            (row.transport_url, row.database_connection, row.disabled),
        )
        self.cell('create_cell', code=2)
        self.cell('create_cell', '--transport-url', 'rabbit://other', code=2)
        self.cell('create_cell', '--transport-url', 'nonsense', code=1)
        del self.options['database']
        self.cell('create_cell', '--transport-url', 'rabbit://other', code=1)

    def test_urls_that_no_daemon_can_use(self):
        """None is stored: daemons would fail at each look at the cells."""
        good = {'--transport-url': 'rabbit://other', '--database_connection': 'sqlite:///x'}
        for wrong in (
            {'--transport-url': 'foo://other'},
            {'--transport-url': 'rabbit://other:port'},
            {'--transport-url': 'rabbit://{nonsense}'},
            {'--transport-url': 'rabbit://[nonsense'},
            {'--database_connection': 'mysql+pymysql://{username[nonsense]}@db/x'},
            {'--database_connection': 'garbage'},
            {'--database_connection': 'foo://u@db/x'},
            {'--database_connection': 'mysql+pymysql://u@db:port/x'},
            {'--database_connection': 'mysql+pymysql://{nonsense}@db/x'},
            {'--database_connection': 'mysql+pymysql://{username@db/x'},
        ):
            argv = [text for pair in {**good, **wrong}.items() for text in pair]
            self.assertIn('cannot be used', self.cell('create_cell', *argv, code=1))
            argv = ['--cell_uuid', self.cell_uuid, *argv]
            self.assertIn('cannot be used', self.cell('update_cell', *argv, code=2))
        self.assertEqual({'cell0', 'cell1'}, set(self.cells()))
        self.assertEqual(self.local.url, self.cells()['cell1'].database_connection)
        self.api_db.write(cell_mappings.destroy, cell_mappings.CELL0_UUID)
        self.cell('map_cell0', '--database_connection', 'garbage', code=255)
        self.assertEqual({'cell1'}, set(self.cells()))

    def test_a_cell_whose_url_is_of_no_use(self):
        """An earlier release has stored it: the cell can be disabled and renamed."""
        uuid, url = self.cell_uuid, 'foo://other'
        self.api_db.write(cell_mappings.update, uuid, {'transport_url': url})
        argv = ('--cell_uuid', uuid, '--transport-url', url)
        self.cell('update_cell', *argv, '--name', 'new', '--disable')
        self.assertTrue(self.cells()['new'].disabled)

    def test_templates(self):
        """A daemon that has a URL of its own fills them."""
        argv = (
            '--transport-url',
            'rabbit://{hostname}/x',
            '--database_connection',
            'sqlite:///{path}2',
        )
        self.cell('create_cell', '--name', 'x', *argv)
        self.assertEqual('sqlite:///{path}2', self.cells()['x'].database_connection)

    def test_a_clash_that_comes_meanwhile(self):
        """Two commands at once map one cell: they wait for each other at the stamp."""
        bumped, bump = [], stamps.bump

        def meanwhile(connection, name):
            bump(connection, name)
            if not bumped:
                bumped.append(name)
                values = dict(self.cells()['cell1']._mapping, name='x', uuid=NOWHERE)
                del values['id']
                values['transport_url'] = 'rabbit://other'
                values['database_connection'] = 'sqlite:///x'
                cell_mappings.create(connection, values)

        self.useFixture(fixtures.MonkeyPatch('nova_lite.db.api.stamps.bump', meanwhile))
        argv = ('--transport-url', 'rabbit://other', '--database_connection', 'sqlite:///x')
        self.assertIn('already exists for cell x', self.cell('create_cell', *argv, code=2))

    def test_list(self):
        shown = self.cell('list_cells')
        self.assertIn('u:****@bus', shown)
        self.assertNotIn('secret', shown)
        self.assertIn('secret', self.cell('list_cells', '--verbose'))
        found = json.loads(self.cell('list_cells', '--json'))
        self.assertEqual(['cell0', 'cell1'], [each['name'] for each in found])

    def test_list_masks_the_password_of_a_key(self):
        url = 'postgresql+psycopg://u:secret@db/nova?sslkey=/k&sslpassword=secret&sslcert=/c'
        self.cell('create_cell', '--name', 'tls', '--transport-url', 'rabbit://y',
                  '--database_connection', url)  # fmt: skip
        shown = self.cell('list_cells')
        self.assertIn('u:****@db/nova?sslkey=/k&sslpassword=****&sslcert=/c', shown)
        self.assertNotIn('secret', shown)

    def test_update(self):
        uuid, cell0 = self.cell_uuid, self.cells()['cell0'].uuid
        self.cell('update_cell', '--cell_uuid', uuid, '--name', 'new', '--disable')
        self.assertTrue(self.cells()['new'].disabled)
        self.cell('update_cell', '--cell_uuid', uuid, '--enable')
        self.assertFalse(self.cells()['new'].disabled)
        self.cell('update_cell', '--cell_uuid', NOWHERE, code=1)
        self.cell('update_cell', '--cell_uuid', uuid, '--enable', '--disable', code=4)
        self.cell('update_cell', '--cell_uuid', cell0, '--disable', code=5)
        second = self.second()
        argv = ('--database_connection', self.database('other').url)
        self.cell('update_cell', '--cell_uuid', second, *argv, code=3)
        self.cell('update_cell', '--cell_uuid', second, '--transport-url', 'rabbit://x', *argv)

    def test_delete(self):
        self.cell('delete_cell', '--cell_uuid', NOWHERE, code=1)
        self.add_host('h1')
        self.cell('discover_hosts')
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, code=2)
        server = self.add_server()
        self.cell('map_instances', '--cell_uuid', self.cell_uuid)
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force', code=3)
        self.api_db.write(host_mappings.destroy, 'h1')
        self.local.write(instances.mark_deleted, server)
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, code=4)
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.assertEqual({'cell0'}, set(self.cells()))

    def test_delete_while_a_server_is_mapped(self):
        """It is mapped after the command has looked for servers."""
        mapped, read = [], transactions.Database.read

        def meanwhile(database, function, *args):
            found = read(database, function, *args)
            if getattr(function, '__name__', '') == '_mapped' and not mapped:
                mapped.append(self.add_server())
                values = {'instance_uuid': mapped[0], 'cell_id': args[0], 'project_id': 'p'}
                self.api_db.write(instance_mappings.create, [values])
            return found

        self.useFixture(fixtures.MonkeyPatch('nova_lite.db.transactions.Database.read', meanwhile))
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, code=3)
        self.assertIn('cell1', self.cells())
        self.cell('verify_instance', '--uuid', mapped[0])

    def test_delete_with_moves(self):
        """A server moves to the cell; its mapping names another cell until the move ends there."""
        self.add_move(dest_compute='h1', hidden=True)
        told = self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force', code=3)
        self.assertIn('migrations in progress', told)
        self.end_moves()
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')

    def test_delete_a_lost_cell(self):
        self.silence()
        told = self.cell('delete_cell', '--cell_uuid', self.cell_uuid)
        self.assertIn('Not looking for migrations', told)
        self.assertEqual({'cell0'}, set(self.cells()))

    def test_delete_while_hosts_are_discovered(self):
        """The discovery ends after the command has looked for hosts."""
        self.add_host('h1')
        with self.meanwhile('_delete', lambda: self.cell('discover_hosts')):
            told = self.cell('delete_cell', '--cell_uuid', self.cell_uuid, code=2)
        self.assertIn('Hosts were mapped', told)
        self.assertIn('cell1', self.cells())
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.assertEqual([], self.api_db.read(host_mappings.every))

    def test_what_is_mapped_to_a_deleted_cell(self):
        """Commands that have read the cell before it was deleted map nothing to it."""
        row = self.local.read(instances.get, self.add_server())
        for name, function, what in (
            ('one', discovery._map, ['h1']),
            ('two', servers._map, [row]),
        ):
            uuid = self.second(name)
            cell_id = self.cells()[name].id
            with self.meanwhile('_map', functools.partial(self.delete, uuid)):
                write = self.api_db.write
                self.assertRaises(exception.CellMappingNotFound, write, function, cell_id, what)
        self.assertEqual([], self.api_db.read(host_mappings.every))
        self.assertEqual([], self.api_db.read(instance_mappings.of, [row.uuid]))

    def delete(self, uuid):
        self.cell('delete_cell', '--cell_uuid', uuid)


class HostsTest(CellTest):
    def test_discover(self):
        self.cell('discover_hosts', '--strict', code=1)
        self.add_host('h1')
        self.assertIn('Mapped host h1', self.cell('discover_hosts', '--verbose', '--strict'))
        self.assertEqual('', self.cell('discover_hosts'))
        self.add_host('h2')
        self.cell('discover_hosts', '--cell_uuid', self.cell_uuid, '--strict')
        self.cell('discover_hosts', '--cell_uuid', NOWHERE, code=1)

    def test_list(self):
        self.add_host('h1')
        self.cell('discover_hosts')
        self.assertIn('| h1 ', self.cell('list_hosts'))
        found = json.loads(self.cell('list_hosts', '--json', '--cell_uuid', self.cell_uuid))
        self.assertEqual([{'cell_name': 'cell1', 'cell_uuid': self.cell_uuid, 'host': 'h1'}], found)
        self.cell('list_hosts', '--cell_uuid', NOWHERE, code=1)

    def test_delete(self):
        self.add_host('h1')
        self.cell('discover_hosts')

        def delete(host, code, uuid=self.cell_uuid):
            self.cell('delete_host', '--cell_uuid', uuid, '--host', host, code=code)

        delete('h1', 1, NOWHERE)
        delete('h9', 2)
        delete('h1', 3, self.cells()['cell0'].uuid)
        server = self.add_server(host='h1')
        delete('h1', 4)
        self.local.write(instances.mark_deleted, server)
        delete('h1', 0)
        self.assertEqual([], self.api_db.read(host_mappings.every))
        self.assertEqual(1, len(self.local.read(compute_nodes.unmapped)))

    def test_delete_with_moves(self):
        self.add_host('h1')
        self.cell('discover_hosts')
        delete = 'delete_host', '--cell_uuid', self.cell_uuid, '--host', 'h1'
        for end in ('source_compute', 'dest_compute'):
            self.add_move(**{end: 'h1'})
            self.assertIn('migrations in progress', self.cell(*delete, code=4))
            self.assertEqual([], self.local.read(compute_nodes.unmapped))
            self.end_moves()
        self.cell(*delete)

    def test_delete_in_a_cell_that_falls_silent(self):
        """The command gives up; builds to the host do not wait for the cell."""
        self.add_host('h1')
        self.cell('discover_hosts')
        with self.meanwhile('unmap', self.silence):
            self.cell('delete_host', '--cell_uuid', self.cell_uuid, '--host', 'h1', code=255)
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])

    def test_delete_while_hosts_are_discovered(self):
        """The host can be discovered again, as after any deletion of its mapping."""
        self.add_host('h1')
        self.cell('discover_hosts')
        with self.meanwhile('unmap', lambda: self.cell('discover_hosts')):
            self.cell('delete_host', '--cell_uuid', self.cell_uuid, '--host', 'h1')
        self.assertEqual([], self.api_db.read(host_mappings.every))
        self.cell('discover_hosts', '--strict')

    def test_delete_while_a_server_comes(self):
        """Its record, or that of its move, is written after the command has looked for servers."""
        self.add_host('h1')
        self.cell('discover_hosts')
        for name, host in (('add_move', 'dest_compute'), ('add_server', 'host')):
            with self.meanwhile('unmap', functools.partial(getattr(self, name), **{host: 'h1'})):
                self.cell('delete_host', '--cell_uuid', self.cell_uuid, '--host', 'h1', code=4)
            self.end_moves()
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])
        self.assertEqual([], self.local.read(compute_nodes.unmapped))


class SetupTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.run_verb('api_db', 'sync')
        self.run_verb('db', 'sync', '--local_cell')

    def test_simple_cell_setup(self):
        self.run_verb('cell_v2', 'simple_cell_setup', '--transport-url', 'nonsense', code=1)
        self.run_verb('cell_v2', 'simple_cell_setup', code=1)
        self.add_host('h1')
        self.run_verb('cell_v2', 'simple_cell_setup')
        self.assertEqual({'cell0', None}, set(self.cells()))
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])

    def test_map_cell_and_hosts(self):
        self.add_host('h1')
        argv = ('map_cell_and_hosts', '--name', 'one', '--verbose')
        uuid = self.run_verb('cell_v2', *argv).strip()
        self.assertEqual(uuid, self.cells()['one'].uuid)
        self.assertEqual(uuid, self.run_verb('cell_v2', *argv).strip())

    def test_map_a_cell_without_hosts(self):
        shown = self.run_verb('cell_v2', 'map_cell_and_hosts', '--name', 'one')
        self.assertIn('No hosts found', shown)
        self.assertEqual({'one'}, set(self.cells()))
        self.run_verb('cell_v2', 'map_cell_and_hosts', '--transport-url', 'nonsense', code=1)
        del self.options['database']
        self.run_verb('cell_v2', 'map_cell_and_hosts', code=1)


class ServersTest(CellTest):
    def verify(self, uuid, code):
        return self.cell('verify_instance', '--uuid', uuid, code=code)

    def test_verify(self):
        uuid = self.add_server()
        self.verify(uuid, 1)
        self.cell('map_instances', '--cell_uuid', self.cell_uuid)
        self.assertIn('cell1', self.verify(uuid, 0))
        self.assertEqual('', self.cell('verify_instance', '--uuid', uuid, '--quiet'))
        self.local.write(instances.mark_deleted, uuid)
        self.verify(uuid, 3)
        self.local.write(instances.purge, uuid)
        self.verify(uuid, 4)
        pending = runtime.new_uuid()
        self.api_db.write(instance_mappings.create, [{'instance_uuid': pending, 'project_id': 'p'}])
        self.verify(pending, 2)

    def test_map(self):
        uuids = [self.add_server() for _number in range(3)]
        argv = ('--cell_uuid', self.cell_uuid, '--max-count', '2')
        self.cell('map_instances', *argv, code=1)
        self.cell('map_instances', *argv)
        found = self.api_db.read(instance_mappings.of, uuids)
        self.assertEqual([2, 2, 2], [row.vcpus for row in found])
        self.cell('map_instances', '--cell_uuid', self.cell_uuid, '--max-count', '0', code=127)
        # 1 would say that there is more to map.
        self.cell('map_instances', '--cell_uuid', NOWHERE, code=255)

    def test_map_while_another_command_maps(self):
        uuids = [self.add_server() for _number in range(3)]
        write, done = transactions.Database.write, []

        def meanwhile(database, function, *args):
            if getattr(function, '__name__', '') == '_map' and not done:
                done.append(args[1][1].uuid)
                write(database, function, args[0], args[1][1:2])
            return write(database, function, *args)

        self.useFixture(fixtures.MonkeyPatch('nova_lite.db.transactions.Database.write', meanwhile))
        self.cell('map_instances', '--cell_uuid', self.cell_uuid)
        found = self.api_db.read(instance_mappings.of, uuids)
        self.assertEqual(3, len(found))
