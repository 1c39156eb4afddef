"""The rules by which a flavor and an image together describe a guest.

Each refusal of the table is one that nova 34 gives: see tools.judge_guests.
"""

import testtools

from nova_lite import exception
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import guest_numa
from nova_lite.objects import masks

TWO = {'hw:numa_nodes': '2'}
CPUS = {**TWO, 'hw:numa_cpus.0': '0', 'hw:numa_cpus.1': '1'}
PINNED = {'hw:cpu_policy': 'dedicated'}
MIXED = {'hw:cpu_policy': 'mixed'}
REALTIME = {**PINNED, 'hw:cpu_realtime': 'yes'}
LARGE = {'hw:mem_page_size': 'large'}
ENCRYPTED = {'hw:mem_encryption': 'true'}
UEFI = {'hw_firmware_type': 'uefi'}
SNP = {**UEFI, 'hw_mem_encryption_model': 'amd-sev-snp'}
TDX = {**UEFI, 'hw_mem_encryption_model': 'intel-tdx', 'hw_firmware_stateless': 'yes'}
# (name of the refusal, extra specs, properties) for 2 CPUs and 128 MiB.
REFUSED = (
    ('InvalidNUMANodesNumber', {'hw:numa_nodes': '0'}, {}),
    ('InvalidNUMANodesNumber', {}, {'hw_numa_nodes': '-1'}),
    ('ImageNUMATopologyForbidden', {'hw:numa_nodes': '1'}, {'hw_numa_nodes': '2'}),
    ('ImageNUMATopologyForbidden', CPUS, {'hw_numa_cpus.0': '0'}),
    ('ImageNUMATopologyAsymmetric', {'hw:numa_nodes': '3'}, {}),
    ('ImageNUMATopologyIncomplete', {**TWO, 'hw:numa_cpus.0': '0', 'hw:numa_mem.0': '64'}, {}),
    ('ImageNUMATopologyIncomplete', PINNED, {'hw_numa_cpus.0': '0-1'}),
    (
        'ImageNUMATopologyCPUDuplicates',
        {**CPUS, 'hw:numa_cpus.1': '0', 'hw:numa_mem.0': '64', 'hw:numa_mem.1': '64'},
        {},
    ),
    (
        'ImageNUMATopologyCPUOutOfRange',
        {**CPUS, 'hw:numa_cpus.1': '5', 'hw:numa_mem.0': '64', 'hw:numa_mem.1': '64'},
        {},
    ),
    (
        'ImageNUMATopologyCPUsUnassigned',
        {**CPUS, 'hw:numa_cpus.1': '', 'hw:numa_mem.0': '64', 'hw:numa_mem.1': '64'},
        {},
    ),
    (
        'ImageNUMATopologyMemoryOutOfRange',
        {**CPUS, 'hw:numa_mem.0': '64', 'hw:numa_mem.1': '32'},
        {},
    ),
    ('InvalidFlavorExtraSpec', {**CPUS, 'hw:numa_mem.0': 'x'}, {}),
    ('InvalidMask', {'hw:numa_nodes': '1', 'hw:numa_cpus.0': '0-x', 'hw:numa_mem.0': '1'}, {}),
    ('InvalidCPUAllocationPolicy', {'hw:cpu_policy': 'x'}, {}),
    ('ImageCPUPinningForbidden', {'hw:cpu_policy': 'shared'}, {'hw_cpu_policy': 'dedicated'}),
    ('InvalidCPUThreadAllocationPolicy', {**PINNED, 'hw:cpu_thread_policy': 'x'}, {}),
    (
        'ImageCPUThreadPolicyForbidden',
        {**PINNED, 'hw:cpu_thread_policy': 'isolate'},
        {'hw_cpu_thread_policy': 'require'},
    ),
    (
        'CPUThreadPolicyConfigurationInvalid',
        {'hw:cpu_policy': 'shared', 'hw:cpu_thread_policy': 'isolate'},
        {},
    ),
    ('CPUThreadPolicyConfigurationInvalid', {'trait:HW_CPU_HYPERTHREADING': 'required'}, {}),
    ('InvalidEmulatorThreadsPolicy', {'hw:emulator_threads_policy': 'x'}, {}),
    ('BadRequirementEmulatorThreadsPolicy', {'hw:emulator_threads_policy': 'isolate'}, {}),
    ('RealtimeMaskNotFoundOrInvalid', REALTIME, {}),
    ('RealtimeMaskNotFoundOrInvalid', REALTIME, {'hw_cpu_realtime_mask': '5'}),
    (
        'RealtimeConfigurationInvalid',
        {'hw:cpu_realtime': 'yes', 'hw:cpu_realtime_mask': '^0'},
        {},
    ),
    ('RequiredMixedOrRealtimeCPUMask', MIXED, {}),
    ('RequiredMixedInstancePolicy', {**PINNED, 'hw:cpu_dedicated_mask': '1'}, {}),
    ('InvalidMixedInstanceDedicatedMask', {**MIXED, 'hw:cpu_dedicated_mask': '0-1'}, {}),
    ('InvalidMixedInstanceDedicatedMask', {**MIXED, 'hw:cpu_dedicated_mask': '5'}, {}),
    ('InvalidRequest', {**PINNED, 'resources:PCPU': '2'}, {}),
    ('InvalidRequest', {'resources:PCPU': '2', 'resources:VCPU': '2'}, {}),
    ('InvalidRequest', {'resources:PCPU': '3'}, {}),
    ('InvalidRequest', {'resources:PCPU': '2', 'hw:emulator_threads_policy': 'isolate'}, {}),
    (
        'InvalidRequest',
        {**PINNED, 'hw:cpu_thread_policy': 'prefer', 'trait:HW_CPU_HYPERTHREADING': 'required'},
        {},
    ),
    ('MemoryPageSizeInvalid', {'hw:mem_page_size': 'foo'}, {}),
    ('MemoryPageSizeInvalid', {'hw:mem_page_size': '-1'}, {}),
    ('MemoryPageSizeForbidden', {}, {'hw_mem_page_size': 'large'}),
    ('MemoryPageSizeForbidden', {'hw:mem_page_size': '2MB'}, {'hw_mem_page_size': '2MB'}),
    ('LockMemoryForbidden', {'hw:locked_memory': 'true'}, {}),
    (
        'FlavorImageLockedMemoryConflict',
        {**LARGE, 'hw:locked_memory': 'true'},
        {'hw_locked_memory': 'no'},
    ),
    ('FlavorImageConflict', ENCRYPTED, {}),
    ('FlavorImageConflict', ENCRYPTED, {**UEFI, 'hw_mem_encryption': 'no'}),
    ('FlavorImageConflict', {**ENCRYPTED, 'hw:mem_encryption_model': 'amd-sev'}, SNP),
    ('InvalidRequest', {**ENCRYPTED, 'hw:mem_encryption_model': 'x'}, UEFI),
    ('InvalidMachineType', ENCRYPTED, {**UEFI, 'hw_machine_type': 'pc'}),
    ('StatelessFirmwareRequired', ENCRYPTED, SNP),
    ('InvalidVideoMode', ENCRYPTED, TDX),
    ('FlavorImageConflict', {'hw:pmu': 'yes'}, {'hw_pmu': 'no'}),
    ('FlavorImageConflict', {'hw:virtio_packed_ring': 'yes'}, {'hw_virtio_packed_ring': 'no'}),
    (
        'FlavorImageConflict',
        {'hw:vif_multiqueue_enabled': 'yes'},
        {'hw_vif_multiqueue_enabled': 'no'},
    ),
    ('ImageSerialPortNumberInvalid', {'hw:serial_port_count': 'x'}, {}),
    (
        'ImageSerialPortNumberExceedFlavorValue',
        {'hw:serial_port_count': '1'},
        {'hw_serial_port_count': '2'},
    ),
    ('InvalidFlavorExtraSpec', {'hw:cpu_sockets': 'x'}, {}),
    ('ImageVCPULimitsRangeExceeded', {'hw:cpu_max_cores': '1'}, {'hw_cpu_max_cores': '2'}),
    ('ImageVCPUTopologyRangeExceeded', {'hw:cpu_max_cores': '1'}, {'hw_cpu_cores': '2'}),
    ('InvalidImageConfigDrive', {}, {'img_config_drive': 'foo'}),
    ('InvalidImageMetadata', {}, {'hw_pointer_model': 'foo'}),
    ('InvalidImageMetadata', {}, {'os_secure_boot': 'foo'}),
    ('InvalidImageMetadata', {}, {'hw_rescue_bus': 'foo'}),
    ('InvalidImageMetadata', {}, {'hw_cdrom_bus': 'foo'}),
    ('InvalidImageMetadata', {}, {'hw_tpm_version': '3'}),
    ('InvalidImageMetadata', {}, {'architecture': 'foo'}),
    ('InvalidImageMetadata', {}, {'hw_vm_mode': 'foo'}),
    ('InvalidImageMetadata', {}, {'img_hv_type': 'foo'}),
    ('InvalidImageMetadata', {}, {'img_hv_requested_version': '1.0'}),
    ('InvalidImageMetadata', {}, {'hw_video_ram': 'x'}),
    ('InvalidImageMetadata', {}, {'hw_numa_mem.0': 'x'}),
    ('InvalidMask', {}, {'hw_numa_cpus.0': '^'}),
)
# Combinations that look wrong and are accepted.
ACCEPTED = (
    ({'hw:numa_cpus.0': 'x', 'hw:numa_mem.0': 'x'}, {}),
    ({**TWO, 'hw:numa_cpus.1': '1'}, {}),
    ({'hw:numa_nodes': '', 'hw:cpu_policy': '', 'hw:cpu_dedicated_mask': ''}, {}),
    ({'hw:cpu_realtime': 'no', 'hw:cpu_realtime_mask': 'x'}, {}),
    ({**REALTIME, 'hw:emulator_threads_policy': 'share'}, {}),
    ({'resources:PCPU': '2', 'hw:cpu_thread_policy': 'isolate'}, {}),
    ({'resources:PCPU': 'x', 'resources_A:PCPU': '1'}, {}),
    (PINNED, {'hw_cpu_policy': 'shared'}),
    (LARGE, {'hw_mem_page_size': '2048'}),
    ({'hw:serial_port_count': '-1', 'hw:pmu': 'x', 'hw:tpm_model': 'x'}, {'hw_boot_menu': 'x'}),
    ({'hw:serial_port_count': '-1'}, {'hw_serial_port_count': '0'}),
    (ENCRYPTED, {**UEFI, 'hw_machine_type': 'pc-q35-8.0'}),
    (ENCRYPTED, {**TDX, 'hw_video_model': 'none'}),
    ({}, {'architecture': 'AMD64', 'hw_scsi_model': 'LSILogicSAS', 'os_type': 'Linux'}),
    ({}, {'img_hv_requested_version': '>=1.0, <2', 'hw_video_ram': '16', 'mine': 'x'}),
    ({}, {'hw_pointer_model': None, 'trait:HW_CPU_HYPERTHREADING': 'forbidden'}),
)


