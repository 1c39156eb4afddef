"""Heartbeats of hosts whose services an administrator deletes."""

from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services
from nova_lite.virt.sim import hostpower
from tests.unit.compute import registering


class TestHeartbeat(registering.RegisteringTest):
    def setUp(self):
        super().setUp()
        self.cell.compute.start()
        self.quiet()
        self.cell.compute.stop()
        self.cell.kill()
        self.cell.compute.start()
        self.quiet()
        self.assertEqual((['host-1', 'host-2'],) * 3, self.known())

    def quiet(self):
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))

    def known(self):
        """Hosts with a service, with a node, and names of providers."""
        return (
            sorted(row.host for row in self.cell.db.read(services.every)),
            sorted(self.cell.db.read(compute_nodes.hosts)),
            sorted(each.name for each in self.client.providers.list(self.ctxt)),
        )

    def delete(self, *, late=False):
        """Delete host-1 as the API does. late: after that the host registers its provider again"""
        node = self.node()
        self.client.providers.delete_tree(self.ctxt, node.uuid)
        self.cell.db.write(compute_nodes.destroy, node.uuid)
        self.cell.db.write(services.destroy, self.cell.db.read(services.find, 'host-1').uuid)
        if late:
            self.client.providers.ensure(self.ctxt, node.uuid, 'host-1')

    def go_on(self):
        for _ in range(3):
            self.cell.compute.beat()
            self.quiet()
            self.cell.compute.report_inventory()

    def test_a_deleted_service_stays_deleted(self):
        for late in (False, True):
            self.delete(late=late)
            self.go_on()
            self.assertEqual((['host-2'],) * 3, self.known())
            self.restart()

    def restart(self):
        """The process starts: the host is whole again."""
        self.cell.kill()
        self.cell.compute.start()
        self.quiet()
        self.assertEqual((['host-1', 'host-2'],) * 3, self.known())

    def test_the_host_starts(self):
        """The process goes on, as one process for many hosts does."""
        self.delete()
        self.go_on()
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.go_on()
        self.assertEqual((['host-2'],) * 3, self.known())
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.go_on()
        self.assertEqual((['host-1', 'host-2'],) * 3, self.known())
