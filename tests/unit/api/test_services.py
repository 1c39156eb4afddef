"""Services and availability zones over HTTP."""

import types

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import services as services_api
from nova_lite.db.api import aggregates
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from tests.fixtures import clock
from tests.fixtures import compute_api
from tests.unit.api import base

URL = '/os-services'
SERVER = {
    'project_id': 'p',
    'user_id': 'u',
    'display_name': 's',
    'vm_state': 'active',
    'vcpus': 1,
    'memory_mb': 512,
    'root_gb': 1,
    'ephemeral_gb': 0,
    'flavor': {},
}


class ServiceTest(base.ApiTest):
    def make_api(self):
        self.clock = self.useFixture(clock.ManualClock())
        self.providers = compute_api.Recorder()
        self.providers.answers['list'] = []
        return compute_api.ComputeApi(placement=types.SimpleNamespace(providers=self.providers))

    def setUp(self):
        super().setUp()
        self.node = self.api.add_host('h1')
        self.api.add_host('h2', 'cell2')
        self.api.cell('cell0').db.write(services.beat, ['top'], 'nova-scheduler', 'scheduler')
        self.compute = self.api.compute['cell1']

    def add_to_zone(self, host, zone):
        aggregate = self.api.api_db.write(
            aggregates.create,
            uuid=runtime.new_uuid(),
            name=zone,
            metadata={'availability_zone': zone},
        )
        self.api.api_db.write(aggregates.add_host, aggregate.id, host)

    def services(self, query='', version='2.1'):
        found = self.admin('GET', URL + query, version=version)['services']
        return {each['host']: each for each in found}

    def put(self, path, body, version='2.52', status=200):
        answer = self.admin('PUT', f'{URL}/{path}', body, version=version, status=status)
        return answer.get('service')

    def row(self, host='h1', cell='cell1'):
        return self.api.cell(cell).db.read(services.find, host)


class ListTest(ServiceTest):
    def test_view(self):
        shown = self.services()['h1']
        self.assertEqual(
            {
                'id': 1,
                'binary': 'nova-compute',
                'host': 'h1',
                'zone': 'nova',
                'status': 'enabled',
                'state': 'up',
                'updated_at': '2026-01-01T00:00:00.000000',
                'disabled_reason': None,
            },
            shown,
        )
        self.assertIs(False, self.services(version='2.11')['h1']['forced_down'])
        self.assertEqual(self.row().uuid, self.services(version='2.53')['h1']['id'])
        self.assertEqual('internal', self.services()['top']['zone'])
        self.request('GET', URL, status=403)

    def test_filters(self):
        self.assertEqual({'h2'}, set(self.services('?host=h2')))
        self.assertEqual({'top'}, set(self.services('?binary=nova-scheduler')))
        self.assertEqual({'h1', 'h2', 'top'}, set(self.services('?unknown=x')))
        self.admin('GET', f'{URL}?unknown=x', version='2.75', status=400)

    def test_states(self):
        self.clock.advance(self.api.conf.service_down_time + 1)
        self.assertEqual('down', self.services()['h1']['state'])

    def test_a_cell_that_is_down(self):
        self.api.api_db.write(
            cell_mappings.update,
            self.api.cell('cell2').uuid,
            {'database_connection': 'mysql+pymysql://nobody:x@127.0.0.1:1/none'},
        )
        self.clock.advance(60)
        self.assertEqual({'h1', 'top'}, set(self.services()))
        self.assertEqual(
            {'binary': 'nova-compute', 'host': 'h2', 'status': 'UNKNOWN'},
            self.services(version='2.69')['h2'],
        )
        self.assertNotIn('h2', self.services('?host=h1', version='2.69'))


