"""Fit of a guest's NUMA nodes into a host's, against a model that tries everything."""

import itertools

import hypothesis
from hypothesis import strategies as st
import testtools

from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import guest_numa
from nova_lite.virt import topology
from tests.fixtures import examples

ONE = fitting.Ratios()


def node(number, cores, dedicated, *, shared=(), memory_mb=1024, pages=()):
    small = topology.Pages(4, memory_mb * 256)
    return topology.Node(
        number, 0, memory_mb, frozenset(shared), frozenset(dedicated), cores, (small, *pages)
    )


def nfv_host(nodes=2, cores=16, threads=2):
    """Return a host like that of the bundled profile, without shared CPUs."""
    found = []
    for number in range(nodes):
        numbers = [
            tuple(core + thread * nodes * cores for thread in range(threads))
            for core in range(number * cores, (number + 1) * cores)
        ]
        cpus = [cpu for core in numbers for cpu in core]
        pages = (topology.Pages(2048, 16384), topology.Pages(1048576, 32, 2))
        found.append(node(number, tuple(numbers), cpus, memory_mb=131072, pages=pages))
    return topology.Host(tuple(found))


def guest(*sizes, memory_mb=64, dedicated=True, **more):
    """Return a guest whose nodes have so many CPUs each."""
    numbers = iter(range(sum(sizes)))
    nodes = tuple(
        guest_numa.Node(tuple(itertools.islice(numbers, size)), memory_mb) for size in sizes
    )
    cpus = frozenset(range(sum(sizes))) if dedicated is True else frozenset(dedicated or ())
    return constraints.Constraints(nodes=nodes, dedicated=cpus, **more)


# ---- the model: tries every assignment and every choice of CPUs ----------------


def may_have(room, wanted, index, ratios):
    """Return whether a node of a guest may be alone in a room, by trying all choices of CPUs."""
    cell = wanted.nodes[index]
    number = len([cpu for cpu in cell.cpus if cpu in wanted.dedicated])
    shared = len(cell.cpus) - number
    has = len(room.node.shared)
    if shared and (shared > has or room.shared + shared > has * ratios.cpu):
        return False
    return has_memory(room, cell, wanted.page_size, ratios) and any(
        suits(room, set(cpus), wanted, extra=index == 0)
        for cpus in itertools.combinations(sorted(room.free), number)
    )


def suits(room, cpus, wanted, *, extra):
    used = {core: len(cpus & set(core)) for core in room.node.dedicated_cores}
    free = {core: len(room.free & set(core)) for core in used}
    policy, held = wanted.cpu_thread_policy, set(cpus)
    if policy == 'isolate':
        for core, count in used.items():
            if count > 1 or (count and free[core] < len(core)):
                return False
            held |= set(core) if count else set()
    if policy == 'require' and cpus:
        counts = {core: count for core, count in used.items() if count}
        if not any(
            all(free[core] >= threads and count <= threads for core, count in counts.items())
            and sum(count < threads for count in counts.values()) <= 1
            for threads in range(2, 9)
        ):
            return False
    if extra and wanted.emulator_threads_policy == 'isolate':
        return bool(room.free - held)
    return True


def has_memory(room, cell, size, ratios):
    if cell.memory_mb > room.node.memory_mb:
        return False
    kib = cell.memory_mb * 1024
    if size is None:
        small = room.node.pages[0]
        return (
            room.memory_mb + cell.memory_mb <= room.node.memory_mb * ratios.ram
            and small.total * 4 >= kib
        )
    for pages in room.node.pages:
        allowed = {'small': pages.size_kb == 4, 'large': pages.size_kb > 4, 'any': True}
        if allowed.get(size, pages.size_kb == size) and kib % pages.size_kb == 0:
            used = room.pages.get(pages.size_kb, 0) + kib // pages.size_kb
            if used + pages.reserved <= pages.total:
                return True
    return False


