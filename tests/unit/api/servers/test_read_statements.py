"""Statements of shows and lists of servers: their number, and the data that one of them joins."""

import collections
import functools

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import server_groups
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.unit.api.servers import base


class TestStatements(base.Case):
    def setUp(self):
        super().setUp()
        self.cell = self.api.cell('cell1')
        self.uuids = [self.api.add_server() for _each in range(3)]
        # Cells are read once, and then known.
        self.read(f'/servers/{self.uuids[0]}')
        self.statements = collections.Counter()
        for name, database in (('api', self.api.api_db), ('cell1', self.cell.db)):
            counted = functools.partial(self.count, name)
            sa.event.listen(database.engine, 'before_cursor_execute', counted)

    def count(self, name, *_statement):
        self.statements[name] += 1

    def read(self, path):
        return self.ok('GET', path, version=base.NEWEST, who=base.ADMIN).json

    def test_a_show(self):
        self.read(f'/servers/{self.uuids[0]}')
        self.assertEqual({'api': 1, 'cell1': 2}, self.statements)

    def test_a_list_in_detail(self):
        self.assertEqual(3, len(self.read('/servers/detail')['servers']))
        self.assertEqual(3, self.statements['cell1'])

    def test_volumes_and_tags(self):
        plain, uuid, _other = self.uuids
        self.cell.db.write(children.create_tags, uuid, ['b', 'a'])
        volumes = [self.volume(uuid, number) for number in (2, 1)]
        self.cell.db.write(children.create_block_devices, volumes)
        shown = self.read(f'/servers/{uuid}')['server']
        self.assertEqual(['a', 'b'], shown['tags'])
        attached = shown['os-extended-volumes:volumes_attached']
        self.assertEqual([each['volume_id'] for each in volumes], [each['id'] for each in attached])
        self.assertEqual([True, False], [each['delete_on_termination'] for each in attached])
        listed = {each['id']: each for each in self.read('/servers/detail')['servers']}
        self.assertEqual(shown, {**listed[uuid], 'server_groups': []})
        self.assertEqual([], listed[plain]['tags'])
        self.assertEqual([], listed[plain]['os-extended-volumes:volumes_attached'])

    def volume(self, uuid, number):
        return {
            'uuid': f'{number:032x}',
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': f'{number:036x}',
            'delete_on_termination': number == 2,
        }

    def test_a_server_in_a_group(self):
        uuid = self.uuids[0]
        values = {'uuid': 'g', 'name': 'g', 'policy': 'affinity', 'project_id': 'alpha'}
        group = self.api.api_db.write(server_groups.create, values)
        self.api.api_db.write(server_groups.add_members, group, [uuid])
        self.assertEqual(['g'], self.read(f'/servers/{uuid}')['server']['server_groups'])
        self.assertEqual([], self.read(f'/servers/{self.uuids[1]}')['server']['server_groups'])

    def test_a_host_without_a_service(self):
        uuid = self.uuids[0]
        self.cell.db.write(rows.change, instances.TABLE, {'host': 'unknown'}, uuid=uuid)
        self.assertEqual('', self.read(f'/servers/{uuid}')['server']['host_status'])
        self.assertEqual('UP', self.read(f'/servers/{self.uuids[1]}')['server']['host_status'])
