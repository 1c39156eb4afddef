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
        """One more server is refused, until this server is deleted; return that in its place."""
        refused = self.cloud.boot('more', flavor=flavor, status='ERROR')
        self.assertEqual([], self.cloud.findings())
        self.cloud.admin.compute.delete_server(refused)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        return self.cloud.boot('again', flavor=flavor)

    def end_resize(self, server, action, status):
        self.moving.act(server, action, status=status)
        self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)

    def evacuate(self, server):
        """Evacuate a server from its host, which fails; return the server."""
        self.moving.fail(server.compute_host)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.moving.ended(server)
        return self.cloud.wait(server, 'ACTIVE')

    def come_back(self, host):
        """A host that failed gives back all that guests held of it."""
        self.moving.come_back(host)
        self.cloud.wait_for(lambda: self.held(host) == {}, f'{host} to give its parts back')

    def shelve(self, server):
        """Shelve a server, which then holds nothing."""
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(server)
        self.assertEqual({}, self.held(server.compute_host))

    def unshelve(self, server):
        self.moving.act(server, 'unshelve')
        found = self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)
        return found