class NamedTest(ServiceTest):
    BODY = {'host': 'h1', 'binary': 'nova-compute'}  # noqa: RUF012

    def test_disable_and_enable(self):
        before = self.api.api_db.read(stamps.every).get(stamps.HOSTS, 0)
        shown = self.put('disable', self.BODY)
        self.assertEqual({**self.BODY, 'status': 'disabled'}, shown)
        self.assertTrue(self.row().disabled)
        self.assertEqual(
            [('set_host_enabled', {'host': 'h1', 'enabled': False})], self.compute.calls
        )
        self.assertLess(before, self.api.api_db.read(stamps.every)[stamps.HOSTS])
        shown = self.put('disable-log-reason', {**self.BODY, 'disabled_reason': 'rust'})
        self.assertEqual({**self.BODY, 'status': 'disabled', 'disabled_reason': 'rust'}, shown)
        self.assertEqual('rust', self.services()['h1']['disabled_reason'])
        self.put('enable', self.BODY)
        self.assertIsNone(self.row().disabled_reason)
        self.assertEqual({'host': 'h1', 'enabled': True}, self.compute.calls[-1][1])

    def test_force_down(self):
        shown = self.put('force-down', {**self.BODY, 'forced_down': 'true'})
        self.assertEqual({**self.BODY, 'forced_down': True}, shown)
        self.assertEqual('down', self.services()['h1']['state'])
        self.put('force-down', self.BODY, version='2.10', status=404)
        self.assertEqual([], self.compute.calls)

    def test_refused(self):
        self.put('unheard-of', self.BODY, status=404)
        self.put('disable-log-reason', self.BODY, status=400)
        self.put('force-down', self.BODY, status=400)
        self.put('enable', {'host': 'h1'}, status=400)
        self.put('enable', {**self.BODY, 'unknown': 1}, status=400)
        self.put('enable', {**self.BODY, 'host': 'h9'}, status=404)
        self.put('enable', {**self.BODY, 'binary': 'nova-scheduler'}, status=400)
        self.put('enable', {**self.BODY, 'forced_down': True}, version='2.10', status=400)
        self.put('enable', self.BODY, version='2.53', status=400)
        self.request('PUT', f'{URL}/enable', self.BODY, status=403)

    def test_a_host_that_does_not_answer_is_disabled_all_the_same(self):
        self.compute.answers['set_host_enabled'] = exception.MessagingTimeout(
            service='compute', reason='no reply', method='set_host_enabled', topic='compute'
        )
        self.put('disable', self.BODY)
        self.assertTrue(self.row().disabled)
        self.clock.advance(self.api.conf.service_down_time + 1)
        self.compute.calls.clear()
        self.put('enable', self.BODY)
        self.assertEqual([], self.compute.calls)


class UpdateTest(ServiceTest):
    def test_by_uuid(self):
        path = self.row().uuid
        shown = self.put(path, {'status': 'disabled', 'disabled_reason': 'rust'}, '2.53')
        self.assertEqual(('disabled', 'rust'), (shown['status'], shown['disabled_reason']))
        shown = self.put(path, {'forced_down': True}, '2.53')
        self.assertEqual(('down', 'rust'), (shown['state'], shown['disabled_reason']))
        self.assertEqual(1, len(self.compute.calls))
        shown = self.put(path, {'status': 'enabled', 'forced_down': False}, '2.53')
        self.assertEqual(('up', None), (shown['state'], shown['disabled_reason']))

    def test_refused(self):
        path = self.row().uuid
        self.put(path, {}, '2.53', status=400)
        self.put(path, {'disabled_reason': 'x'}, '2.53', status=400)
        self.put(path, {'status': 'enabled', 'disabled_reason': 'x'}, '2.53', status=400)
        self.put(path, {'status': 'other'}, '2.53', status=400)
        self.put(runtime.new_uuid(), {'status': 'enabled'}, '2.53', status=404)
        scheduler = self.services(version='2.53')['top']['id']
        self.put(scheduler, {'status': 'disabled'}, '2.53', status=400)


