"""Pairs of a flavor and an image for tools.judge_guests.

Each key gets each of its values alone, together with each value of each other key, and in random
groups of three to six keys, half of them of one subject. Keys
of a flavor have a colon, those of an image do not.
"""

from collections.abc import Iterator
import itertools
import typing

from nova_lite import runtime

SIZES = ((2, 128), (4, 256), (3, 100))
CHECKS = 'create', 'resize', 'rebuild'
TRUTHS = 'true', 'no', 'x'
COUNTS = '0', '1', '2', '-1', 'x', ''
BUSES = 'virtio', 'scsi', 'lxc', 'foo'
# Keys that constrain each other: the flavor's `hw:NAME` and the image's `hw_NAME`.
BOTH = {
    'numa_nodes': ('1', '2', '3', '0', '-1', 'x', '', ' 2', '1.5'),
    'numa_cpus.0': ('0', '0-1', '0,1', '1', 'x', '5', '', '^0', '0-1,^1'),
    'numa_cpus.1': ('1', '2-3', '0', '5', 'x'),
    'numa_mem.0': ('64', '128', '0', '-1', 'x', ''),
    'numa_mem.1': ('64', '128', '32'),
    'cpu_policy': ('dedicated', 'shared', 'mixed', 'x', '', 'Dedicated'),
    'cpu_thread_policy': ('prefer', 'isolate', 'require', 'x', ''),
    'cpu_realtime_mask': ('^0', '^0-1', '0', '0-3', 'x', '', '^7', '7', '1-0'),
    'emulator_threads_policy': ('share', 'isolate', 'x', ''),
    'mem_page_size': (
        'small', 'large', 'any', '4', '2048', '1GB', '2MB', '2048KB', 'x', '0', '-1', '', '1.5', 'LARGE',
    ),
    'locked_memory': TRUTHS,
    'mem_encryption': TRUTHS,
    'mem_encryption_model': ('amd-sev', 'amd-sev-es', 'amd-sev-snp', 'intel-tdx', 'foo'),
    'cpu_sockets': COUNTS,
    'cpu_cores': COUNTS,
    'cpu_threads': COUNTS,
    'cpu_max_sockets': COUNTS,
    'cpu_max_cores': COUNTS,
    'cpu_max_threads': COUNTS,
    'serial_port_count': COUNTS,
    'firmware_stateless': TRUTHS,
    'firmware_type': ('uefi', 'bios', 'foo'),
    'machine_type': ('q35', 'pc', 'virt', ''),
    'pci_numa_affinity_policy': ('required', 'preferred', 'legacy', 'socket', 'foo'),
    'virtio_packed_ring': TRUTHS,
    'pmu': TRUTHS,
    'tpm_model': ('tpm-tis', 'tpm-crb', 'foo'),
    'tpm_version': ('1.2', '2.0', 'foo'),
    'vif_multiqueue_enabled': TRUTHS,
    'maxphysaddr_mode': ('emulate', 'passthrough', 'foo'),
    'maxphysaddr_bits': ('42', 'x', '0'),
    'watchdog_action': ('reset', 'disabled', 'foo'),
    'boot_menu': TRUTHS,
    'viommu_model': ('intel', 'virtio', 'auto', 'foo'),
    'ephemeral_encryption': TRUTHS,
    'ephemeral_encryption_format': ('luks', 'plain', 'foo'),
    'redirected_usb_ports': ('0', '15', '16', 'x', '-1'),
    'sound_model': ('ich9', 'foo', ''),
    'usb_model': ('qemu-xhci', 'none', 'foo', ''),
}  # fmt: skip
# Keys of the flavor alone.
FLAVOR = {
    'hw:cpu_realtime': TRUTHS,
    'hw:cpu_dedicated_mask': ('0', '1', '0-1', '^0', 'x', '', '7', '0-3'),
    'pci_passthrough:alias': ('gpu:1', 'gpu:x', 'gpu', '', 'a:1,b:2', 'gpu:1:2', ':1', 'gpu:0'),
    'resources:PCPU': ('1', '2', '4', 'x', '0'),
    'resources:VCPU': ('1', '2', '4', 'x', '0'),
    'resources1:PCPU': ('1', '2'),
    'trait:HW_CPU_HYPERTHREADING': ('required', 'forbidden', 'x'),
    'trait1:HW_CPU_HYPERTHREADING': ('required', 'forbidden'),
    'os:secure_boot': ('required', 'disabled', 'optional', 'x'),
    'hw:pmem': ('x', ''),
    'hw:hide_hypervisor_id': TRUTHS,
    'hw:tpm_secret_security': ('user', 'host', 'foo'),
    'hw_rng:allowed': TRUTHS,
    'hw_video:ram_max_mb': ('64', '0', 'x'),
    'quota:cpu_shares': ('10', 'x'),
    'accel:device_profile': ('fpga',),
}
# Keys of the image alone.
IMAGE = {
    'os_secure_boot': ('required', 'disabled', 'optional', 'foo', ''),
    'trait:HW_CPU_HYPERTHREADING': ('required', 'forbidden', 'x'),
    'hw_pointer_model': ('usbtablet', 'ps2mouse', 'foo', ''),
    'hw_rescue_bus': BUSES,
    'hw_cdrom_bus': BUSES,
    'hw_disk_bus': BUSES,
    'hw_floppy_bus': BUSES,
    'hw_rescue_device': ('cdrom', 'disk', 'foo'),
    'hw_input_bus': ('usb', 'virtio', 'foo'),
    'hw_architecture': ('x86_64', 'aarch64', 'amd64', 'x86_32', 'foo', ''),
    'hw_emulation_architecture': ('x86_64', 'foo'),
    'hw_rng_model': ('virtio', 'foo'),
    'hw_scsi_model': ('virtio-scsi', 'VIRTIO-SCSI', 'lsilogic', 'foo'),
    'hw_video_model': ('vga', 'none', 'VGA', 'foo', ''),
    'hw_video_ram': ('16', 'x', '-1'),
    'hw_vif_model': ('virtio', 'e1000', 'VirtualE1000', 'VirtualVmxnet', 'foo'),
    'hw_vm_mode': ('hvm', 'HVM', 'pv', 'hv', 'baremetal', 'uml', 'foo'),
    'hw_qemu_guest_agent': TRUTHS,
    'hw_time_hpet': TRUTHS,
    'hw_ipxe_boot': TRUTHS,
    'hw_auto_disk_config': ('true', 'x', 'disabled'),
    'hw_device_id': ('1', 'x'),
    'hw_disk_type': ('preallocated', 'x'),
    'hw_ephemeral_encryption_secret_uuid': ('x', '8f5a0b52-3a0e-4c3c-9d1b-6a2f1f1f0c11'),
    'img_config_drive': ('optional', 'mandatory', 'foo', ''),
    'img_hv_type': ('kvm', 'qemu', 'KVM', 'xapi', 'powervm', 'foo', ''),
    'img_hv_requested_version': ('>=1.0', '1.0', 'x', ''),
    'img_signature': ('x',),
    'img_signature_hash_method': ('SHA-256', 'foo'),
    'img_signature_key_type': ('RSA-PSS', 'foo'),
    'img_signature_certificate_uuid': ('x',),
    'img_bdm_v2': TRUTHS,
    'img_bittorrent': TRUTHS,
    'img_cache_in_nova': TRUTHS,
    'img_compression_level': ('1', 'x'),
    'img_linked_clone': TRUTHS,
    'img_hide_hypervisor_id': TRUTHS,
    'img_owner_id': ('x',),
    'img_use_agent': TRUTHS,
    'img_version': ('1', 'x'),
    'os_admin_user': ('x',),
    'os_command_line': ('x',),
    'os_distro': ('ubuntu',),
    'os_require_quiesce': TRUTHS,
    'os_skip_agent_inject_files_at_boot': TRUTHS,
    'os_skip_agent_inject_ssh': TRUTHS,
    'os_type': ('linux', 'windows', 'Linux', 'foo', ''),
    'architecture': ('x86_64', 'foo'),
    'hypervisor_type': ('kvm', 'foo'),
    'vm_mode': ('hvm', 'foo'),
    'owner_id': ('x',),
    'auto_disk_config': ('true', 'x'),
    'bdm_v2': ('true', 'x'),
    'root_device_name': ('/dev/sda', ''),
    'vmware_adaptertype': ('lsiLogic', 'busLogic', 'ide', 'foo'),
    'vmware_disktype': ('sparse', 'x'),
    'vmware_image_version': ('1', 'x'),
    'vmware_linked_clone': ('true', 'x'),
    'vmware_ostype': ('otherGuest', 'x'),
    'hypervisor_version_requires': ('>=1.0', 'x'),
    'hw_boot_index': ('1', 'x'),
    'my_property': ('x', ''),
}
# Keys that only matter together, with values that make sense.
SUBJECTS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ('hw:cpu_policy', 'dedicated', 'mixed', 'shared'),
        ('hw_cpu_policy', 'dedicated', 'mixed', 'shared'),
        ('hw:cpu_thread_policy', 'prefer', 'isolate', 'require'),
        ('hw_cpu_thread_policy', 'prefer', 'isolate', 'require'),
        ('hw:cpu_realtime', 'yes', 'yes', 'no'),
        ('hw:cpu_realtime_mask', '^0', '^0-1', '1', '0-3', '0-1', '^0,1', '2', '1-9'),
        ('hw_cpu_realtime_mask', '^0', '^0-1', '1', '0-3', '0-1', ''),
        ('hw:cpu_dedicated_mask', '^0', '^0-1', '1', '0-3', '0-1', '3', '^0,0'),
        ('hw:emulator_threads_policy', 'share', 'isolate'),
        ('resources:PCPU', '2', '3', '4'),
        ('resources1:PCPU', '1', '2'),
        ('resources_A:PCPU', '1'),
        ('resources:VCPU', '2', '0'),
        ('trait:HW_CPU_HYPERTHREADING', 'required', 'forbidden'),
        ('trait1:HW_CPU_HYPERTHREADING', 'required', 'forbidden'),
        ('trait_A:HW_CPU_HYPERTHREADING', 'required', 'forbidden'),
    ),
    (
        ('hw:numa_nodes', '1', '2', '4'),
        ('hw_numa_nodes', '1', '2', '3'),
        ('hw:numa_cpus.0', '0', '0-1', '0,1', '0-3,^2-3', '0-2', '1'),
        ('hw:numa_cpus.1', '1', '2-3', '2,3', ''),
        ('hw_numa_cpus.0', '0', '0-1', '0-2'),
        ('hw_numa_cpus.1', '1', '2-3'),
        ('hw:numa_mem.0', '64', '128', '256', '100'),
        ('hw:numa_mem.1', '64', '128', '0'),
        ('hw_numa_mem.0', '64', '128', '100'),
        ('hw_numa_mem.1', '64', '128'),
        ('hw:mem_page_size', 'large', 'any', '2MB', '4'),
        ('hw_mem_page_size', 'large', '2048'),
        ('hw:locked_memory', 'true', 'no'),
        ('hw_locked_memory', 'true', 'no'),
        ('hw:pmem', '4GB,16GB'),
    ),
    (
        ('hw:mem_encryption', 'true', 'true', 'no'),
        ('hw_mem_encryption', 'true', 'true', 'no'),
        ('hw_firmware_type', 'uefi', 'uefi', 'uefi', 'bios'),
        ('hw_machine_type', 'q35', 'pc-q35-8.0', 'pc', ''),
        ('hw:mem_encryption_model', 'amd-sev', 'amd-sev-es', 'amd-sev-snp', 'intel-tdx', 'foo'),
        ('hw_mem_encryption_model', 'amd-sev', 'amd-sev-es', 'amd-sev-snp', 'intel-tdx'),
        ('hw_firmware_stateless', 'true', 'true', 'no'),
        ('hw_video_model', 'none', 'none', 'vga'),
        ('os_secure_boot', 'required'),
        ('hw:firmware_stateless', 'true'),
    ),
    tuple(
        (f'hw{mark}cpu_{limit}{part}', '0', '1', '2', '4')
        for mark in ':_'
        for limit in ('', 'max_')
        for part in ('sockets', 'cores', 'threads')
    ),
)
Pair: typing.TypeAlias = dict[str, typing.Any]
# One key with one value, of the flavor or of the image.
_Part: typing.TypeAlias = tuple[str, str, str]
_SPECS, _PROPERTIES = 'extra_specs', 'properties'


