"""Choice of PCI devices, alone and beside NUMA nodes, against a model that tries everything."""

import itertools

import hypothesis
from hypothesis import strategies as st
import testtools

from nova_lite import runtime
from nova_lite.lifecycle import device_fitting
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.fixtures import examples
from tests.unit.lifecycle import test_fitting

ONE = fitting.Ratios()
GPU = guest_pci.Spec('10de', '2330')
FUNCTION = guest_pci.Spec('15b3', '101e', kind=pci.VF)
CARD = guest_pci.Spec('15b3', '1021', kind=pci.PF)


def gpus(count=1, policy='legacy', name='gpu'):
    return guest_pci.Request(name, count, (GPU,), policy)


def guest(*requests, sizes=(), **more):
    return test_fitting.guest(*sizes, devices=requests, **more)


# ---- the model -------------------------------------------------------------------


def allows(device, policy, nodes, sockets, *, strict):
    """Return whether a policy allows a device for a guest on these nodes of its host."""
    if nodes is None or device.node in nodes:
        return True
    near = {sockets[node] for node in nodes}
    return {
        'required': False,
        'legacy': device.node is None,
        'preferred': not strict,
        'socket': device.node is not None and sockets[device.node] in near,
    }[policy]


def goes_together(devices):
    """Return whether one guest, or several, may hold all of these devices."""
    addresses = [device.address for device in devices]
    return len({*addresses}) == len(addresses) and not any(
        device.parent in addresses for device in devices
    )


def is_possible(rooms, wanted, *, strict=False):
    units = [request for request in wanted.devices for _number in range(request.count)]
    sockets = {room.node.id: room.node.socket for room in rooms.nodes}
    places = [None]
    if wanted.nodes:
        places = [
            {room.node.id for room in chosen}
            for chosen in itertools.permutations(rooms.nodes, len(wanted.nodes))
            if all(
                test_fitting.may_have(room, wanted, index, ONE) for index, room in enumerate(chosen)
            )
        ]
    return any(
        goes_together(chosen)
        and all(
            unit.fits(device) and allows(device, unit.policy, nodes, sockets, strict=strict)
            for unit, device in zip(units, chosen, strict=True)
        )
        for nodes in places
        for chosen in itertools.permutations(rooms.devices, len(units))
    )


