"""From a spec to the query of allocation candidates."""

from nova_lite import exception
from nova_lite.objects import request_spec
from nova_lite.scheduler import device_groups
from nova_lite.scheduler import query
from tests.unit.scheduler import base

SIZES = ('resources', 'DISK_GB:1,MEMORY_MB:512,VCPU:1')
A, B, C = (base.uuid_of(name) for name in 'abc')

# Extra specs of the flavor, properties of the image, and what is asked for besides
# the flavor's sizes in the group without a suffix.
TRAITS = (
    ({}, {}, ()),
    ({'trait:HW_CPU_X86_AVX': 'required'}, {}, (('required', 'HW_CPU_X86_AVX'),)),
    ({'trait:HW_CPU_X86_AVX': 'forbidden'}, {}, (('required', '!HW_CPU_X86_AVX'),)),
    ({'trait:HW_CPU_X86_AVX': 'preferred'}, {}, ()),
    ({}, {'trait:CUSTOM_GOLD': 'required'}, (('required', 'CUSTOM_GOLD'),)),
    ({}, {'trait:CUSTOM_GOLD': 'forbidden'}, ()),
    (
        {'trait:CUSTOM_B': 'required', 'trait:CUSTOM_C': 'forbidden'},
        {'trait:CUSTOM_A': 'required'},
        (('required', 'CUSTOM_A,CUSTOM_B,!CUSTOM_C'),),
    ),
    ({'hw:cpu_thread_policy': 'require'}, {}, (('required', 'HW_CPU_HYPERTHREADING'),)),
    ({'hw:cpu_thread_policy': 'isolate'}, {}, (('required', '!HW_CPU_HYPERTHREADING'),)),
    ({'hw:cpu_thread_policy': 'prefer'}, {}, ()),
    (
        {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'},
        {},
        (('required', 'COMPUTE_SECURITY_TPM_2_0,COMPUTE_SECURITY_TPM_CRB'),),
    ),
    (
        {},
        {'hw_tpm_version': '1.2'},
        (('required', 'COMPUTE_SECURITY_TPM_1_2,COMPUTE_SECURITY_TPM_TIS'),),
    ),
    (
        {'hw:pci_numa_affinity_policy': 'socket'},
        {},
        (('required', 'COMPUTE_SOCKET_PCI_NUMA_AFFINITY'),),
    ),
    ({'os:secure_boot': 'required'}, {}, (('required', 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'),)),
    ({}, {'os_secure_boot': 'required'}, (('required', 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'),)),
    ({'os:secure_boot': 'optional'}, {}, ()),
    (
        {'hw:maxphysaddr_mode': 'passthrough'},
        {},
        (('required', 'COMPUTE_ADDRESS_SPACE_PASSTHROUGH'),),
    ),
    ({'hw:maxphysaddr_mode': 'emulate'}, {}, (('required', 'COMPUTE_ADDRESS_SPACE_EMULATED'),)),
    (
        {},
        {'hw_firmware_stateless': 'true', 'hw_firmware_type': 'uefi'},
        (('required', 'COMPUTE_SECURITY_STATELESS_FIRMWARE'),),
    ),
    ({'hw:firmware_stateless': 'true'}, {'hw_firmware_type': 'uefi'}, ()),
    ({}, {'hw_firmware_stateless': 'true'}, ()),
    ({'hw:tpm_version': ''}, {}, ()),
    ({}, {'hw_pmem': '4GB'}, ()),
)

# Extra specs, and the resources of all groups they lead to.
RESOURCES = (
    ({'resources:VCPU': '4'}, {'resources': 'DISK_GB:1,MEMORY_MB:512,VCPU:4'}),
    ({'resources:VCPU': '0'}, {'resources': 'DISK_GB:1,MEMORY_MB:512'}),
    (
        {'resources:CUSTOM_BAREMETAL': '1', 'resources:VCPU': '0', 'resources:MEMORY_MB': '0'},
        {'resources': 'CUSTOM_BAREMETAL:1,DISK_GB:1'},
    ),
    ({'resources:NONSENSE': '1', 'resources:VGPU': 'x', 'resources:FPGA': '-1'}, {}),
    ({'resources:': '1', 'resource:VGPU': '1', 'xresources:VGPU': '1'}, {}),
    ({'resources1:VGPU': '1'}, {'resources1': 'VGPU:1'}),
    ({'resources_A-b:VGPU': '1'}, {'resources_A-b': 'VGPU:1'}),
    (
        {'resources1:VGPU': '1', 'resources2:VGPU': '2', 'group_policy': 'isolate'},
        {'resources1': 'VGPU:1', 'resources2': 'VGPU:2', 'group_policy': 'isolate'},
    ),
    ({'group_policy': 'whatever'}, {}),
    (
        {'trait1:CUSTOM_X': 'required', 'resources1:VGPU': '1', 'trait1:CUSTOM_Y': 'forbidden'},
        {'resources1': 'VGPU:1', 'required1': 'CUSTOM_X,!CUSTOM_Y'},
    ),
    (
        {'hw:mem_encryption': 'true'},
        {
            'resources': 'DISK_GB:1,MEMORY_MB:512,MEM_ENCRYPTION_CONTEXT:1,VCPU:1',
            'required': 'HW_CPU_X86_AMD_SEV',
        },
    ),
    (
        {'hw:pmem': '6GB, 6GB,MEDIUM'},
        {
            'resources': 'CUSTOM_PMEM_NAMESPACE_6GB:2,CUSTOM_PMEM_NAMESPACE_MEDIUM:1,'
            'DISK_GB:1,MEMORY_MB:512,VCPU:1'
        },
    ),
    ({'hw:cpu_policy': 'shared'}, {}),
    ({'hw:cpu_policy': 'dedicated'}, {'resources': 'DISK_GB:1,MEMORY_MB:512,PCPU:1'}),
    (
        {'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'},
        {'resources': 'DISK_GB:1,MEMORY_MB:512,PCPU:2'},
    ),
    (
        {'hw:pmem': '4GB', 'resources:CUSTOM_PMEM_NAMESPACE_4GB': '3'},
        {'resources': 'CUSTOM_PMEM_NAMESPACE_4GB:1,DISK_GB:1,MEMORY_MB:512,VCPU:1'},
    ),
)


class QueryTest(base.SchedulerTestCase):
    def pairs(self, *args, limit=None, in_tree=None, pinned=True, **values):
        spec = base.make_spec(*args, **values)
        return query.build(spec, limit=limit, in_tree=in_tree, pinned=pinned).pairs()

    def test_traits(self):
        for extra_specs, properties, expected in TRAITS:
            with self.subTest(extra_specs=extra_specs, properties=properties):
                self.assertEqual(
                    tuple(sorted((SIZES, *expected))), self.pairs(extra_specs, properties)
                )

    def test_resources(self):
        for extra_specs, expected in RESOURCES:
            with self.subTest(extra_specs=extra_specs):
                wanted = dict([SIZES]) | expected
                self.assertEqual(tuple(sorted(wanted.items())), self.pairs(extra_specs))

    def test_sizes(self):
        sizes = {'root_gb': 10, 'ephemeral_gb': 5, 'swap': 1025}
        self.assertIn(('resources', 'DISK_GB:17,MEMORY_MB:512,VCPU:1'), self.pairs(sizes=sizes))
        self.assertIn(
            ('resources', 'DISK_GB:7,MEMORY_MB:512,VCPU:1'), self.pairs(sizes=sizes, is_bfv=True)
        )
        self.assertIn(('resources', 'MEMORY_MB:512,VCPU:1'), self.pairs(sizes={'root_gb': 0}))

    def test_masks_of_cpus(self):
        """A mask counts as the rules of guests read it, also that of realtime CPUs."""
        for mask, pinned in (('0-1,^0,3', 2), ('^0', 3), ('2', 1), ('^1,0-2', 3), ('^0,0', 3)):
            mixed = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': mask}
            with self.subTest(mask=mask):
                found = dict(self.pairs(mixed, sizes={'vcpus': 4}))['resources']
                self.assertEqual(f'PCPU:{pinned}', self.part(found, 'PCPU'))
        for mask in ('0-99999999999', '8-9', '3-1', '-2', 'abc', '1-x', '^', ''):
            mixed = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': mask}
            with self.subTest(mask=mask):
                self.assertRaises(exception.Invalid, self.pairs, mixed, sizes={'vcpus': 4})
        realtime = {'hw:cpu_realtime': 'yes', 'hw:cpu_realtime_mask': '^0'}
        found = dict(self.pairs(realtime, {'hw_cpu_policy': 'mixed'}, sizes={'vcpus': 4}))
        self.assertIn('PCPU:3,VCPU:1', found['resources'])

    def test_named_classes_replace_sizes(self):
        """In any group; PCPU and VCPU replace each other."""
        for specs, expected in (
            ({'resources:PCPU': '1'}, {'resources': 'DISK_GB:1,MEMORY_MB:512,PCPU:1'}),
            (
                {'resources1:PCPU': '1'},
                {'resources': 'DISK_GB:1,MEMORY_MB:512', 'resources1': 'PCPU:1'},
            ),
            ({'resources:PCPU': '0'}, {'resources': 'DISK_GB:1,MEMORY_MB:512'}),
            (
                {'resources1:MEMORY_MB': '2', 'resources_a:VCPU': '3'},
                {
                    'resources': 'DISK_GB:1',
                    'resources1': 'MEMORY_MB:2',
                    'resources_a': 'VCPU:3',
                },
            ),
            ({'resources:PCPU': 'x'}, {'resources': SIZES[1]}),
            (
                {'hw:cpu_policy': 'dedicated', 'resources_A:PCPU': '1'},
                {'resources': 'DISK_GB:1,MEMORY_MB:512,PCPU:1', 'resources_A': 'PCPU:1'},
            ),
            (
                {'resources:CUSTOM_A': ' 1', 'resources:CUSTOM_B': '+2'},
                {'resources': f'CUSTOM_A:1,CUSTOM_B:2,{SIZES[1]}'},
            ),
        ):
            with self.subTest(specs=specs):
                self.assertEqual(tuple(sorted(expected.items())), self.pairs(specs))

    def test_refused_values(self):
        """Values that no host has, and a flavor that contradicts its image: texts are nova's."""
        for specs, properties, text in (
            ({'hw:tpm_version': 'x'}, {}, "Invalid TPM version 'x'. Allowed values: 1.2, 2.0."),
            ({'hw:tpm_version': '2.0', 'hw:tpm_model': 'x'}, {}, "Invalid TPM model 'x'."),
            ({'hw:tpm_version': '1.2', 'hw:tpm_model': 'tpm-crb'}, {}, 'only valid with TPM'),
            ({'hw:tpm_version': '2.0'}, {'hw_tpm_version': '1.2'}, 'hw_tpm_version explicitly'),
            ({'os:secure_boot': 'Required'}, {}, "Invalid secure boot policy 'Required'."),
            (
                {'os:secure_boot': 'disabled'},
                {'os_secure_boot': 'required'},
                'has os:secure_boot extra spec explicitly set to disabled, conflicting',
            ),
            ({'hw:maxphysaddr_mode': 'x'}, {}, "Invalid Maxphyaddr mode 'x'."),
            ({'hw:usb_model': 'x'}, {}, "Invalid USB controller model 'x'."),
            ({'hw:usb_model': 'none'}, {'hw_usb_model': 'qemu-xhci'}, 'hw:usb_model extra spec'),
            ({'hw:redirected_usb_ports': 'x'}, {}, '"x" is not a valid integer.'),
            ({}, {'hw_redirected_usb_ports': '-1'}, 'a negative number of USB ports'),
            ({}, {'hw_redirected_usb_ports': '16'}, 'up to 15 USB ports'),
            (
                {'hw:redirected_usb_ports': '2'},
                {'hw_redirected_usb_ports': '3'},
                'which has hw_redirected_usb_ports explicitly set to 3',
            ),
        ):
            with self.subTest(specs=specs):
                refused = self.assertRaises(exception.Invalid, self.pairs, specs, properties)
                self.assertIn(text, refused.message)

    @staticmethod
    def part(resources, name):
        """The part of an amounts string that is about a resource class, or None."""
        found = [part for part in resources.split(',') if part.startswith(f'{name}:')]
        return found[0] if found else None

    def test_some_cpus_of_its_own(self):
        mixed = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0-1,^0,3'}
        self.assertIn(
            ('resources', 'DISK_GB:1,MEMORY_MB:512,PCPU:2,VCPU:2'),
            self.pairs(mixed, sizes={'vcpus': 4}),
        )
        mixed['hw:cpu_dedicated_mask'] = '^0'
        self.assertIn(
            ('resources', 'DISK_GB:1,MEMORY_MB:512,PCPU:3,VCPU:1'),
            self.pairs(mixed, sizes={'vcpus': 4}),
        )

    def test_old_hosts_are_asked_for_vcpus(self):
        self.assertEqual((SIZES,), self.pairs({'hw:cpu_policy': 'dedicated'}, pinned=False))

    def test_old_hosts_may_have_threads_or_not(self):
        for policy in ('isolate', 'require'):
            specs = {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': policy}
            self.assertEqual((SIZES,), self.pairs(specs, pinned=False))
            self.assertIn('HW_CPU_HYPERTHREADING', str(self.pairs(specs)))

    def test_limit(self):
        self.assertIn(('limit', '7'), self.pairs(limit=7))
        for hint in ('group', 'same_host', 'different_host'):
            self.assertEqual((SIZES,), self.pairs(limit=7, scheduler_hints={hint: [A]}))
        self.assertEqual((SIZES,), self.pairs(limit=7, group_uuid=A))
        self.assertIn(('limit', '7'), self.pairs(limit=7, scheduler_hints={'query': ['[]']}))

    def test_root(self):
        self.assertEqual(
            (SIZES, ('root_required', 'CUSTOM_A,CUSTOM_B,!COMPUTE_STATUS_DISABLED')),
            self.pairs(
                root_required=['CUSTOM_B', 'CUSTOM_A'], root_forbidden=['COMPUTE_STATUS_DISABLED']
            ),
        )

    def test_destination(self):
        spec = base.make_spec()
        spec.destination().require_aggregates([B, A])
        spec.destination().require_aggregates([C])
        spec.destination().forbid_aggregates([B])
        spec.destination().forbid_aggregates([A])
        self.assertEqual(
            (
                ('in_tree', A),
                ('member_of', f'!in:{A},{B}'),
                ('member_of', f'in:{A},{B}'),
                ('member_of', f'in:{C}'),
                SIZES,
            ),
            query.build(spec, in_tree=A).pairs(),
        )

    def test_groups_of_ports(self):
        group = request_spec.RequestGroup(
            suffix='_port1',
            resources={'NET_BW_EGR_KILOBIT_PER_SEC': 1000},
            required_traits=['CUSTOM_PHYSNET'],
            member_of=[f'{B},{A}'],
            forbidden_aggregates=[C],
            in_tree=A,
        )
        expected = {
            ('resources_port1', 'NET_BW_EGR_KILOBIT_PER_SEC:1000'),
            ('required_port1', 'CUSTOM_PHYSNET'),
            ('member_of_port1', f'in:{A},{B}'),
            ('member_of_port1', f'!in:{C}'),
            ('in_tree_port1', A),
            SIZES,
        }
        self.assertEqual(expected, set(self.pairs(requested_resources=[group])))
        two = self.pairs({'resources1:VGPU': '1'}, requested_resources=[group])
        self.assertIn(('group_policy', 'none'), two)

    def test_groups_of_devices(self):
        def alias(name, *specs, count=1):
            return {'name': name, 'numa_policy': 'legacy', 'count': count, 'specs': [*specs]}

        nic = {'vendor_id': '15b3', 'product_id': '101e'}
        gpu = {'resource_class': 'CUSTOM_GPU', 'traits': ['CUSTOM_BIG']}
        spec = base.make_spec(flavor=base.make_flavor(devices=[alias('gpu', gpu, count=2)]))
        plain = query.build(spec).pairs()
        devices = list(device_groups.of(spec))
        found = query.build(spec, devices=devices).pairs()
        self.assertEqual(
            [
                ('group_policy', 'none'),
                ('required_pci1', 'CUSTOM_BIG'),
                ('required_pci2', 'CUSTOM_BIG'),
                ('resources_pci1', 'CUSTOM_GPU:1'),
                ('resources_pci2', 'CUSTOM_GPU:1'),
            ],
            sorted(set(found) - set(plain)),
        )
        spec.flavor.devices = [alias('nic', nic)]
        found = query.build(spec, devices=list(device_groups.of(spec))).pairs()
        self.assertEqual({('resources_pci1', 'CUSTOM_PCI_15B3_101E:1')}, set(found) - set(plain))
        spec.flavor.devices = [alias('any', nic, gpu)]
        self.assertRaises(exception.NoValidHost, lambda: list(device_groups.of(spec)))

    def test_two_groups_of_a_flavor_get_no_policy(self):
        pairs = self.pairs({'resources1:VGPU': '1', 'resources2:VGPU': '1'})
        self.assertNotIn('group_policy', dict(pairs))

    def test_same_subtree(self):
        self.assertIn(('same_subtree', '_1,_2'), self.pairs(same_subtree=['_2,_1']))

    def test_required_traits_leave_out_those_of_the_root(self):
        spec = base.make_spec(
            {'trait:CUSTOM_A': 'required', 'trait7:CUSTOM_B': 'required'},
            {'trait:CUSTOM_C': 'required'},
            root_required=['CUSTOM_D'],
        )
        wanted = query.build(spec)
        self.assertEqual({'CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C'}, wanted.required_traits)
        self.assertEqual(set(), wanted.forbidden_traits)

    def test_the_spec_is_not_changed(self):
        group = request_spec.RequestGroup(suffix='_1', resources={'VGPU': 1})
        spec = base.make_spec({'trait_1:CUSTOM_A': 'required'}, requested_resources=[group])
        first = query.build(spec).pairs()
        self.assertEqual(first, query.build(spec).pairs())