class EvacuatedTest(ServiceTest):
    """A host is not up before it has removed the servers that were evacuated from it."""

    def setUp(self):
        super().setUp()
        self.service = self.row().uuid
        self.bring_up(down=True)
        self.evacuation = self.evacuate('h1')

    def evacuate(self, host):
        """Record an evacuation from a host, to begin with; returns its uuid."""
        uuid = runtime.new_uuid()
        values = {
            'uuid': uuid,
            'instance_uuid': runtime.new_uuid(),
            'migration_type': 'evacuation',
            'status': 'accepted',
            'source_compute': host,
        }
        self.write(migrations.create, values)
        return uuid

    def write(self, function, *args):
        self.api.cell('cell1').db.write(function, *args)

    def bring_up(self, *, down=False, status=200):
        """Change forced_down, by the request of each microversion."""
        self.put(self.service, {'forced_down': down}, '2.53', status=status)
        named = {'host': 'h1', 'binary': 'nova-compute', 'forced_down': down}
        self.put('force-down', named, '2.11', status=status)

    def test_while_the_evacuation_goes_on(self):
        for status in ('accepted', 'pre-migrating', 'done'):
            self.write(migrations.update, self.evacuation, {'status': status})
            self.bring_up(status=400)
            self.assertTrue(self.row().forced_down, status)

    def test_after_its_end(self):
        for status in ('completed', 'failed', 'error'):
            self.write(migrations.update, self.evacuation, {'status': status})
            self.bring_up()
            self.assertFalse(self.row().forced_down, status)
            self.bring_up(down=True)

    def test_what_else_may_be_changed(self):
        """Also of a host that servers are evacuated to."""
        self.put(self.service, {'status': 'disabled'}, '2.53')
        self.put(self.service, {'status': 'enabled', 'forced_down': True}, '2.53')
        self.write(migrations.update, self.evacuation, {'source_compute': 'h3'})
        self.write(migrations.update, self.evacuation, {'dest_compute': 'h1'})
        self.bring_up()


class DeleteTest(ServiceTest):
    def delete(self, path, status=204, version='2.53'):
        self.admin('DELETE', f'{URL}/{path}', version=version, status=status)

    def test_takes_all_of_the_host_along(self):
        self.add_to_zone('h1', 'z')
        self.delete(self.row().uuid)
        self.assertEqual(['h2', 'top'], sorted(self.services()))
        self.assertEqual([], self.api.cell('cell1').db.read(compute_nodes.every))
        self.assertRaises(exception.HostMappingNotFound, self.api.cells.of_host, 'h1')
        self.assertEqual({}, self.api.api_db.read(aggregates.zones))
        self.assertEqual(('delete_tree', self.node, {}), self.providers.calls[-1])

    def test_by_number(self):
        self.delete('1', version='2.1', status=400)  # every cell has a service 1
        self.delete('7', version='2.1', status=404)
        self.delete('one', version='2.1', status=400)
        self.delete('1', status=400)
        self.delete(runtime.new_uuid(), status=404)
        self.assertEqual(
            'Service id 1 refers to multiple services.', str(services_api.NotUnique(service_id=1))
        )

    def test_not_while_it_has_servers(self):
        values = {**SERVER, 'uuid': runtime.new_uuid(), 'host': 'h1'}
        self.api.cell('cell1').db.write(instances.create, [values])
        self.delete(self.row().uuid, status=409)

    def test_not_while_servers_move(self):
        self.api.cell('cell1').db.write(
            migrations.create,
            {
                'uuid': runtime.new_uuid(),
                'instance_uuid': runtime.new_uuid(),
                'migration_type': 'migration',
                'status': 'migrating',
                'dest_compute': 'h1',
            },
        )
        self.delete(self.row().uuid, status=409)

    def test_not_while_placement_has_allocations(self):
        self.providers.answers['delete_tree'] = exception.Conflict(reason='in use')
        self.delete(self.row().uuid, status=409)
        self.assertIn('h1', self.services())


class ZonesTest(ServiceTest):
    def zones(self, path='', **options):
        found = self.admin('GET', '/os-availability-zone' + path, **options)
        return {each['zoneName']: each for each in found['availabilityZoneInfo']}

    def test_list(self):
        self.add_to_zone('h1', 'z1')
        shown = self.zones()
        self.assertEqual({'nova', 'z1'}, set(shown))
        self.assertEqual(
            {'zoneName': 'z1', 'zoneState': {'available': True}, 'hosts': None}, shown['z1']
        )
        self.get('/os-availability-zone')
        self.get('/os-availability-zone/detail', status=403)

    def test_a_zone_of_disabled_hosts_is_not_available(self):
        self.add_to_zone('h1', 'z1')
        self.put('disable', {'host': 'h1', 'binary': 'nova-compute'})
        self.assertEqual({'available': False}, self.zones()['z1']['zoneState'])
        self.assertIsNone(self.zones('/detail')['z1']['hosts'])

    def test_detail(self):
        shown = self.zones('/detail')
        self.assertEqual({'nova', 'internal'}, set(shown))
        self.assertEqual(
            {
                'nova-compute': {
                    'active': True,
                    'available': True,
                    'updated_at': '2026-01-01T00:00:00.000000',
                }
            },
            shown['nova']['hosts']['h1'],
        )
