"""Hypervisors over HTTP."""

import json

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from tests.unit.api import base

URL = '/os-hypervisors'
FLAVOR = {'vcpus': 2, 'memory_mb': 1024, 'root_gb': 10, 'ephemeral_gb': 5, 'swap': 0}


class HypervisorsTest(base.ApiTest):
    def setUp(self):
        super().setUp()
        self.node = self.api.add_host('h1', reserved_memory_mb=512)
        self.api.add_host('h2', 'cell2')

    def list(self, path='', version='2.1', **options):
        answer = self.admin('GET', URL + path, version=version, **options)
        return {each['hypervisor_hostname']: each for each in answer.get('hypervisors', ())}

    def add_server(self, host='h1', cell='cell1', **more):
        uuid = runtime.new_uuid()
        sizes = {name: FLAVOR[name] for name in FLAVOR if name != 'swap'}
        values = {
            'uuid': uuid,
            'project_id': 'p',
            'user_id': 'u',
            'display_name': 's',
            'vm_state': 'active',
            'host': host,
            'node': f'{host}.example',
            'flavor': FLAVOR,
            **sizes,
            **more,
        }
        self.api.cell(cell).db.write(instances.create, [values])
        return uuid

    def test_list(self):
        shown = self.list()
        self.assertEqual({'h1.example', 'h2.example'}, set(shown))
        self.assertEqual(
            {'id': 1, 'hypervisor_hostname': 'h1.example', 'state': 'up', 'status': 'enabled'},
            shown['h1.example'],
        )
        self.assertEqual(self.node, self.list(version='2.53')['h1.example']['id'])
        self.request('GET', URL, status=403)

    def test_what_was_not_discovered_is_not_shown(self):
        self.api.cell('cell1').db.write(compute_nodes.set_mapped, ['h1'], mapped=False)
        self.assertEqual(['h2.example'], list(self.list()))

    def test_pages(self):
        answer = self.admin('GET', f'{URL}?limit=1', version='2.53')
        self.assertIn(f'marker={self.node}', answer['hypervisors_links'][0]['href'])
        shown = self.list(f'?limit=1&marker={self.node}', version='2.53')
        self.assertEqual(['h2.example'], list(shown))
        self.assertEqual(2, len(self.list('?limit=1', version='2.32')))
        self.list('?marker=x', version='2.33', status=400)
        self.list('?limit=1&limit=2', version='2.52')
        self.list('?limit=1&limit=2', version='2.53', status=400)

    def test_marker_is_an_id_of_any_microversion(self):
        for marker in (self.node, '1'):
            for version in ('2.33', '2.52', '2.53', '2.88'):
                shown = self.list(f'?marker={marker}', version=version)
                self.assertEqual(['h2.example'], list(shown), version)

    def test_pattern(self):
        self.assertEqual(
            ['h2.example'], list(self.list('?hypervisor_hostname_pattern=H2', version='2.53'))
        )
        self.list('?hypervisor_hostname_pattern=h9', version='2.53', status=404)
        self.list('?hypervisor_hostname_pattern=h2&limit=1', version='2.53', status=400)
        self.list('?unknown=x', version='2.53', status=400)

    def test_detail(self):
        self.add_server()
        self.add_server(task_state='rebooting')
        shown = self.list('/detail')['h1.example']
        self.assertEqual(
            {
                'id': 1,
                'hypervisor_hostname': 'h1.example',
                'state': 'up',
                'status': 'enabled',
                'hypervisor_type': 'sim',
                'hypervisor_version': 1002003,
                'host_ip': '192.0.2.1',
                'service': {'id': 1, 'host': 'h1', 'disabled_reason': None},
                'cpu_info': json.dumps({'arch': 'x86_64'}),
                'vcpus': 8,
                'memory_mb': 16384,
                'local_gb': 100,
                'vcpus_used': 4,
                'memory_mb_used': 2560,
                'local_gb_used': 30,
                'free_ram_mb': 13824,
                'free_disk_gb': 70,
                'disk_available_least': 70,
                'current_workload': 1,
                'running_vms': 2,
            },
            shown,
        )
        self.assertEqual(
            {'arch': 'x86_64'}, self.list('/detail', version='2.28')['h1.example']['cpu_info']
        )

    def test_a_move_counts_at_both_ends(self):
        uuid = self.add_server()
        self.api.add_host('h3')
        self.api.cell('cell1').db.write(
            migrations.create,
            {
                'uuid': runtime.new_uuid(),
                'instance_uuid': uuid,
                'migration_type': 'migration',
                'status': 'migrating',
                'source_compute': 'h1',
                'source_node': 'h1.example',
                'dest_compute': 'h3',
                'dest_node': 'h3.example',
            },
        )
        shown = self.list('/detail')
        self.assertEqual(
            (2, 2), (shown['h1.example']['vcpus_used'], shown['h3.example']['vcpus_used'])
        )

    def test_slim_from_2_88(self):
        self.api.compute['cell1'].answers['host_uptime'] = 'up 3 days'
        self.api.compute['cell2'].answers['host_uptime'] = exception.NotImplementedHere(reason='x')
        shown = self.list('/detail', version='2.88')
        self.assertEqual(
            {
                'id', 'hypervisor_hostname', 'state', 'status', 'hypervisor_type',
                'hypervisor_version', 'host_ip', 'service', 'uptime',
            },
            set(shown['h1.example']),
        )  # fmt: skip
        self.assertEqual('up 3 days', shown['h1.example']['uptime'])
        self.assertIsNone(shown['h2.example']['uptime'])
        found = self.admin('GET', f'{URL}/{self.node}', version='2.88')['hypervisor']
        self.assertEqual('up 3 days', found['uptime'])

    def test_show(self):
        found = self.admin('GET', f'{URL}/{self.node}', version='2.53')['hypervisor']
        self.assertEqual('h1.example', found['hypervisor_hostname'])
        self.admin('GET', f'{URL}/1', version='2.53', status=400)
        self.admin('GET', f'{URL}/{runtime.new_uuid()}', version='2.53', status=404)
        self.admin('GET', f'{URL}/9', status=404)
        self.admin('GET', f'{URL}/x', status=404)
        self.api.add_host('h3')
        found = self.admin('GET', f'{URL}/2')['hypervisor']
        self.assertEqual('h3.example', found['hypervisor_hostname'])

    def test_number_that_several_cells_have(self):
        found = self.admin('GET', f'{URL}/1')['hypervisor']
        self.assertEqual('h1.example', found['hypervisor_hostname'])
        self.api.compute['cell1'].answers['host_uptime'] = 'up 3 days'
        found = self.admin('GET', f'{URL}/1/uptime', version='2.52')['hypervisor']
        self.assertEqual(
            ('h1.example', 'up 3 days'), (found['hypervisor_hostname'], found['uptime'])
        )

    def test_servers(self):
        uuid = self.add_server()
        shown = self.list('?with_servers=true', version='2.53')
        self.assertEqual(
            [{'uuid': uuid, 'name': 'instance-00000001'}], shown['h1.example']['servers']
        )
        self.assertNotIn('servers', shown['h2.example'])
        shown = self.list('?with_servers=true', version='2.75')
        self.assertEqual([], shown['h2.example']['servers'])
        self.assertNotIn('servers', self.list(version='2.75')['h1.example'])
        self.assertEqual(uuid, self.list('/h1/servers')['h1.example']['servers'][0]['uuid'])
        self.list('/h1/servers', version='2.53', status=404)

    def test_search(self):
        self.assertEqual(['h1.example'], list(self.list('/h1/search')))
        self.list('/h9/search', status=404)
        self.list('/h1/search', version='2.53', status=404)

    def test_statistics(self):
        self.add_server()
        found = self.admin('GET', f'{URL}/statistics')['hypervisor_statistics']
        self.assertEqual(
            (2, 16, 2, 1, 100 + 85),
            tuple(
                found[name]
                for name in ('count', 'vcpus', 'vcpus_used', 'running_vms', 'free_disk_gb')
            ),
        )
        row = self.api.cell('cell2').db.read(services.find, 'h2')
        self.api.cell('cell2').db.write(services.update, row.uuid, {'disabled': True})
        found = self.admin('GET', f'{URL}/statistics', version='2.87')['hypervisor_statistics']
        self.assertEqual(1, found['count'])
        self.admin('GET', f'{URL}/statistics', version='2.88', status=404)

    def test_uptime(self):
        compute = self.api.compute['cell1']
        compute.answers['host_uptime'] = 'up 3 days'
        found = self.admin('GET', f'{URL}/{self.node}/uptime', version='2.53')['hypervisor']
        self.assertEqual('up 3 days', found['uptime'])
        compute.answers['host_uptime'] = exception.NotImplementedHere(reason='x')
        self.admin('GET', f'{URL}/{self.node}/uptime', version='2.53', status=501)
        row = self.api.cell('cell1').db.read(services.find, 'h1')
        self.api.cell('cell1').db.write(services.update, row.uuid, {'forced_down': True})
        self.admin('GET', f'{URL}/{self.node}/uptime', version='2.53', status=400)
        self.admin('GET', f'{URL}/{self.node}/uptime', version='2.88', status=404)
