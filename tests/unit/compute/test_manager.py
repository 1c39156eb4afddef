"""The daemon as a whole: its interface, its life, and what it must not know."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil

import testtools

from nova_lite import clients
from nova_lite import compute
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import virt
from nova_lite.compute import site
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.rpc import interface
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from tests.fixtures import cell


def modules_of(package):
    """Every module of a package, imported, without the one that Neutron loads."""
    found = pkgutil.walk_packages(package.__path__, f'{package.__name__}.')
    names = [module.name for module in found if module.name != 'nova_lite.virt.sim.ml2']
    return [package, *map(importlib.import_module, names)]


class TestBoundaries(testtools.TestCase):
    """A compute knows no database: neither by import nor by configuration."""

    def test_imports(self):
        pending = [*modules_of(clients), *modules_of(compute), *modules_of(virt)]
        seen = set()
        while pending:
            module = pending.pop()
            if module.__name__ in seen:
                continue
            seen.add(module.__name__)
            self.assertFalse(module.__name__.startswith('nova_lite.db'), module.__name__)
            pending.extend(self._imported_by(module))
        self.assertIn('nova_lite.clients.placement', seen)

    def _imported_by(self, module):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module, *self._modules_among(node)]
            for name in names:
                self.assertFalse(name.startswith('sqlalchemy'), f'{module.__name__}: {name}')
                if name.startswith('nova_lite'):
                    yield importlib.import_module(name)

    def _modules_among(self, node):
        """Return the modules among the names of an `import from`."""
        names = [f'{node.module}.{alias.name}' for alias in node.names]
        origin = importlib.import_module(node.module)
        is_package = hasattr(origin, '__path__')
        return [name for name in names if is_package and importlib.util.find_spec(name)]

    def test_configuration(self):
        used = set()
        for module in modules_of(compute):
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                if isinstance(node, ast.Attribute):
                    used.add(node.attr)
        self.assertEqual(set(), used & {'database', 'api_database', 'connection'})


class TestManager(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1', 'host-2')))
        self.ctxt = context.admin()

    def test_interface(self):
        endpoint = interface._endpoint(compute_rpc.ComputeAPI, self.cell.compute)
        for name in compute_rpc.ComputeAPI.methods:
            self.assertTrue(callable(getattr(endpoint, name)))

    def test_start(self):
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.kill()
        self.cell.compute.start()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))
        found = self.cell.db.read(services.every)
        self.assertEqual(['host-1', 'host-2'], [service.host for service in found])
        self.assertEqual(2, len(self.cell.db.read(compute_nodes.every)))
        self.assertTrue(self.cell.compute.stop())

    def test_work_whose_message_was_lost_with_its_queue(self):
        stopped, deleted = self.cell.boot(), self.cell.boot()
        self.cell.ask(stopped, 'stop', 'powering-off')
        self.cell.ask(deleted, 'delete', 'deleting')
        self.cell.compute.queues_renewed()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(stopped))
        self.assertTrue(self.cell.row(deleted).deleted)

    def test_host_without_power_is_silent(self):
        hostpower.power_off(self.cell.guests_path, 'host-2')
        self.cell.compute.beat()
        self.assertEqual(['host-1'], [s.host for s in self.cell.db.read(services.every)])

    def test_a_host_that_was_evacuated_while_it_stood_still(self):
        """Its own clocks know nothing of that, but the cell does."""
        manager = self.cell.compute
        manager.start()
        self.assertTrue(manager.site.jobs.wait_quiet(10))
        uuid = self.cell.boot()
        self.cell.db.write(instances.update, uuid, {'host': 'host-2', 'node': 'host-2'})
        self.cell.db.write(
            migrations.create,
            {
                'uuid': runtime.new_uuid(),
                'instance_uuid': uuid,
                'migration_type': 'evacuation',
                'status': 'done',
                'source_compute': 'host-1',
                'source_node': 'host-1',
            },
        )
        before = self.cell.db.read(services.find, 'host-1').last_seen_up
        manager.beat()
        deadline = runtime.monotonic() + 60
        while manager.site.jobs.keys() and runtime.monotonic() < deadline:
            runtime.sleep(0.01)
        self.assertEqual([], self.guests('host-1'))
        self.assertGreater(self.cell.db.read(services.find, 'host-1').last_seen_up, before)
        self.assertTrue(manager.stop())

    def guests(self, host):
        return [guest.uuid for guest in self.cell.driver.list_guests(host)]

    def test_periodics(self):
        compute = self.cell.compute
        for seconds, method in (*compute.periodics(), *compute.heartbeats()):
            self.assertGreater(seconds, 0)
            method()

    def test_unknown_hosts_are_refused(self):
        error = self.assertRaises(ValueError, site.nodes_of, ('here', 'there'), ['here'])
        self.assertIn('there', str(error))

    def test_one_host_with_many_nodes(self):
        self.assertEqual({'here': ['a', 'b']}, site.nodes_of(('here',), ['a', 'b']))

    # ---- reading ----

    def test_console_output(self):
        uuid = self.cell.boot()
        text = self.cell.compute.get_console_output(self.ctxt, 'host-1', uuid, 1)
        self.assertEqual(1, len(text.split('\n')))
        self.assertTrue(text)

    def test_diagnostics(self):
        uuid = self.cell.boot()
        found = self.cell.compute.get_diagnostics(self.ctxt, 'host-1', uuid)
        self.assertEqual('running', found['state'])

    def test_diagnostics_of_a_paused_guest(self):
        uuid = self.cell.boot()
        self.cell.driver.change_power('host-1', uuid, model.PowerAction.PAUSE, key='pause')
        error = self.assertRaises(
            exception.InstanceInvalidState,
            self.cell.compute.get_diagnostics,
            self.ctxt,
            'host-1',
            uuid,
        )
        self.assertIn('power_state paused', error.message)

    def test_ports_of_guests(self):
        uuid, other = self.cell.boot(networks=[{'network_id': 'net'}]), self.cell.boot()
        (port,) = [vif['id'] for vif in self.cell.row(uuid).network_info]
        self.cell.driver.migrate_out('host-1', other, 'move', key='leave')
        found = self.cell.compute.guest_ports(self.ctxt, 'host-1')
        self.assertEqual({uuid: [port]}, found)
        self.assertEqual({}, self.cell.compute.guest_ports(self.ctxt, 'host-2'))

    def test_guest_of_another_host(self):
        uuid = self.cell.boot()
        self.assertRaises(
            exception.GuestNotFound,
            self.cell.compute.get_diagnostics,
            self.ctxt,
            'host-2',
            uuid,
        )

    def test_uptime(self):
        text = self.cell.compute.host_uptime(self.ctxt, 'host-1')
        self.assertRegex(text, r'^ \d\d:\d\d:\d\d up 0 days,  0:00$')

    def test_images_kept_at_hand(self):
        self.cell.image.add_image('known')
        images = ['known', 'unknown']
        found = self.cell.compute.cache_images(self.ctxt, 'host-1', images)
        self.assertEqual({'known': 'cached', 'unknown': 'error'}, found)
        self.cell.kill()
        for host, answer in (('host-1', 'existing'), ('host-2', 'cached')):
            found = self.cell.compute.cache_images(context.admin(), host, ['known'])
            self.assertEqual({'known': answer}, found)
        hostpower.power_off(self.cell.guests_path, 'host-2')
        found = self.cell.compute.cache_images(context.admin(), 'host-2', ['known'])
        self.assertEqual({'known': 'error'}, found)
