"""Virtual GPUs of servers through their whole life, in a whole cloud.

The hosts have two physical GPUs with two virtual ones each, beside other devices.
"""

import collections
import re

from nova_lite import context
from tests.functional import test_pci
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(2)
class VgpuTest(test_pci.PciCase):
    def virtual(self, name, **amounts):
        """Create a flavor with so many virtual GPUs of each resource class."""
        specs = {f'resources:{key}': str(value) for key, value in amounts.items()}
        made = self.moving.flavor(name)
        self.cloud.admin.compute.create_flavor_extra_specs(made, specs)

    def given(self, consumer):
        """{name of a provider: number of virtual GPUs} that a consumer has in placement."""
        providers = self.moving.world.placement.providers.list(context.admin())
        names = {each.uuid: each.name for each in providers}
        return {
            names[uuid]: resources['VGPU']
            for uuid, resources in self.moving.allocations(consumer).items()
            if 'VGPU' in resources
        }

    def has_virtual(self, server, number=1):
        """Require that a server holds virtual GPUs of the physical ones that it has allocated."""
        host, addresses = self.has(server, number)
        expected = collections.Counter(map(_provider(host), addresses))
        # A server that was evacuated keeps its allocations of its former host until this one is up.
        given = {name: count for name, count in self.given(server.id).items() if host in name}
        self.assertEqual(given, expected)
        return host, addresses

    def test_vgpu_resize(self):
        """The destination allocates other virtual GPUs; a revert gives the first ones back."""
        self.virtual('vgpu', VGPU=1)
        self.virtual('vgpus', VGPU=2)
        server = self.cloud.boot(flavor='vgpu')
        source, before = self.has_virtual(server)
        self.keeps(server, lambda: self.has_virtual(server), test_pci.POWER)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.resize(server, 'vgpus')
            moved = self.cloud.wait(server, 'VERIFY_RESIZE').compute_host
            self.assertEqual({server.id: before}, self.held(source))
            migration = self.moving.migration(server)['uuid']
            self.assertEqual(1, sum(self.given(migration).values()))
            self.assertEqual(2, len(self.held(moved)[server.id]))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            if status == 202:
                self.assertEqual((source, before), self.has_virtual(server))
        self.has_virtual(server, 2)
        self.keeps_through_restart(lambda: self.has_virtual(server, 2))
        self.shelve(server)
        self.unshelve(server)
        self.has_virtual(server, 2)

    def test_vgpus_of_moving_servers(self):
        self.virtual('vgpu', VGPU=1)
        servers = [self.cloud.boot(f's{number}', flavor='vgpu') for number in range(8)]
        held = {self.has_virtual(each)[1][0] + self.has_virtual(each)[0] for each in servers}
        self.assertEqual(8, len(held))
        server = self.hosts_are_full('vgpu', servers[0])
        for each in servers[1:]:
            self.cloud.admin.compute.delete_server(each)
            self.cloud.wait_gone(each)
        source, _addresses = self.has_virtual(server)
        self.moving.act(server, 'os-migrateLive', test_pci.LIVE)
        self.moving.wait_idle(server)
        moved, _addresses = self.has_virtual(server)
        self.assertNotEqual(source, moved)
        self.evacuate(self.cloud.admin.compute.get_server(server.id))
        self.assertEqual(source, self.has_virtual(server)[0])
        self.come_back(moved)


def _provider(host):
    """A function that returns the name of the provider of a virtual GPU of a host."""
    return lambda address: f'{host}_pci_' + re.sub('[:.]', '_', address.partition('/')[0])