def _parts() -> Iterator[_Part]:
    for name, values in BOTH.items():
        yield from ((_SPECS, f'hw:{name}', value) for value in values)
        yield from ((_PROPERTIES, f'hw_{name}', value) for value in values)
    for side, keys in ((_SPECS, FLAVOR), (_PROPERTIES, IMAGE)):
        for key, values in keys.items():
            yield from ((side, key, value) for value in values)


def _pair(check: str, size: tuple[int, int], parts: tuple[_Part, ...]) -> Pair:
    made: Pair = {
        'check': check,
        'vcpus': size[0],
        'memory_mb': size[1],
        _SPECS: {},
        _PROPERTIES: {},
    }
    for side, key, value in parts:
        made[side][key] = value
    return made


def pairs(seed: int, random_groups: int) -> Iterator[Pair]:
    """Yield the pairs: those of one and of two keys for the first size, random ones for all."""
    chance = runtime.seeded_random(seed)
    parts = list(_parts())
    for check in CHECKS:
        yield from (_pair(check, SIZES[0], (part,)) for part in parts)
    for one, other in itertools.combinations(parts, 2):
        if one[:2] != other[:2]:
            yield _pair(chance.choice(CHECKS), SIZES[0], (one, other))
    constrained = [part for part in parts if part[1][3:] in BOTH or part[0] == _SPECS]
    for number in range(random_groups):
        count = chance.randint(3, 6)
        if number % 2:
            keys = chance.sample(chance.choice(SUBJECTS), count)
            chosen = [(_side(key), key, chance.choice(values)) for key, *values in keys]
        else:
            chosen = chance.sample(constrained, count)
        yield _pair(chance.choice(CHECKS), chance.choice(SIZES), tuple(chosen))


def _side(key: str) -> str:
    return _SPECS if ':' in key else _PROPERTIES
