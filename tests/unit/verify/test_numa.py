"""CPUs and pages of NUMA nodes: held once, on record, and given to those who ask (I13)."""

import dataclasses

from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.verify import base

SPECS = {'hw:cpu_policy': 'dedicated', 'hw:mem_page_size': '2048'}


class NumaTest(base.VerifyTest):
    def setUp(self):
        super().setUp()
        self.host = profile.load('nfv').behaviour('host-1').numa
        self.set(flavor={**base.FLAVOR, 'extra_specs': SPECS})
        self.held = self.part(2)
        self.have({base.SERVER: [self.held]})
        self.report({base.SERVER: [self.held]})

    def part(self, cpu, *, memory_mb=64, request=None):
        """A part that a guest of one CPU holds."""
        if request is None:
            request = "[(Node(cpus=(0,), memory_mb=64),), 2048, 'dedicated', None, None, [0]]"
        pins = ((0, cpu),)
        cell = topology.Cell(node=0, cpus=(0,), memory_mb=memory_mb, page_kb=2048, pins=pins)
        return topology.Held((cell,), request)

    def have(self, guests):
        """The hypervisor has these guests, one for each part: {uuid: parts}."""
        first = base.guest()
        self.snapshot.guests = [
            dataclasses.replace(
                first, uuid=uuid, spec=dataclasses.replace(first.spec, uuid=uuid, numa=held)
            )
            for uuid, parts in guests.items()
            for held in parts or [None]
        ]

    def report(self, guests):
        (node,) = self.snapshot.cells[0].nodes
        guests = {uuid: [held.to_dict() for held in parts] for uuid, parts in guests.items()}
        node.numa = {'host': self.host.to_dict(), 'guests': guests}

    def found(self):
        return [each for each in super().found() if each.startswith('I13')]

    def test_sound(self):
        self.assertEqual([], self.found())

    def test_a_cpu_of_two_guests(self):
        both = {base.SERVER: [self.held], 'g': [self.part(2)]}
        self.have(both)
        self.report(both)
        self.assertEqual(['I13 CPU 2 of host-1: is held by guests a server and g'], self.found())

    def test_a_guest_that_is_there_twice(self):
        """The ends of a move within a host may share CPUs."""
        self.have({base.SERVER: [self.held, self.held]})
        self.assertEqual([], self.found())

    def device(self, address):
        return topology.Held((), 'devices', (('gpu', address),))

    def test_devices(self):
        behaviour = profile.load('gpu').behaviour('host-1')
        self.host = topology.Host(behaviour.numa.nodes, behaviour.pci)
        card, function, gpu, _other = (
            next(d.address for d in behaviour.pci if (d.kind, d.node) == wanted)
            for wanted in (('type-PF', 0), ('type-VF', 0), ('type-PCI', 0), ('type-PCI', 1))
        )
        for first, second, expected in (
            (card, gpu, []),
            (gpu, gpu, [f'I13 PCI device {gpu} of host-1: is held by guests a server and g']),
            (
                function,
                card,
                [f'I13 PCI device {function} of host-1: is held by a server, its parent by g'],
            ),
            (gpu, '0', ['I13 PCI device 0 of host-1: is held by guest g and does not exist']),
        ):
            with self.subTest(expected):
                guests = {base.SERVER: [self.held, self.device(first)], 'g': [self.device(second)]}
                self.have(guests)
                self.report(guests)
                self.assertEqual(expected, self.found())

    def test_a_server_that_got_no_devices(self):
        request = {'name': 'gpu', 'count': 1, 'numa_policy': 'legacy'}
        specs = [{'vendor_id': '10de', 'product_id': '2330'}]
        self.set(
            flavor={**base.FLAVOR, 'extra_specs': {}, 'devices': [{**request, 'specs': specs}]}
        )
        self.have({base.SERVER: []})
        self.report({})
        expected = 'I13 server a server: asks for PCI devices, has none on host-1'
        self.assertEqual([expected], self.found())

    def test_devices_that_do_not_fit(self):
        behaviour = profile.load('gpu').behaviour('host-1')
        self.host = topology.Host(behaviour.numa.nodes, behaviour.pci)
        address = next(d.address for d in behaviour.pci if d.kind == 'type-PCI')
        request = {'name': 'gpu', 'count': 1, 'numa_policy': 'legacy'}
        misfit = f'holds PCI device {address} of host-1, which does not fit alias gpu'
        for product, expected in (('2330', []), ('1111', [f'I13 server a server: {misfit}'])):
            spec = {'vendor_id': '10de', 'product_id': product, 'live_migratable': True}
            flavor = {**base.FLAVOR, 'extra_specs': {}, 'devices': [{**request, 'specs': [spec]}]}
            self.set(flavor=flavor)
            name = f"[], devices [('gpu', 1, 'legacy', [('10de', '{product}', None, True)])]"
            held = topology.Held((), name, (('gpu', address),))
            self.have({base.SERVER: [held]})
            self.report({base.SERVER: [held]})
            with self.subTest(product):
                self.assertEqual(expected, self.found())

    def test_more_pages_than_there_are(self):
        both = {base.SERVER: [self.held], 'g': [self.part(3, memory_mb=32768)]}
        self.have(both)
        self.report(both)
        self.assertEqual(
            ['I13 pages of 2048 KiB on node 0 of host-1: guests hold 16416 of 16384'], self.found()
        )

    def test_held_by_nobody(self):
        self.report({base.SERVER: [self.held], 'gone': [self.part(3)]})
        self.assertEqual(
            ['I13 parts of host-1 that guest gone holds: are [], on record [[3]]'], self.found()
        )

    def test_not_on_record(self):
        self.report({})
        self.assertEqual(
            ['I13 parts of host-1 that guest a server holds: are [[2]], on record []'],
            self.found(),
        )
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.found())

    def test_a_server_that_got_nothing(self):
        for part in (None, self.part(2, request='another')):
            parts = [part] if part else []
            self.have({base.SERVER: parts})
            self.report({base.SERVER: parts})
            expected = 'I13 server a server: asks for NUMA nodes, has none on host-1'
            self.assertEqual([expected], self.found())
        self.set(vm_state='error')
        self.assertEqual([], self.found())

    def test_hosts_that_do_not_describe_their_nodes(self):
        (node,) = self.snapshot.cells[0].nodes
        node.numa = None
        self.have({base.SERVER: []})
        self.assertEqual([], self.found())