@st.composite
def hosts(draw):
    """A host of up to three NUMA nodes on two sockets, with up to six devices."""
    count = draw(st.integers(1, 3))
    nodes = []
    for number in range(count):
        cpus = tuple(range(number * 4, number * 4 + draw(st.integers(1, 2))))
        made = test_fitting.node(number, tuple((cpu,) for cpu in cpus), cpus, memory_mb=4)
        nodes.append(topology.Node(**{**vars(made), 'socket': number // 2}))
    place, devices = st.one_of(st.none(), st.integers(0, count - 1)), []
    for number in range(draw(st.integers(0, 3))):
        product = draw(st.sampled_from(('2330', '2331')))
        devices.append(pci.Device(f'0000:0{number}:00.0', '10de', product, node=draw(place)))
    for number in range(draw(st.integers(0, 2))):
        card = pci.Device(f'0000:1{number}:00.0', '15b3', '1021', pci.PF, draw(place))
        devices.append(card)
        for function in range(draw(st.integers(0, 2))):
            address = f'0000:1{number}:01.{function}'
            devices.append(
                pci.Device(address, '15b3', '101e', pci.VF, card.node, parent=card.address)
            )
    return topology.Host(tuple(nodes), tuple(devices))


@st.composite
def guests(draw):
    specs = (
        (GPU,),
        (GPU, guest_pci.Spec('10de', '2331')),
        (FUNCTION,),
        (CARD,),
    )
    requests = [
        guest_pci.Request(
            name, draw(st.integers(1, 2)), draw(st.sampled_from(specs)),
            draw(st.sampled_from(guest_pci.POLICIES)),
        )
        for name in draw(st.sampled_from(('a', 'ab')))
    ]  # fmt: skip
    sizes = draw(st.lists(st.integers(1, 2), max_size=2))
    return guest(*requests, sizes=sizes, memory_mb=draw(st.integers(1, 4)))


class PropertyTests(testtools.TestCase):
    @examples.settings(300)
    @hypothesis.given(hosts(), st.lists(guests(), min_size=1, max_size=3))
    def test_as_the_model(self, host, wanted):
        """A guest gets devices if and only if there are some, and only such as it may have."""
        held = []
        for each in wanted:
            rooms = fitting.rooms(host, held)
            found = fitting.fit(rooms, each, ONE)
            self.assertEqual(found, fitting.fit(rooms, each, ONE))
            possible = is_possible(rooms, each)
            self.assertEqual(possible, isinstance(found, topology.Held), found)
            if possible:
                self.check(host, rooms, each, found)
                held.append(found)
        addresses = {address for each in held for _name, address in each.devices}
        self.assertEqual(sum(len(each.devices) for each in held), len(addresses))
        self.assertTrue(goes_together([d for d in host.devices if d.address in addresses]))

    def check(self, host, rooms, wanted, found):
        self.assertEqual(found, topology.Held.from_dict(found.to_dict()))
        sockets = {node.id: node.socket for node in host.nodes}
        nodes = {cell.node for cell in found.cells} if wanted.nodes else None
        free = {device.address: device for device in rooms.devices}
        units = [request for request in wanted.devices for _number in range(request.count)]
        strict = is_possible(rooms, wanted, strict=True)
        for unit, (name, address) in zip(units, found.devices, strict=True):
            self.assertEqual(unit.name, name)
            self.assertTrue(unit.fits(free[address]))
            self.assertTrue(
                allows(free[address], unit.policy, nodes, sockets, strict=strict), found
            )


class DeviceTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        gpu = profile.load('gpu').behaviour('host')
        self.host = topology.Host(gpu.numa.nodes, gpu.pci)

    def fit(self, wanted, held=()):
        return fitting.fit(fitting.rooms(self.host, held), wanted, ONE)

    def test_all_gpus_can_be_had_and_none_twice(self):
        held = [self.fit(guest(gpus(8)))]
        self.assertEqual(8, len({address for _name, address in held[0].devices}))
        self.assertEqual(
            '0 devices of alias gpu are free, not 1', self.fit(guest(gpus()), held).reason
        )

    def test_a_guest_goes_where_its_devices_are(self):
        held = [self.fit(guest(gpus(3, 'required'), sizes=(4,))) for _number in (0,)]
        self.assertEqual([0], [cell.node for cell in held[0].cells])
        held.append(self.fit(guest(gpus(2, 'required'), sizes=(4,)), held))
        self.assertEqual([1], [cell.node for cell in held[1].cells])
        wide = guest(gpus(3, 'required'), sizes=(2, 2))
        self.assertEqual({0, 1}, {cell.node for cell in self.fit(wide, held).cells})

    def test_reasons(self):
        wanted = guest(gpus(5, 'required'), sizes=(2,))
        reason = self.fit(wanted).reason
        self.assertEqual(
            '4 devices of alias gpu are free for NUMA nodes 0 by policy "required", not 5', reason
        )
        self.assertIsInstance(self.fit(guest(gpus(5, 'preferred'), sizes=(2,))), topology.Held)
        both = guest(gpus(4), gpus(5, name='b'))
        self.assertIn('4 of alias gpu, 5 of alias b', self.fit(both).reason)

    def test_guests_without_devices_leave_nodes_with_devices(self):
        devices = tuple(device for device in self.host.devices if device.node == 0)
        self.host = topology.Host(self.host.nodes, devices)
        self.assertEqual([1], [cell.node for cell in self.fit(test_fitting.guest(2)).cells])

    def test_a_physical_function_and_its_virtual_ones_exclude_each_other(self):
        card = guest(guest_pci.Request('card', 1, (CARD,)))
        function = guest(guest_pci.Request('vf', 1, (FUNCTION,)))
        self.assertEqual('0 devices of alias card are free, not 1', self.fit(
            card, [self.fit(function)]
        ).reason)  # fmt: skip
        self.assertIn('0 devices of alias vf', self.fit(function, [self.fit(card)]).reason)
        any_kind = guest(guest_pci.Request('card', 1, (guest_pci.Spec('15b3', '1021'),)))
        self.assertIn('0 devices of alias card', self.fit(any_kind).reason)

    def test_the_worst_case_takes_little_time(self):
        """Sixteen nodes with devices of two kinds, and a guest that finds too few near itself."""
        nodes = test_fitting.nfv_host(16).nodes
        devices = tuple(
            pci.Device(f'0000:{node:02x}:0{number}.0', '10de', product, node=node)
            for node in range(16)
            for number, product in enumerate(('2330', '2331'))
        )
        self.host = topology.Host(nodes, devices)
        other = guest_pci.Request('b', 5, (guest_pci.Spec('10de', '2331'),), 'required')
        began = runtime.cpu_time()
        found = self.fit(guest(gpus(5, 'required'), other, sizes=[2] * 4))
        self.assertIsInstance(found, fitting.Misfit)
        self.assertIsInstance(self.fit(guest(gpus(4, 'required'), sizes=[2] * 4)), topology.Held)
        self.assertLess(runtime.cpu_time() - began, 2)

    def test_many_devices_of_several_aliases(self):
        """As many virtual functions as a profile may have."""
        devices = tuple(
            pci.Device(
                f'{card:04x}:00:{n // 8:02x}.{n % 8}', '15b3', '101e', pci.VF, 0, f'card{card}'
            )
            for card in range(8)
            for n in range(256)
        )
        self.host = topology.Host(self.host.nodes, devices)
        began = runtime.cpu_time()
        found = self.fit(guest(*(guest_pci.Request(name, 1000, (FUNCTION,)) for name in 'ab')))
        self.assertEqual(2000, len({address for _name, address in found.devices}))
        self.assertLess(runtime.cpu_time() - began, 2)
        found = self.fit(guest(*(guest_pci.Request(name, 1025, (FUNCTION,)) for name in 'ab')))
        self.assertIn('no devices are free for all of', found.reason)


# Numbers of virtual functions, of which the first two are too many for 4 nodes without 5 cards.
MANY = 30, 20, 6


class CardTests(testtools.TestCase):
    """Cards and their virtual functions, which exclude each other, on eight nodes."""

    def setUp(self):
        super().setUp()
        devices = []
        for card in range(16):
            address, node = f'0000:{card:02x}:00.0', card // 2
            devices.append(pci.Device(address, '15b3', '1021', pci.PF, node))
            for n in range(16):
                function = f'0000:{card:02x}:{1 + n // 8:02x}.{n % 8}'
                devices.append(pci.Device(function, '15b3', '101e', pci.VF, node, address))
            devices.append(pci.Device(f'0000:{card:02x}:10.0', '10de', '2330', node=node))
        self.rooms = fitting.rooms(topology.Host(test_fitting.nfv_host(8).nodes, tuple(devices)))

    def requests(self, cards, *functions, policy='required'):
        requests = [guest_pci.Request('card', cards, (CARD,), policy)]
        for index, count in enumerate(functions):
            # The last one has most choice, so that it hides that the others have too little.
            specs = (FUNCTION, GPU) if index > 1 else (FUNCTION,)
            requests.append(guest_pci.Request(f'vf{index}', count, specs, policy))
        return requests

    def fit(self, *counts, policy='required'):
        wanted = guest(*self.requests(*counts, policy=policy), sizes=[1] * 4)
        return fitting.fit(self.rooms, wanted, ONE)

    def test_what_cannot_be_is_known_without_trying_all(self):
        self.assertIn('no devices are free for all of', self.fit(16, 16).reason)
        self.assertIsInstance(self.fit(5, 48), topology.Held)
        self.assertIsInstance(self.fit(5, 60, policy='preferred'), topology.Held)

    def test_a_question_has_one_budget(self):
        for policy in ('required', 'preferred'):
            question = device_fitting.Question(
                self.rooms.devices, self.requests(5, *MANY, policy=policy)
            )
            sockets = dict.fromkeys(range(8), 0)
            answers = set()
            for nodes in itertools.combinations(range(8), 4):
                near = device_fitting.Near(frozenset(nodes), sockets, strict=True)
                answers.add(question.choose(near))
            with self.subTest(policy):
                self.assertLessEqual(-70 * (device_fitting.TRIES_OF_SET + 1), question.tries)
                self.assertIn(device_fitting.UNFINISHED, answers)

    def test_a_search_that_ends_says_so(self):
        self.assertEqual(device_fitting.UNFINISHED, self.fit(5, *MANY).reason)

    def test_a_preference_leaves_tries_to_do_without(self):
        self.assertIsInstance(self.fit(5, *MANY, policy='preferred'), topology.Held)
