"""Deletion of the service of a host that is gone, on the real placement."""

import types

from nova_lite import runtime
from nova_lite import states
from nova_lite.api import service_removal
from nova_lite.clients import placement as placement_client
from nova_lite.db.api import aggregates
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import host_use
from tests.fixtures import clock
from tests.fixtures import compute_api
from tests.unit.clients import base as clients_base

URL = '/os-services'
BANDWIDTH = 'NET_BW_EGR_KILOBIT_PER_SEC'
Status = states.MigrationStatus


class Dead(Exception):
    """The process is killed."""


class Mortal:
    """An object each call of which is counted."""

    def __init__(self, target, calls):
        self._target, self._calls = target, calls

    def __getattr__(self, name):
        value = getattr(self._target, name)
        if name == 'providers':
            return Mortal(value, self._calls)
        if not callable(value):
            return value

        def call(*args, **kwargs):
            self._calls.count()
            return value(*args, **kwargs)

        return call


class MortalCell:
    """A cell each transaction of which is counted."""

    def __init__(self, cell, calls):
        self.db = Mortal(cell.db, calls)
        self.id, self.name = cell.id, cell.name
        self.bus_url, self.submit = cell.bus_url, cell.submit


class Calls:
    """Counts calls."""

    def __init__(self, at):
        self.left = at

    def count(self):
        """Raise Dead before the last one."""
        self.left -= 1
        if self.left == 0:
            raise Dead


