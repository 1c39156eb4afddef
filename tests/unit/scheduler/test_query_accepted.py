"""Every form of query is understood by the real placement, and means what it should."""

from nova_lite import exception
from nova_lite.objects import request_spec
from nova_lite.scheduler import query
from tests.unit.clients import base as clients
from tests.unit.scheduler import base

A, B, C = (base.uuid_of(name) for name in 'abc')


def ports(*suffixes, **values):
    """Groups such as ports with bandwidth make."""
    return [
        request_spec.RequestGroup(
            suffix=suffix, resources={'NET_BW_EGR_KILOBIT_PER_SEC': 1}, **values
        )
        for suffix in suffixes
    ]


def destined(**values):
    """A spec with a destination of these aggregates."""
    spec = base.make_spec()
    for uuids in values.get('require', ()):
        spec.destination().require_aggregates(uuids)
    spec.destination().forbid_aggregates(values.get('forbid', ()))
    return spec


SPECS = {
    'plain': base.make_spec(),
    'trait': base.make_spec({'trait:HW_CPU_X86_AVX': 'required'}),
    'forbidden trait': base.make_spec({'trait:HW_CPU_X86_AVX': 'forbidden'}),
    'image trait': base.make_spec({}, {'trait:HW_CPU_X86_AVX': 'required'}),
    'numbered groups': base.make_spec(
        {
            'resources1:VGPU': '1',
            'trait1:HW_CPU_X86_AVX': 'required',
            'resources_Net-2:VGPU': '1',
            'trait_Net-2:HW_CPU_X86_AVX': 'forbidden',
            'group_policy': 'isolate',
        }
    ),
    'only numbered resources': base.make_spec(
        {
            'resources:VCPU': '0',
            'resources:MEMORY_MB': '0',
            'resources:DISK_GB': '0',
            'resources1:VGPU': '1',
        }
    ),
    'ports': base.make_spec(requested_resources=ports('_p1', '_p2')),
    'ports of one subtree': base.make_spec(
        requested_resources=ports('_p1', '_p2'), same_subtree=['_p1,_p2']
    ),
    'port with conditions': base.make_spec(
        requested_resources=ports(
            '_p1',
            required_traits=['HW_CPU_X86_AVX'],
            forbidden_traits=['HW_CPU_X86_AVX2'],
            member_of=[f'{A},{B}', C],
            forbidden_aggregates=[C],
            in_tree=A,
        )
    ),
    'root traits': base.make_spec(
        root_required=['COMPUTE_NODE'], root_forbidden=['COMPUTE_STATUS_DISABLED']
    ),
    'one aggregate': destined(require=[[A]]),
    'any of two aggregates': destined(require=[[A, B]]),
    'two conditions': destined(require=[[A, B], [C]]),
    'forbidden aggregate': destined(forbid=[A]),
    'required and forbidden aggregates': destined(require=[[A], [B, C]], forbid=[C]),
    'a group, so no limit': base.make_spec(group_uuid=A),
    'dedicated CPUs': base.make_spec(
        {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'isolate'}
    ),
    'encrypted memory': base.make_spec({'hw:mem_encryption': 'true'}),
    'virtual TPM': base.make_spec({'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'}),
    'many features': base.make_spec(
        {
            'os:secure_boot': 'required',
            'hw:maxphysaddr_mode': 'emulate',
            'hw:pci_numa_affinity_policy': 'socket',
        },
        {'hw_firmware_stateless': 'yes'},
    ),
}


class AcceptedTest(clients.PlacementTestCase):
    def candidates(self, spec, **options):
        wanted = query.build(spec, **options)
        found = self.placement.candidates(self.admin, wanted.pairs())
        return {
            provider for item in found['allocation_requests'] for provider in item['allocations']
        }

    def test_every_form_is_accepted(self):
        self.add_host('a')
        for name, spec in SPECS.items():
            for options in ({}, {'limit': 5}, {'in_tree': A}, {'limit': 5, 'in_tree': A}):
                if 'in_tree' in options and name == 'only numbered resources':
                    continue
                with self.subTest(name=name, **options):
                    self.candidates(spec, **options)

    def test_conditions_need_resources_without_a_number(self):
        """Placement's rule, which ends such a request."""
        spec = SPECS['only numbered resources']
        self.assertRaises(exception.Invalid, self.candidates, spec, in_tree=A)

    def test_amounts(self):
        large = self.add_host('large')
        self.add_host('small', ram_mb=256)
        self.assertEqual({large}, self.candidates(base.make_spec()))

    def test_traits(self):
        new = self.add_host('new', traits=['HW_CPU_X86_AVX'])
        old = self.add_host('old')
        self.assertEqual({new, old}, self.candidates(SPECS['plain']))
        self.assertEqual({new}, self.candidates(SPECS['trait']))
        self.assertEqual({new}, self.candidates(SPECS['image trait']))
        self.assertEqual({old}, self.candidates(SPECS['forbidden trait']))

    def test_root_traits(self):
        off = self.add_host('off', traits=['COMPUTE_STATUS_DISABLED', 'COMPUTE_NODE'])
        on = self.add_host('on', traits=['COMPUTE_NODE'])
        self.add_host('other')
        self.assertEqual({on}, self.candidates(SPECS['root traits']))
        self.assertIn(off, self.candidates(SPECS['plain']))

    def test_aggregates(self):
        hosts = {}
        for name, aggregates in (('none', ()), ('a', (A,)), ('ab', (A, B)), ('ac', (A, C))):
            hosts[name] = self.add_host(name)
            for aggregate in aggregates:
                self.providers.add_to_aggregate(self.admin, hosts[name], aggregate)
        for spec, expected in (
            ('one aggregate', ('a', 'ab', 'ac')),
            ('two conditions', ('ac',)),
            ('forbidden aggregate', ('none',)),
            ('required and forbidden aggregates', ('ab',)),
        ):
            with self.subTest(spec=spec):
                self.assertEqual({hosts[one] for one in expected}, self.candidates(SPECS[spec]))

    def test_tree(self):
        wanted = self.add_host('wanted')
        self.add_host('other')
        self.assertEqual({wanted}, self.candidates(SPECS['plain'], in_tree=wanted))

    def test_limit(self):
        for name in 'abc':
            self.add_host(name)
        self.assertEqual(2, len(self.candidates(SPECS['plain'], limit=2)))
        self.assertEqual(3, len(self.candidates(SPECS['a group, so no limit'], limit=2)))
