"""placement: with the real placement service."""

import itertools
import json

from nova_lite import conf as configuration
from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db.api import aggregates
from nova_lite.db.api import build_requests
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import migrations
from tests.fixtures import http
from tests.fixtures import placement as placement_fixture
from tests.fixtures import reported
from tests.unit.clients import base as clients_base
from tests.unit.manage import base


class PlacementTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(placement_fixture.Placement())
        self.options['placement'] = {
            'auth_type': 'none',
            'endpoint_override': self.service.url,
        }
        conf = configuration.make_conf([], files=[])
        for name, value in self.options['placement'].items():
            conf.set_override(name, value, group='placement')
        self.client = placement.Placement(auth.Credentials(conf))
        self.ctxt = context.admin()
        self.set_up_cells()
        self.node = self.add_host('h1')
        self.run_verb('cell_v2', 'discover_hosts')

    def add_provider(self, uuid=None, name='h1'):
        uuid = uuid or self.node
        self.client.providers.ensure(self.ctxt, uuid, name)
        self.client.providers.set_inventories(self.ctxt, uuid, clients_base.inventories())

    def add_server(self, **more):
        return super().add_server(**{'host': 'h1', 'node': 'h1', **more})

    def claim(self, uuid, provider=None):
        self.client.claim(
            self.ctxt,
            placement.Consumer(uuid, 'p', 'u'),
            clients_base.request(provider or self.node),
        )

    def place(self, verb, *argv, code=0):
        return self.run_verb('placement', verb, *argv, code=code)


class AggregatesTest(PlacementTest):
    def aggregate(self, *hosts):
        found = self.api_db.write(aggregates.create, uuid=runtime.new_uuid(), name='a', metadata={})
        for host in hosts:
            self.api_db.write(aggregates.add_host, found.id, host)
        return found

    def test_adds_what_is_missing(self):
        self.place('sync_aggregates')
        found = self.aggregate('h1')
        self.place('sync_aggregates', code=6)
        self.add_provider()
        self.assertIn(found.uuid, self.place('sync_aggregates', '--verbose'))
        self.assertEqual({found.uuid}, self.client.providers.aggregates(self.ctxt, self.node)[0])
        self.place('sync_aggregates')

    def test_schedulers_ask_placement_anew(self):
        self.add_provider()
        self.aggregate('h1')
        before = self.api_db.read(stamps.every)[stamps.AGGREGATES]
        self.place('sync_aggregates')
        self.assertGreater(self.api_db.read(stamps.every)[stamps.AGGREGATES], before)

    def test_refused(self):
        found = self.aggregate('h9')
        self.place('sync_aggregates', code=4)
        self.api_db.write(aggregates.remove_host, found.id, 'h9')
        self.api_db.write(aggregates.add_host, found.id, 'h1')
        self.options['placement']['endpoint_override'] = 'http://127.0.0.1:1'
        self.options['placement']['connect_retries'] = 0
        self.place('sync_aggregates', code=2)

    def test_a_host_with_two_nodes(self):
        self.aggregate('h1')
        self.local.write(
            compute_nodes.report, [reported.node_of('h1', runtime.new_uuid(), name='another')]
        )
        self.assertIn('h1', self.place('sync_aggregates', code=1))

    def test_a_provider_that_others_keep_changing(self):
        self.add_provider()
        found = self.aggregate('h1')
        traits = itertools.cycle([{'HW_CPU_X86_AVX'}, set()])

        def rival(environ, start_response):
            if environ['REQUEST_METHOD'] == 'PUT':
                self.client.providers.set_traits(self.ctxt, self.node, next(traits))
            return self.service.app(environ, start_response)

        server = self.useFixture(http.Http({'/placement': rival}))
        self.options['placement']['endpoint_override'] = f'{server.url}/placement'
        self.assertIn('h1', self.place('sync_aggregates', code=3))
        self.assertEqual(set(), self.client.providers.aggregates(self.ctxt, self.node)[0])
        self.options['placement']['endpoint_override'] = self.service.url
        self.place('sync_aggregates')
        self.assertEqual({found.uuid}, self.client.providers.aggregates(self.ctxt, self.node)[0])

    def test_a_host_without_node(self):
        self.aggregate('h1')
        self.local.write(compute_nodes.destroy, self.node)
        self.assertIn('h1', self.place('sync_aggregates', code=5))

    def test_a_cell_that_is_away(self):
        self.aggregate('h1')
        self.run_verb(
            'cell_v2',
            'create_cell',
            '--name=cell2',
            '--database_connection=sqlite:////nowhere/cell2.sqlite',
            '--transport-url=rabbit://bus/cell2',
        )
        self.assertIn('cell2', self.place('sync_aggregates', code=255))


