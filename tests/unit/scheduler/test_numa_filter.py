"""The filter that fits NUMA nodes of guests into those of hosts."""

from typing import ClassVar

from nova_lite.lifecycle import fitting
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.scheduler import base
from tests.unit.scheduler import test_filters


class NumaFilterTest(test_filters.FilterTestCase):
    name = 'NUMATopologyFilter'
    pinned: ClassVar[dict[str, str]] = {'hw:cpu_policy': 'dedicated'}

    def nfv(self, guests=None, **values):
        host = profile.load('nfv').behaviour('host').numa
        return base.make_host(numa={'host': host.to_dict(), 'guests': guests or {}}, **values)

    def test_nodes_that_only_have_a_number(self):
        host = base.make_host(cpu_info={'topology': {'cells': 2}})
        two = self.wanted({'hw:numa_nodes': '2'}, sizes={'vcpus': 6})
        self.passes(self.name, host, two)
        self.passes(self.name, host, self.wanted({'hw:mem_page_size': 'small'}))
        three = self.wanted(properties={'hw_numa_nodes': '3'}, sizes={'vcpus': 3, 'memory_mb': 3})
        self.refuses(self.name, host, three, because='has 2 NUMA nodes, not 3')
        self.refuses(self.name, base.make_host(), two, because='has 0 NUMA nodes')
        self.refuses(self.name, host, self.wanted({'hw:mem_page_size': 'large'}), because='"large"')
        wide = self.wanted({'hw:numa_nodes': '1'}, sizes={'vcpus': 5})
        self.refuses(self.name, host, wide, because='4 shared CPUs are free, not 5')
        self.refuses(self.name, host, self.wanted(self.pinned), because='0 dedicated CPUs')

    def test_counts_what_others_hold(self):
        request = self.wanted(self.pinned, sizes={'vcpus': 28})
        host = self.nfv()
        guest, held = request.guest, {}
        for name in 'ab':
            self.passes(self.name, self.nfv(held), request)
            parts = [topology.Held.from_dict(part) for (part,) in held.values()]
            found = fitting.fit(
                fitting.rooms(profile.load('nfv').behaviour('h').numa, parts), guest, host.ratios
            )
            held[name] = [found.to_dict()]
        self.refuses(
            self.name, self.nfv(held), request, because='0 dedicated CPUs are free, not 28'
        )

    def test_counts_servers_that_are_coming(self):
        """Servers that the host does not report yet count, until they are withdrawn."""
        request = self.wanted(self.pinned, sizes={'vcpus': 28})
        host = self.nfv()
        size, image = request.size, request.image_properties
        for _server in range(2):
            self.passes(self.name, host, request)
            host = host.with_server(size, image, request.guest)
        self.refuses(self.name, host, request, because='0 dedicated CPUs are free')
        self.passes(self.name, host.with_server(size, image, request.guest, count=-1), request)

    def test_a_contradiction_fits_nowhere(self):
        request = self.wanted({'hw:numa_nodes': '3'}, sizes={'vcpus': 2})
        self.refuses(self.name, self.nfv(), request, because='cannot be evenly distributed')

    def test_without_wishes_it_has_no_rule(self):
        self.assertIsNone(self.filter(self.name).rule(self.wanted({'hw:cpu_sockets': '2'})))