def is_possible(rooms, wanted, ratios):
    return any(
        all(may_have(room, wanted, index, ratios) for index, room in enumerate(chosen))
        for chosen in itertools.permutations(rooms.nodes, len(wanted.nodes))
    )


# ---- generated hosts and guests -------------------------------------------------


@st.composite
def hosts(draw):
    found, first = [], 0
    for number in range(draw(st.integers(1, 3))):
        cores = []
        for size in draw(st.lists(st.sampled_from((1, 2, 2, 3)), min_size=1, max_size=3)):
            cores.append(tuple(range(first, first + size)))
            first += size
        kinds = [(cpu, draw(st.sampled_from('dddsn'))) for core in cores for cpu in core]
        pages = draw(
            st.sampled_from(((), (topology.Pages(2048, 3, 1),), (topology.Pages(1024, 4),)))
        )
        found.append(
            node(
                number,
                tuple(cores),
                [cpu for cpu, kind in kinds if kind == 'd'],
                shared=[cpu for cpu, kind in kinds if kind == 's'],
                memory_mb=draw(st.sampled_from((4, 8))),
                pages=pages,
            )
        )
    return topology.Host(tuple(found))


@st.composite
def guests(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    count = sum(sizes)
    dedicated = draw(st.sampled_from((True, (), tuple(range(0, count, 2)))))
    return guest(
        *sizes,
        memory_mb=draw(st.integers(1, 4)),
        dedicated=dedicated,
        page_size=draw(st.sampled_from((None, None, 'small', 'large', 'any', 1024, 2048))),
        cpu_thread_policy=draw(st.sampled_from((None, 'prefer', 'isolate', 'require'))),
        emulator_threads_policy=draw(st.sampled_from((None, 'isolate', 'share'))),
    )


class PropertyTests(testtools.TestCase):
    @examples.settings(300)
    @hypothesis.given(
        hosts(), st.lists(guests(), min_size=1, max_size=4), st.sampled_from((1.0, 1.5))
    )
    def test_as_the_model(self, host, wanted, ratio):
        """A guest gets a place if and only if there is one, and the place is one it may have."""
        ratios, held = fitting.Ratios(ratio, ratio), []
        for each in wanted:
            rooms = fitting.rooms(host, held)
            found = fitting.fit(rooms, each, ratios)
            self.assertEqual(found, fitting.fit(rooms, each, ratios))
            possible = is_possible(rooms, each, ratios)
            self.assertEqual(possible, isinstance(found, topology.Held), found)
            if possible:
                self.check(rooms, each, ratios, found)
                self.assertEqual(found, topology.Held.from_dict(found.to_dict()))
                held.append(found)

    def check(self, rooms, wanted, ratios, found):
        places = {room.node.id: room for room in rooms.nodes}
        self.assertEqual(len(found.cells), len({cell.node for cell in found.cells}))
        for index, cell in enumerate(found.cells):
            room = places[cell.node]
            self.assertEqual(wanted.nodes[index].cpus, cell.cpus)
            cpus = [cpu for _guest, cpu in cell.pins]
            self.assertEqual(
                [cpu for cpu in cell.cpus if cpu in wanted.dedicated], [cpu for cpu, _ in cell.pins]
            )
            self.assertEqual(len(cpus) + len(cell.reserved), len(cell.dedicated))
            self.assertLessEqual(cell.dedicated, room.free)
            self.assertTrue(suits(room, set(cpus), wanted, extra=index == 0))
            cores = [set(core) for core in room.node.cores]
            for group in cell.siblings:
                on_host = {dict(cell.pins)[cpu] for cpu in group}
                self.assertTrue(any(on_host <= core for core in cores))
            after = room.with_cell(cell)
            for pages in room.node.pages:
                used = after.pages.get(pages.size_kb, 0)
                self.assertLessEqual(used, pages.total - pages.reserved)
            self.assertEqual(wanted.page_size is None, cell.page_kb is None)


class FitTests(testtools.TestCase):
    def fit(self, wanted, host=None, held=(), ratios=ONE):
        return fitting.fit(fitting.rooms(host or nfv_host(), held), wanted, ratios)

    def test_threads_of_a_core_go_together(self):
        (cell,) = self.fit(guest(4)).cells
        self.assertEqual(((0, 0), (1, 32), (2, 1), (3, 33)), cell.pins)
        self.assertEqual([[0, 1], [2, 3]], cell.siblings)

    def test_isolated_cores_are_held_whole(self):
        (cell,) = self.fit(guest(2, cpu_thread_policy='isolate')).cells
        self.assertEqual(((0, 0), (1, 1)), cell.pins)
        self.assertEqual((32, 33), cell.reserved)
        self.assertEqual([], cell.siblings)

    def test_emulator_threads_have_a_cpu_on_the_first_node(self):
        first, second = self.fit(guest(2, 2, emulator_threads_policy='isolate')).cells
        self.assertEqual((1, 0), (len(first.reserved), len(second.reserved)))

    def test_guests_spread_over_the_nodes(self):
        held = []
        for _count in range(4):
            held.append(self.fit(guest(4), held=held))
        self.assertEqual([0, 1, 0, 1], [each.cells[0].node for each in held])

    def test_guests_fill_a_node_first(self):
        """With [compute]packing_host_numa_cells_allocation_strategy."""
        held = []
        for _count in range(9):
            held.append(self.fit(guest(4), held=held, ratios=fitting.Ratios(packs=True)))
        self.assertEqual([0] * 8 + [1], [each.cells[0].node for each in held])

    def test_every_free_cpu_can_be_had(self):
        held = []
        while isinstance(found := self.fit(guest(1), held=held), topology.Held):
            held.append(found)
        self.assertEqual(64, len({cpu for each in held for cpu in each.cells[0].dedicated}))
        self.assertIn('0 dedicated CPUs are free, not 1', found.reason)

    def test_reasons_name_each_node(self):
        for wanted, expected in (
            (guest(2, 2, 2), 'has 2 NUMA nodes, not 3'),
            (guest(33), 'node 0: 32 dedicated CPUs are free, not 33; node 1: 32'),
            (guest(17, cpu_thread_policy='isolate'), 'not 17 with threads by "isolate"'),
            (guest(1, dedicated=()), 'node 1: 0 shared CPUs are free, not 1'),
            (guest(1, memory_mb=200000), 'node 0: it has 131072 MiB, not 200000'),
            (guest(1, page_size=64), 'lacks free pages of 64 KiB for 64 MiB'),
            (guest(1, page_size='large', memory_mb=65), 'pages of size "large" for 65 MiB'),
        ):
            self.assertIn(expected, self.fit(wanted).reason)

    def test_a_node_that_only_one_of_two_can_have(self):
        """The first node of the guest fits both, and leaves the one that the second needs."""
        host = topology.Host(
            (node(0, ((0,), (1,)), (0, 1)), node(1, ((2,), (3,), (4,)), (2, 3, 4)))
        )
        found = self.fit(guest(1, 3), host)
        self.assertEqual([0, 1], [cell.node for cell in found.cells])
        self.assertIn('beside its other nodes', self.fit(guest(3, 3), host).reason)

    def test_sixteen_nodes_take_little_time(self):
        """A guest of 16 nodes whose last node fits nowhere: all others could be exchanged."""
        host = nfv_host(16)
        wanted = guest(*[2] * 15, 33)
        began = runtime.cpu_time()
        self.assertIsInstance(self.fit(wanted, host), fitting.Misfit)
        narrow = topology.Host((*nfv_host(15).nodes, node(15, ((900,),), (900,))))
        self.assertIn('beside its other', self.fit(guest(*[2] * 16), narrow).reason)
        self.assertIsInstance(self.fit(guest(*[2] * 16), host), topology.Held)
        self.assertLess(runtime.cpu_time() - began, 1)