class HealTest(PlacementTest):
    def holding(self, uuid):
        return self.client.holding(self.ctxt, uuid).allocations

    def test_heals(self):
        uuid = self.add_server()
        self.place('heal_allocations', code=3)
        self.add_provider()
        self.assertIn(uuid, self.place('heal_allocations', '--dry-run', code=4))
        self.assertEqual({}, self.holding(uuid))
        self.place('heal_allocations')
        self.assertEqual(
            {self.node: {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 5}}, self.holding(uuid)
        )
        self.place('heal_allocations', code=4)

    def test_max_count(self):
        self.add_provider()
        uuids = [self.add_server() for _number in range(2)]
        self.place('heal_allocations', '--max-count', '1', code=1)
        self.assertEqual(1, sum(bool(self.holding(uuid)) for uuid in uuids))
        self.place('heal_allocations', '--cell', self.cell_uuid)

    def test_one_server(self):
        self.add_provider()
        uuid, other = self.add_server(), self.add_server()
        self.run_verb('cell_v2', 'map_instances', '--cell_uuid', self.cell_uuid)
        self.claim(uuid)
        self.place('heal_allocations', '--instance', uuid, code=4)
        self.place('heal_allocations', '--instance', uuid, '--force')
        self.assertEqual(2, self.holding(uuid)[self.node]['VCPU'])
        self.assertEqual({}, self.holding(other))

    def test_all_groups_and_dedicated_cpus(self):
        """The scheduler would claim the same; VCPU are used where PCPU are missing."""
        inventories = clients_base.inventories()
        self.add_provider()
        specs = {
            'hw:cpu_policy': 'dedicated',
            'resources:DISK_GB': '7',
            'resources_1:MEMORY_MB': '8',
        }
        flavor = {**base.FLAVOR, 'extra_specs': specs}
        uuid = self.add_server(flavor=flavor)
        self.place('heal_allocations')
        rest = {'MEMORY_MB': 8, 'DISK_GB': 7}
        self.assertEqual({self.node: {'VCPU': 2, **rest}}, self.holding(uuid))
        inventories['PCPU'] = {'total': 4}
        self.client.providers.set_inventories(self.ctxt, self.node, inventories)
        self.run_verb('cell_v2', 'map_instances', '--cell_uuid', self.cell_uuid)
        self.place('heal_allocations', '--instance', uuid, '--force')
        self.assertEqual({self.node: {'PCPU': 2, **rest}}, self.holding(uuid))

    def test_force_leaves_what_cannot_be_replaced(self):
        self.add_provider()
        uuid = self.add_server(flavor={**base.FLAVOR, 'extra_specs': {'resources:VCPU': '9999'}})
        self.run_verb('cell_v2', 'map_instances', '--cell_uuid', self.cell_uuid)
        self.claim(uuid)
        before = self.holding(uuid)
        self.place('heal_allocations', '--instance', uuid, '--force', code=3)
        self.assertTrue(before)
        self.assertEqual(before, self.holding(uuid))

    def test_what_ports_hold_stays(self):
        """Ports are told of their providers by bindings, which this does not change."""
        self.add_provider()
        bandwidth = {'NET_BW_EGR_KILOBIT_PER_SEC': 5}
        below, server = runtime.new_uuid(), self.add_server()
        self.client.providers.ensure(self.ctxt, below, 'h1:agent', parent=self.node)
        self.client.providers.set_inventories(
            self.ctxt, below, {name: {'total': 10} for name in bandwidth}
        )
        self.run_verb('cell_v2', 'map_instances', '--cell_uuid', self.cell_uuid)
        owner = placement.Consumer(server, 'p', 'u')
        self.client.claim(self.ctxt, owner, {'allocations': {below: {'resources': bandwidth}}})
        self.place('heal_allocations', '--instance', server, '--force')
        held = self.client.holding(self.ctxt, server).allocations
        self.assertEqual({self.node, below}, held.keys())
        self.assertEqual(bandwidth, held[below])

    def test_refused(self):
        uuid = self.add_server(node='h9')
        self.place('heal_allocations', code=2)
        self.place('heal_allocations', '--max-count', '0', code=127)
        self.place('heal_allocations', '--force', code=127)
        self.place('heal_allocations', '--instance', uuid, code=127)
        self.place('heal_allocations', '--cell', runtime.new_uuid(), code=127)


