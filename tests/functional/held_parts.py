"""Tests of the parts of hosts that servers hold through their whole life, in a cloud of their own.

Tests of pinned CPUs and of PCI devices derive from it.
"""

from nova_lite.db.cell import compute_nodes
from tests.functional import own_cloud


class HeldPartsTest(own_cloud.OwnCloudTest):
    """shown(parts): how a test describes the parts that a guest holds of a host"""

    def flavor(self, name, specs, **sizes):
        made = self.moving.flavor(name, **sizes)
        self.cloud.admin.compute.create_flavor_extra_specs(made, specs)
        return name

    def held(self, host):
        """{server: its parts, see `shown`} that guests hold of a host, as its record says."""
        (node,) = (
            node
            for cell in self.moving.world.cells.every(cell0=False)
            for node in cell.db.read(compute_nodes.every, host=host)
        )
        return {uuid: self.shown(parts) for uuid, parts in node.numa['guests'].items()}

    def hosts_are_full(self, flavor, server):
        """Require that one more server is refused until this one is deleted.

        Return the server that has its place then.
        """
        refused = self.cloud.boot('more', flavor=flavor, status='ERROR')
        self.assertEqual([], self.cloud.findings())
        self.cloud.admin.compute.delete_server(refused)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        return self.cloud.boot('again', flavor=flavor)

    def physical_network(self, name):
        """Create a network of a physical network, with a subnet. Return it."""
        network = self.cloud.admin.network
        made = network.create_network(
            name=name, provider_network_type='flat', provider_physical_network=name
        )
        network.create_subnet(
            network_id=made.id, ip_version=4, cidr='10.7.0.0/24', enable_dhcp=False
        )
        return made

    def keeps(self, server, parts, actions):
        """Require that parts() stays as it is after each action.

        actions: [(name, its content, status of the server after it), ...]
        """
        before = parts()
        for action, content, status in actions:
            with self.subTest(action):
                asked = 200 if action == 'rescue' else 202
                self.moving.act(server, action, content, status=asked)
                self.cloud.wait(server, status)
                self.moving.wait_idle(server)
                self.assertEqual(before, parts())

    def keeps_through_restart(self, parts):
        """Require that parts() is the same after a restart of the cloud."""
        before = parts()
        self.cloud.restart()
        self.assertEqual(before, parts())

    def end_resize(self, server, action, status):
        """Confirm or revert a resize. status: of the answer"""
        self.moving.act(server, action, status=status)
        self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)

    def evacuate(self, server):
        """Make the host of a server fail and evacuate the server. Return the server."""
        self.moving.fail(server.compute_host)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.moving.ended(server)
        return self.cloud.wait(server, 'ACTIVE')

    def come_back(self, host):
        """Boot a host that failed, and wait until guests hold nothing of it."""
        self.moving.come_back(host)
        self.cloud.wait_for(lambda: self.held(host) == {}, f'{host} to give its parts back')

    def shelve(self, server):
        """Shelve a server, and require that guests hold nothing of its host."""
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(server)
        self.assertEqual({}, self.held(server.compute_host))

    def unshelve(self, server):
        """Unshelve a server. Return it."""
        self.moving.act(server, 'unshelve')
        found = self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)
        return found