def of(specs, properties=None):
    asked = constraints.Asked(2, 128, specs, properties or {}, 'small', 'cirros', 'ID')
    return constraints.of(asked)


class RefusedTest(testtools.TestCase):
    def test_each_combination(self):
        for name, specs, properties in REFUSED:
            with self.subTest(f'{name} {specs} {properties}'):
                raised = self.assertRaises(exception.Invalid, of, specs, properties)
                self.assertEqual(name, type(raised).__name__)
                self.assertNotIn('%', raised.message)

    def test_texts(self):
        raised = self.assertRaises(exception.Invalid, of, ENCRYPTED, {'hw_mem_encryption': '1'})
        self.assertEqual(
            'Memory encryption is requested by hw:mem_encryption extra spec in small flavor and '
            "hw_mem_encryption property of image ID but the image metadata doesn't have the "
            "'hw_firmware_type' property set to 'uefi'",
            raised.message,
        )
        raised = self.assertRaises(exception.Invalid, of, {'hw:pmu': 'yes'}, {'hw_pmu': 'no'})
        self.assertEqual(
            'Flavor small has hw:pmu extra spec explicitly set to True, conflicting with image '
            'cirros which has hw_pmu explicitly set to False.',
            raised.message,
        )


class AcceptedTest(testtools.TestCase):
    def test_each_combination(self):
        for specs, properties in ACCEPTED:
            with self.subTest(f'{specs} {properties}'):
                self.assertIsInstance(of(specs, properties), constraints.Constraints)

    def test_nothing_asked(self):
        found = of({'capabilities:x': 'y'}, {'os_type': 'linux', 'kernel_id': 'k'})
        self.assertIs(constraints.NONE, found)

    def test_nodes(self):
        sizes = {'hw:numa_mem.0': '100', 'hw:numa_mem.1': '28'}
        self.assertEqual(
            (guest_numa.Node((0,), 100), guest_numa.Node((1,), 28)), of({**CPUS, **sizes}).nodes
        )
        halves = (guest_numa.Node((0,), 64), guest_numa.Node((1,), 64))
        self.assertEqual(halves, of(TWO).nodes)
        self.assertEqual(halves, of({}, {'hw_numa_nodes': '2'}).nodes)
        for specs in (PINNED, LARGE, {'hw:pmem': 'a'}, {'resources:PCPU': '2'}):
            self.assertEqual((guest_numa.Node((0, 1), 128),), of(specs).nodes)

    def test_cpus(self):
        found = of({**MIXED, 'hw:cpu_dedicated_mask': '^0', 'hw:cpu_thread_policy': 'prefer'})
        self.assertEqual(('mixed', 'prefer', {1}), _cpus(found))
        found = of({**MIXED, 'hw:cpu_realtime': 'yes', 'hw:cpu_realtime_mask': '^1'})
        self.assertEqual(({0}, {0}), (found.dedicated, found.realtime))
        found = of({**PINNED, 'trait1:HW_CPU_HYPERTHREADING': 'forbidden'})
        self.assertEqual(('dedicated', 'isolate', {0, 1}), _cpus(found))

    def test_memory(self):
        for text, size in (('2MB', 2048), ('1GiB', 1 << 20), ('64', 64), ('any', 'any')):
            self.assertEqual(size, of({'hw:mem_page_size': text}).page_size)
        self.assertEqual(2048, of(LARGE, {'hw_mem_page_size': '2048'}).page_size)
        self.assertTrue(of(LARGE, {'hw_locked_memory': 'yes'}).locked_memory)
        self.assertEqual('amd-sev', of(ENCRYPTED, UEFI).mem_encryption)


def _cpus(found):
    return found.cpu_policy, found.cpu_thread_policy, found.dedicated


class MasksTest(testtools.TestCase):
    def test_cpus(self):
        for text, cpus in (
            ('', set()),
            ('0-3,^2', {0, 1, 3}),
            (' 1 , 3 - 4,,', {1, 3, 4}),
            ('^0', set()),
            ('5,^0-99999999999999', set()),
        ):
            self.assertEqual(cpus, masks.cpus(text))
        self.assertEqual({1}, masks.cpus_of('^0,0', 2))

    def test_parts_that_are_none(self):
        for text in ('x', '^x', '^', '0-', '-1', '2-1', '0-1-2', '0-99999999999999'):
            raised = self.assertRaises(masks.InvalidMask, masks.cpus, f'0,{text}')
            self.assertIn(f"expression '{text}'", raised.message)
