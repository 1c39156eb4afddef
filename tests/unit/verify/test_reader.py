"""Requests of the reader of snapshots to the neighbours."""

import fixtures

from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import holdings
from nova_lite.clients import placement as clients_placement
from nova_lite.clients import volume
from nova_lite.db.api import aggregates
from nova_lite.db.api import cell_mappings
from nova_lite.simcloud import storage
from nova_lite.verify import age_limits
from nova_lite.verify import files
from nova_lite.verify import invariants
from nova_lite.verify import reader
from tests.fixtures import database
from tests.fixtures import placement
from tests.fixtures import ready_volumes
from tests.unit.clients import neighbours

PAGE, COUNT = 2, 5


class ReaderTestCase(neighbours.NeighbourTestCase):
    def setUp(self):
        super().setUp()
        api = self.useFixture(database.ApiDatabase())
        cell = self.useFixture(database.CellDatabase())
        values = {'uuid': runtime.new_uuid(), 'name': 'cell1', 'transport_url': 'embedded://'}
        api.write(
            cell_mappings.create,
            {**values, 'database_connection': cell.url, 'disabled': False},
        )
        self.conf.set_override('connection', api.url, 'api_database')
        self.placement_server = self.useFixture(placement.Placement())
        self.point('placement', self.placement_server.url)

    def open(self):
        """A Reader, which is closed at the end."""
        directory = self.useFixture(fixtures.TempDir()).path
        opened = reader.Reader(self.conf, files.of_state_directory(directory), running=False)
        self.addCleanup(opened.close)
        return opened


class Detaching:
    """A network service of which a port is detached right after it was listed."""

    def __init__(self, network, port_id):
        self.call = network.call
        self._network, self._port_id = network, port_id

    def get(self, ctxt, path):
        found = self._network.get(ctxt, path)
        body = {'port': {'device_id': '', 'device_owner': ''}}
        self.call(ctxt, 'PUT', f'/ports/{self._port_id}', json=body)
        return found


class PortTest(ReaderTestCase):
    def test_detached_after_it_was_listed(self):
        opened = self.open()
        network = opened.network.get(self.admin, '/networks')['networks'][0]['id']
        port = {'network_id': network, 'device_id': runtime.new_uuid()}
        port['device_owner'] = 'compute:nova'
        made = opened.network.call(self.admin, 'POST', '/ports', json={'port': port}).json()['port']
        opened.network = Detaching(opened.network, made['id'])
        self.assertEqual({}, opened.read(self.admin).bindings)


class PagesTest(ReaderTestCase):
    """The volume service gives two items at a time."""

    def setUp(self):
        super().setUp()
        self.patch(storage, 'MOST', PAGE)
        self.volume = volume.Volume(auth.Credentials(self.conf))
        self.reserved = [self.reserve(number) for number in range(COUNT)]

    def reserve(self, number):
        """A new volume, reserved for a server that does not exist; (volume, attachment)."""
        made = self.volume.create(self.member, size=1, name=f'{number}')['id']
        ready_volumes.wait(self.volume, self.member, made)
        attachment = self.volume.create_attachment(self.member, made, runtime.new_uuid())
        return made, attachment['id']

    def test_a_finding_on_each_page(self):
        snapshot, requests = self.count_requests(self.open().read, self.admin)
        owned = {f'attachment {attachment}' for _volume, attachment in self.reserved}
        found = {each.what for each in invariants.check(snapshot, age_limits.AgeLimits())}
        self.assertEqual(owned, {what for what in found if what.startswith('attachment')})
        self.assertEqual(
            {volume_id for volume_id, _attachment in self.reserved},
            {each['id'] for each in snapshot.volumes},
        )
        pages = [path for _method, path in requests if '/attachments/detail' in path]
        self.assertEqual(1 + -(-COUNT // PAGE), len(pages))


class PlacementTest(ReaderTestCase):
    """Of placement's providers only what may have changed is read again."""

    def setUp(self):
        super().setUp()
        self.placement = clients_placement.Placement(auth.Credentials(self.conf))
        self.providers = self.placement.providers
        self.nodes = [self.node(name) for name in ('one', 'two')]
        self.reader = self.open()
        self.reader.read(self.admin)

    def node(self, name):
        """A provider; returns its uuid."""
        made = self.providers.ensure(self.admin, runtime.new_uuid(), name)
        self.providers.set_inventories(
            self.admin, made.uuid, {'VCPU': {'total': 4}}, generation=made.generation
        )
        return made.uuid

    def claim(self, node):
        """Allocate one core for a new consumer; returns it."""
        consumer = holdings.Consumer(runtime.new_uuid(), 'project', 'user')
        request = {'allocations': {node: {'resources': {'VCPU': 1}}}}
        self.assertTrue(self.placement.claim(self.admin, consumer, request, new=True))
        return consumer.uuid

    def read(self):
        """(snapshot, parts of providers that were read for it)"""
        self.placement_server.requests.clear()
        snapshot = self.reader.read(self.admin)
        paths = [
            path.split('/')
            for _method, path in self.placement_server.requests
            if '/resource_providers/' in path
        ]
        return snapshot, [(self.nodes.index(path[-2]), path[-1]) for path in paths]

    def test_nothing_is_read_of_unused_ones_without_a_change(self):
        snapshot, parts = self.read()
        self.assertEqual([], parts)
        self.assertEqual(set(self.nodes), snapshot.providers.keys())

    def test_allocations_that_come_and_go(self):
        consumer = self.claim(self.nodes[1])
        snapshot, parts = self.read()
        self.assertEqual({consumer: {self.nodes[1]: {'VCPU': 1}}}, snapshot.allocations)
        self.assertEqual([(1, 'inventories'), (1, 'traits'), (1, 'allocations')], parts)
        self.assertEqual([(1, 'allocations')], self.read()[1])
        self.placement.delete_allocations(self.admin, consumer, force=True)
        snapshot, parts = self.read()
        self.assertEqual(({}, [(1, 'allocations')]), (snapshot.allocations, parts))
        self.assertEqual([], self.read()[1])

    def test_aggregates_are_read_once_there_are_some(self):
        stray, ours = runtime.new_uuid(), runtime.new_uuid()
        self.providers.add_to_aggregate(self.admin, self.nodes[0], stray)
        self.assertNotIn((0, 'aggregates'), self.read()[1])
        self.reader.api_db.write(aggregates.create, uuid=ours, name='ours', metadata={})
        snapshot, parts = self.read()
        self.assertEqual(2, len([part for _node, part in parts if part == 'aggregates']))
        self.assertEqual({stray}, snapshot.providers[self.nodes[0]].aggregates)
        self.providers.add_to_aggregate(self.admin, self.nodes[0], ours)
        snapshot, parts = self.read()
        self.assertEqual({stray, ours}, snapshot.providers[self.nodes[0]].aggregates)