class RemovalTest(clients_base.PlacementTestCase):
    """A host with two nodes, in a zone; one has a provider below it."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.api = self.useFixture(compute_api.ComputeApi(placement=self.placement))
        self.cell = self.api.cell('cell1')
        self.other = self.add_host('elsewhere', vcpus=99)
        self.aggregate = self.api.api_db.write(
            aggregates.create, uuid=runtime.new_uuid(), name='z', metadata={}
        ).id
        self.add_all()

    def add_all(self):
        """Make the host and all that belongs to it."""
        self.nodes = [self.add_node('node-1'), self.add_node('node-2')]
        self.below = runtime.new_uuid()
        self.providers.ensure(self.admin, self.below, 'node-1:agent', parent=self.nodes[0])
        self.providers.set_inventories(self.admin, self.below, {BANDWIDTH: {'total': 1000}})
        self.api.api_db.write(aggregates.add_host, self.aggregate, 'h1')
        self.service = self.cell.db.read(services.find, 'h1').uuid

    def add_node(self, name):
        uuid = self.api.add_host('h1', hypervisor_hostname=name)
        self.providers.ensure(self.admin, uuid, name)
        self.providers.set_inventories(self.admin, uuid, clients_base.inventories())
        return uuid

    def claim(self, consumer, *providers):
        resources = {uuid: {'VCPU': 1, 'MEMORY_MB': 64} for uuid in providers}
        if self.below in resources:
            resources[self.below] = {BANDWIDTH: 10}
        wanted = {uuid: {'resources': each} for uuid, each in resources.items()}
        owner = placement_client.Consumer(consumer, 'p', 'u')
        self.assertTrue(self.placement.claim(self.admin, owner, {'allocations': wanted}))

    def evacuate(self, node='node-1', cell=None, *providers):
        """Record a server that was evacuated from the host; returns its uuid."""
        uuid = runtime.new_uuid()
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'migration_type': 'evacuation',
            'status': 'done',
            'source_compute': 'h1',
            'source_node': node,
        }
        (cell or self.cell).db.write(migrations.create, values)
        self.claim(uuid, *(providers or self.nodes[:1]), self.other)
        return uuid

    def delete(self, status=204):
        answer = self.api.call(
            'DELETE', f'{URL}/{self.service}', version='2.53', who=compute_api.ADMIN
        )
        self.assertEqual(status, answer.status_code, answer.text)
        return answer.text

    def check_gone(self):
        self.assertIsNone(self.cell.db.read(services.find, 'h1'))
        self.assertEqual([], self.cell.db.read(compute_nodes.every))
        self.assertEqual([], self.api.api_db.read(host_mappings.every))
        self.assertEqual((), self.api.api_db.read(aggregates.every)[0].hosts)
        left = [each.uuid for each in self.providers.list(self.admin)]
        self.assertEqual([self.other], left)

    def test_after_evacuation(self):
        """Servers keep what they hold elsewhere; the evacuations stay on record."""
        servers = [
            self.evacuate('node-1', None, self.nodes[0], self.below),
            self.evacuate('node-2', None, self.nodes[1]),
            # The records of this one followed it to another cell.
            self.evacuate('node-1', self.api.cell('cell2')),
        ]
        self.delete()
        self.check_gone()
        for uuid in servers:
            held = self.placement.holding(self.admin, uuid)
            self.assertEqual({self.other}, held.allocations.keys())
        (first, _second) = self.cell.db.read(migrations.holding)
        self.assertEqual(Status.DONE, first.status)
        self.delete(status=404)

    def test_allocations_of_others(self):
        """The deletion changes nothing while a server that is being built has an allocation."""
        server, builds = self.evacuate(), runtime.new_uuid()
        self.claim(builds, self.nodes[1])
        self.assertIn(builds, self.delete(status=409))
        self.assertIn(self.nodes[0], self.placement.holding(self.admin, server).allocations)
        self.assertEqual(2, len(self.cell.db.read(compute_nodes.every)))
        self.placement.delete_allocations(self.admin, builds)
        self.delete()
        self.check_gone()

    def test_cell_that_is_down(self):
        """It may have the record of the evacuation, or the service itself."""
        self.evacuate()
        url = {'database_connection': 'mysql+pymysql://nobody:x@127.0.0.1:1/none'}
        cell2, cell1 = self.api.cell('cell2').uuid, self.cell.uuid
        self.api.api_db.write(cell_mappings.update, cell2, url)
        self.clock.advance(60)
        self.delete(status=503)
        self.api.api_db.write(cell_mappings.update, cell1, url)
        self.clock.advance(60)
        self.delete(status=503)

    def add_move(self):
        """A move to the host is recorded."""
        values = {'uuid': runtime.new_uuid(), 'instance_uuid': runtime.new_uuid()}
        values |= {'migration_type': 'migration', 'status': 'migrating', 'dest_compute': 'h1'}
        self.cell.db.write(migrations.create, values)

    def test_move_that_is_recorded_meanwhile(self):
        """It holds the mapping of the host, which is not deleted then."""
        remove = service_removal._remove_providers

        def then_move(*args):
            remove(*args)
            self.add_move()

        self.patch(service_removal, '_remove_providers', then_move)
        self.assertIn('in-progress migrations', self.delete(status=409))
        self.assertEqual(['h1'], [row.host for row in self.api.api_db.read(host_mappings.every)])

    def test_move_to_a_host_that_is_discovered_meanwhile(self):
        """The service is deleted by then."""
        unmap, used = host_use.unmap, [None, host_use.Use.MOVES]
        self.patch(host_use, 'unmap', lambda *args: used.pop(0) or unmap(*args))
        self.delete()
        self.assertEqual([], used)
        self.assertIsNone(self.cell.db.read(services.find, 'h1'))

    def test_a_host_that_is_in_another_cell_by_now(self):
        """Its former service is deleted. Its mapping and its zone stay."""
        database, cell2 = self.api.api_db, self.api.cell('cell2')
        database.write(host_mappings.destroy, 'h1')
        database.write(host_mappings.create_missing, cell2.id, ['h1'])
        self.delete()
        self.assertIsNone(self.cell.db.read(services.find, 'h1'))
        self.assertEqual({'h1': cell2.id}, database.read(host_mappings.cell_ids, ['h1']))
        self.assertEqual(('h1',), database.read(aggregates.every)[0].hosts)

    def test_killed_anywhere(self):
        """The deletion may be repeated, whatever was its last call."""
        for at in range(1, 100):
            server = self.evacuate('node-1', None, self.nodes[0], self.below)
            is_killed = self.kill(at)
            if self.cell.db.read(services.find, 'h1') is not None:
                if not self.api.api_db.read(host_mappings.every):
                    self.assertEqual(2, len(self.cell.db.read(compute_nodes.unmapped)))
                self.delete()
            self.check_gone()
            held = self.placement.holding(self.admin, server)
            self.assertEqual({self.other}, held.allocations.keys())
            if not is_killed:
                self.assertGreater(at, 8)
                return
            self.add_all()
        self.fail('the deletion has no end')

    def kill(self, at):
        """Begin the deletion, and end it before its call number `at`. Return whether it came."""
        calls = Calls(at)
        app = types.SimpleNamespace(
            placement=Mortal(self.placement, calls),
            api_db=Mortal(self.api.api_db, calls),
            cells=self.api.cells,
        )
        req = types.SimpleNamespace(app=app, ctxt=self.admin)
        cell = MortalCell(self.cell, calls)
        try:
            service_removal.remove(req, cell, self.cell.db.read(services.find, 'h1'))
        except Dead:
            return True
        return False