class AuditTest(PlacementTest):
    def test_finds_what_belongs_to_nothing(self):
        self.add_provider()
        orphan = runtime.new_uuid()
        self.claim(self.add_server())
        self.place('audit')
        self.claim(orphan)
        self.assertIn(orphan, self.place('audit', '--verbose', code=3))
        (listed,) = json.loads(self.place('audit', '--json', code=3))
        self.assertEqual((self.node, orphan), (listed['resource_provider'], listed['consumer']))
        self.place('audit', '--resource_provider', runtime.new_uuid(), code=127)
        self.place('audit', '--resource_provider', self.node, '--delete', code=4)
        self.assertFalse(self.client.holding(self.ctxt, orphan))
        self.place('audit')

    def test_providers_below_a_node(self):
        """They are the node's."""
        self.add_provider()
        below, server = runtime.new_uuid(), self.add_server()
        self.client.providers.ensure(self.ctxt, below, 'h1:agent', parent=self.node)
        self.client.providers.set_inventories(
            self.ctxt, below, clients_base.inventories(vcpus=2, ram_mb=1024)
        )
        self.claim(server, below)
        self.place('audit')
        orphan = runtime.new_uuid()
        self.claim(orphan, below)
        (listed,) = json.loads(self.place('audit', '--json', code=3))
        self.assertEqual((below, orphan), (listed['resource_provider'], listed['consumer']))
        self.place('audit', '--delete', code=4)
        self.assertFalse(self.client.holding(self.ctxt, orphan))
        self.assertTrue(self.client.holding(self.ctxt, server))

    def test_what_moves_or_is_being_made_is_no_orphan(self):
        self.add_provider()
        other = self.add_host('h2')
        self.add_provider(other, 'h2')
        moving, move, building = self.add_server(), runtime.new_uuid(), runtime.new_uuid()
        self.local.write(
            migrations.create,
            {
                'uuid': move,
                'instance_uuid': moving,
                'migration_type': 'migration',
                'status': 'migrating',
                'source_compute': 'h1',
                'source_node': 'h1',
                'dest_compute': 'h2',
                'dest_node': 'h2',
            },
        )
        self.claim(moving, other)
        self.claim(move)
        self.api_db.write(
            build_requests.create,
            [
                {
                    'instance_uuid': building,
                    'project_id': 'p',
                    'reservation_id': 'r',
                    'request_id': 'req',
                    'instance': {},
                    'block_devices': [],
                    'tags': [],
                    'arguments': {},
                    'lease_until': runtime.naive_now(),
                }
            ],
        )
        self.claim(building)
        self.place('audit')

    def test_a_server_elsewhere_does_not_account_for_it(self):
        self.add_provider()
        other = self.add_host('h2')
        self.add_provider(other, 'h2')
        self.claim(self.add_server(), other)
        self.place('audit', code=3)

    def test_placement_is_away(self):
        self.options['placement']['endpoint_override'] = 'http://127.0.0.1:1'
        self.options['placement']['connect_retries'] = 0
        self.place('audit', code=1)
