"""--json: whatever the verb and its exit code, standard output is one document."""

import json

from nova_lite import runtime
from nova_lite.cmd import manage
from nova_lite.db import schema_migration
from nova_lite.manage import command
from tests.fixtures import placement as placement_fixture
from tests.fixtures import simcloud
from tests.unit.manage import base

NOWHERE = runtime.new_uuid()


class JsonTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.seen = set()

    def said(self, category, verb, *argv, code=0):
        self.seen.add((category, verb))
        found = json.loads(self.run_verb(category, verb, *argv, '--json', code=code))
        if isinstance(found, dict):
            self.assertEqual(code, found.pop('code', code))
        return found

    def test_every_verb(self):
        self._a_new_deployment()
        self._cells_and_hosts()
        self._servers()
        self._placement()
        self._limits()
        manage.parser()
        every = {(name, verb.name) for name, verbs in command.VERBS.items() for verb in verbs}
        self.assertEqual(set(), every - self.seen)

    def _a_new_deployment(self):
        self.said('api_db', 'sync')
        newest = {
            'version': schema_migration.newest('api'),
            'messages': [schema_migration.newest('api')],
        }
        self.assertEqual(newest, self.said('api_db', 'version'))
        self.assertEqual([], self.said('cell_v2', 'map_cell0')['messages'])
        self.assertEqual({'messages': []}, self.said('db', 'sync'))
        self.assertEqual(schema_migration.newest('cell'), self.said('db', 'version')['version'])
        self.uuid = self.said('cell_v2', 'create_cell', '--name', 'cell1')['uuid']
        self.assertIn('already exists', self.said('cell_v2', 'create_cell', code=2)['messages'][0])
        self.assertEqual([], self.said('db', 'online_data_migrations'))

    def _cells_and_hosts(self):
        self.add_host('h1')
        hosts = [{'cell_name': 'cell1', 'cell_uuid': self.uuid, 'host': 'h1'}]
        self.assertEqual(hosts, self.said('cell_v2', 'discover_hosts')['hosts'])
        self.assertEqual([], self.said('cell_v2', 'discover_hosts', '--strict', code=1)['hosts'])
        self.assertEqual(hosts, self.said('cell_v2', 'list_hosts'))
        missing = self.said('cell_v2', 'list_hosts', '--cell_uuid', NOWHERE, code=1)
        self.assertIn(NOWHERE, missing['messages'][0])
        self.assertEqual(2, len(self.said('cell_v2', 'list_cells')))
        self.assertEqual(self.uuid, self.said('cell_v2', 'map_cell_and_hosts')['uuid'])
        self.assertEqual(self.uuid, self.said('cell_v2', 'simple_cell_setup')['uuid'])
        here = ('--cell_uuid', self.uuid)
        self.said('cell_v2', 'update_cell', *here, '--name', 'cell1')
        self.said('cell_v2', 'delete_host', *here, '--host', 'h9', code=2)
        self.said('cell_v2', 'delete_cell', *here, code=2)

    def _servers(self):
        server = self.add_server()
        self.assertEqual({'mapped': 1, 'messages': []},
                         self.said('cell_v2', 'map_instances', '--cell_uuid', self.uuid))  # fmt: skip
        found = self.said('cell_v2', 'verify_instance', '--uuid', server)
        self.assertEqual(('cell1', self.uuid), (found['cell_name'], found['cell_uuid']))
        missing = self.said('image_property', 'show', server, 'hw_disk_bus', code=3)
        self.assertIn('hw_disk_bus not found', missing['messages'][0])
        refused = self.said('image_property', 'set', server, '--property', 'hw_x=y', code=5)
        self.assertIn('hw_x', refused['messages'][0])
        self.assertEqual([], self.said('db', 'archive_deleted_rows'))
        self.said('db', 'archive_deleted_rows', '--max_rows', '0', code=2)
        self.assertEqual(0, self.said('db', 'purge', '--all', code=3)['rows'])

        self.said('libvirt', 'get_machine_type', server, code=3)
        self.said('libvirt', 'update_machine_type', server, 'other', code=5)
        unset = self.said('libvirt', 'list_unset_machine_type', code=3)['unset']
        self.assertIn(server, unset)
        connector = self.said('volume_attachment', 'get_connector', '--host', 'h1')
        self.assertEqual('h1', connector['host'])
        self.said('volume_attachment', 'show', server, NOWHERE, code=3)
        self.said('volume_attachment', 'refresh', server, NOWHERE, '/nowhere', code=2)

    def _placement(self):
        url = self.useFixture(placement_fixture.Placement()).url
        self.options['placement'] = {'auth_type': 'none', 'endpoint_override': url}
        self.assertEqual(0, self.said('placement', 'heal_allocations', code=4)['healed'])
        self.assertEqual({'messages': []}, self.said('placement', 'sync_aggregates'))
        self.assertEqual([], self.said('placement', 'audit'))
        self.said('placement', 'audit', '--resource_provider', NOWHERE, code=127)

    def _limits(self):
        url = self.useFixture(simcloud.SimCloud(auth='noauth')).url
        self.options['oslo_limit'] = {'auth_type': 'none', 'endpoint_override': f'{url}/identity'}
        self.assertEqual(10, self.said('limits', 'migrate_to_unified_limits')['created'])
