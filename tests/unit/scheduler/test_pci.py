"""The filter and the weigher of PCI devices."""

from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.scheduler.weighers import capacity
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.scheduler import base
from tests.unit.scheduler import test_filters

ALIASES = guest_pci.aliases(['{"name": "gpu", "vendor_id": "10de", "product_id": "2330"}'])


class PciTest(test_filters.FilterTestCase):
    name = 'PciPassthroughFilter'

    def host(self, guests=None, **values):
        found = profile.load('gpu').behaviour('host')
        host = topology.Host(found.numa.nodes, found.pci)
        return base.make_host(numa={'host': host.to_dict(), 'guests': guests or {}}, **values)

    def gpus(self, number, **specs):
        specs = {guest_pci.ALIAS: f'gpu:{number}', **specs}
        request = self.wanted(specs, sizes={'devices': guest_pci.resolve(specs, ALIASES)})
        self.assertEqual(number, request.guest.devices[0].count)
        return request

    def test_counts_what_others_hold(self):
        request = self.gpus(5)
        self.passes(self.name, self.host(), request)
        addresses = [('gpu', f'0000:{0x20 + number:02x}:00.0') for number in range(4)]
        held = {'g': [topology.Held((), 'r', tuple(addresses)).to_dict()]}
        self.refuses(
            self.name,
            self.host(held),
            request,
            because='4 devices of alias gpu are free, not 5',
        )
        self.refuses(self.name, base.make_host(), request, because='0 devices of alias gpu')

    def test_counts_servers_that_are_coming(self):
        request, host = self.gpus(4), self.host()
        for _server in range(2):
            self.passes(self.name, host, request)
            host = host.with_server(request.size, {}, request.guest)
        self.refuses(self.name, host, request, because='0 devices of alias gpu are free')
        self.passes(self.name, host.with_server(request.size, {}, request.guest, count=-1), request)

    def test_numa_filter_wants_near_devices(self):
        specs = {'hw:numa_nodes': '1', 'hw:pci_numa_affinity_policy': 'required'}
        self.passes(self.name, self.host(), self.gpus(5, **specs))
        self.refuses(
            'NUMATopologyFilter',
            self.host(),
            self.gpus(5, **specs),
            because='4 devices of alias gpu are free for NUMA nodes',
        )
        self.passes('NUMATopologyFilter', self.host(), self.gpus(4, **specs))

    def test_without_wishes_it_has_no_rule(self):
        self.assertIsNone(self.filter(self.name).rule(self.wanted({})))

    def test_the_weigher_prefers_hosts_with_few_free_devices(self):
        weigher = capacity.PCIWeigher(self.conf)
        self.assertTrue(weigher.negated)
        measure = weigher.measure(self.wanted({}))
        held = {'g': [topology.Held((), 'r', (('gpu', '0000:20:00.0'),)).to_dict()]}
        request = self.gpus(2)
        for expected, host in (
            (0, base.make_host()),
            (25, self.host()),
            (24, self.host(held)),
            (22, self.host(held).with_server(request.size, {}, request.guest)),
        ):
            self.assertEqual(expected, measure(host))
