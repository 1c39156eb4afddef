"""NUMA nodes of a twin: as many CPUs and pages as are visible, and guests on their nodes."""

import testtools
import yaml

from nova_lite import runtime
from nova_lite.lab.twin import numa
from nova_lite.lab.twin import turns
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.virt import topology
from nova_lite.virt.sim import profile

NFV = numa.Totals(shared=8, dedicated=56, memory_mb=262144, nodes=2, threads=2)


def host(totals, pages=(), held=(), lost=()):
    """Return the topology.Host that a profile with these nodes has."""
    found = numa.described(totals, pages, held, lost)
    return profile.parse(yaml.safe_dump({'hosts': [{'numa': found}]})).behaviour('a').numa


def dedicated(found):
    return [len(node.dedicated) for node in found.nodes]


class NodesTest(testtools.TestCase):
    def test_a_known_host(self):
        """The nodes of the profile nfv follow from its totals, but for its pages."""
        nodes = host(NFV).nodes
        known = profile.load('nfv').behaviour('a').numa.nodes
        for ours, theirs in zip(nodes, known, strict=True):
            self.assertEqual(theirs.shared, ours.shared)
            self.assertEqual(theirs.dedicated, ours.dedicated)
            self.assertEqual(theirs.cores, ours.cores)
            self.assertEqual(theirs.memory_mb, ours.memory_mb)

    def test_odd_numbers(self):
        """All CPUs are there, whatever the threads."""
        for nodes in (1, 2, 3, 4):
            for threads in (1, 2, 4):
                for shared, pinned in ((0, 1), (5, 7), (1, 30), (3, 0), (0, 0)):
                    totals = numa.Totals(shared, pinned, 1001, nodes, threads)
                    found = host(totals)
                    if shared or pinned:
                        self.assertEqual((shared, pinned), (found.shared, found.dedicated))
                    self.assertEqual((nodes, 1001), (len(found.nodes), found.memory_mb))

    def test_pinned_guests(self):
        """A node has the CPUs that its guests hold. CPUs of other guests are not offered."""
        held = [numa.Part(0, 20, 100), numa.Part(0, 12, 100), numa.Part(1, 4, 100)]
        self.assertEqual([32, 24], dedicated(host(NFV, held=held)))
        self.assertEqual([28, 24], dedicated(host(NFV, lost=[numa.Part(1, 4, 100)])))
        # More than the host has: what is there is taken.
        self.assertEqual([56, 0], dedicated(host(NFV, held=[numa.Part(0, 60, 100)])))

    def test_pages(self):
        """Each size has an equal share of a node, and at least what guests hold."""
        found = host(NFV, [2048, 1048576])
        third = 131072 // 3
        self.assertEqual(
            [(2048, third // 2), (1048576, third // 1024)],
            [(pages.size_kb, pages.total) for pages in found.nodes[0].pages[1:]],
        )
        held = [numa.Part(1, 0, 100 * 1024, 1048576)]
        pages = host(NFV, [2048, 1048576], held).nodes[1].pages
        self.assertEqual({2048: 14336, 1048576: 100}, {e.size_kb: e.total for e in pages[1:]})
        small = 131072 - 90 * 1024
        pages = host(NFV, [2048, 1048576], [numa.Part(1, 4, small)]).nodes[1].pages
        left = 131072 - sum(each.size_kb * each.total for each in pages[1:]) // 1024
        self.assertGreaterEqual(left, small)

    def test_sizes_of_pages(self):
        def sizes(*asked, held=()):
            flavors = [{'properties': {'hw:mem_page_size': each}} for each in asked]
            return numa.page_sizes([{'name': 'plain'}, *flavors], held)

        self.assertEqual([], sizes('small', 'any', 'nonsense'))
        self.assertEqual([2048], sizes('large'))
        self.assertEqual([2048, 1048576], sizes('2MB', '1GB', '2048', '4'))
        self.assertEqual([1048576], sizes('large', held=[numa.Part(0, 0, 1, 1048576)]))

    def test_shown_nodes(self):
        node = {'memory_mb': 64, 'vcpu_set': [0, 1], 'siblings': []}
        full = {**node, 'host_node': 3, 'cpu_pinning': {'0': 7, '1': 9}}
        shown = {'nodes': [full, {**full, 'host_node': 0, 'cpu_pinning': None}]}
        self.assertEqual(
            (numa.Part(3, 2, 64, 2048), numa.Part(0, 0, 64, 2048)),
            numa.parts({**shown, 'pagesize_kb': 2048}),
        )
        self.assertIsNone(numa.parts({**shown, 'pagesize_kb': 4})[0].page_kb)
        self.assertEqual((), numa.parts({'nodes': [node], 'pagesize_kb': None}))


def wanted(cpus, nodes=1):
    return constraints.of(
        constraints.Asked(
            vcpus=cpus,
            memory_mb=1024,
            specs={'hw:cpu_policy': 'dedicated', 'hw:numa_nodes': str(nodes)},
            properties={},
            flavor_name='f',
            image_name='',
            image_id='',
        )
    )


def guest(uuid, cpus, *nodes, has_devices=False):
    parts = tuple(numa.Part(node, cpus // len(nodes), 64) for node in nodes)
    return turns.Guest(uuid, wanted(cpus, len(nodes) or 1), parts, has_devices)


class TurnsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.host = host(NFV)

    def arrange(self, *guests):
        return turns.arrange(self.host, fitting.Ratios(), guests)

    def test_nodes_are_kept(self):
        """The order of the boots is found by which a host chooses the nodes that guests have."""
        found = self.arrange(
            guest('a', 6, 1), guest('b', 4, 0), guest('c', 4, 0), guest('d', 8, 1, 0)
        )
        self.assertEqual([], found.elsewhere + found.without)
        self.assertEqual({'a', 'b', 'c', 'd'}, set(found.turns))
        rooms, sizes = (
            fitting.rooms(self.host),
            {'a': (6, 1), 'b': (4, 1), 'c': (4, 1), 'd': (8, 2)},
        )
        nodes = {}
        for uuid in found.turns:
            held = fitting.fit(rooms, wanted(*sizes[uuid]), fitting.Ratios())
            nodes[uuid] = [cell.node for cell in held.cells]
            rooms = fitting.without(rooms, held)
        self.assertEqual({'a': [1], 'b': [0], 'c': [0], 'd': [1, 0]}, nodes)

    def drawn(self, seed, deletions):
        """Return guests on a host, of boots and deletions that are drawn. deletions: their share"""
        rng, there = runtime.seeded_random(seed), {}
        for number in range(60):
            if there and rng.random() < deletions:
                del there[rng.choice(sorted(there))]
                continue
            cpus, nodes = rng.choice([(2, 1), (4, 1), (6, 1), (12, 1), (4, 2), (8, 2)])
            rooms = fitting.rooms(self.host, [held for _cpus, held in there.values()])
            held = fitting.fit(rooms, wanted(cpus, nodes), fitting.Ratios())
            if isinstance(held, topology.Held):
                there[f'{rng.random()}-{number}'] = cpus, held
        return [
            guest(uuid, cpus, *[cell.node for cell in held.cells])
            for uuid, (cpus, held) in there.items()
        ]

    def test_drawn_boots(self):
        """There is an order for guests that were booted one after the other, and it is found."""
        for seed in range(20):
            guests = self.drawn(seed, 0.0)
            found = self.arrange(*guests)
            self.assertEqual([], found.elsewhere + found.without)
            self.assertEqual({each.uuid for each in guests}, set(found.turns))

    def test_drawn_deletions(self):
        """After deletions most guests get their nodes, and all of them fit."""
        count = elsewhere = 0
        for seed in range(20):
            guests = self.drawn(seed, 1 / 3)
            found = self.arrange(*guests)
            self.assertEqual(([], len(guests)), (found.without, len(found.turns)))
            count, elsewhere = count + len(guests), elsewhere + len(found.elsewhere)
        self.assertLess(elsewhere, count / 10)

    def test_other_nodes(self):
        """A host spreads guests. Two guests that share a node can only be apart."""
        found = self.arrange(guest('a', 4, 0), guest('b', 4, 0))
        self.assertEqual((['a', 'b'], ['b']), (found.turns, found.elsewhere))

    def test_guests_that_do_not_fit(self):
        found = self.arrange(guest('a', 20, 0), guest('b', 20, 1), guest('c', 20, 0))
        self.assertEqual((['a', 'b'], ['c']), (found.turns, found.without))

    def test_devices_come_last(self):
        found = self.arrange(guest('a', 8, 1, has_devices=True), guest('b', 4, 0))
        self.assertEqual(['b', 'a'], found.turns)
        found = self.arrange(guest('a', 8, has_devices=True), guest('b', 8))
        self.assertEqual((['b', 'a'], ['b']), (found.turns, found.elsewhere))
