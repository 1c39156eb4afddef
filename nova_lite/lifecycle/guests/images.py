"""Properties of images whose values are words of a list, whole numbers, or versions.

Properties that nova reads as a boolean or as text take every value.
"""

import re
import typing

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import refusals
from nova_lite.objects import masks

Words: typing.TypeAlias = frozenset[str]


def _words(text: str) -> Words:
    return frozenset(text.split())


_BUSES = _words('fdc ide sata scsi usb virtio xen lxc uml')
DEVICE_TYPES = _words('cdrom disk floppy fs lun')
_ARCHITECTURES = _words(
    'alpha armv6 armv7l armv7b aarch64 cris i686 ia64 lm32 m68k microblaze microblazeel mips'
    ' mipsel mips64 mips64el openrisc parisc parisc64 ppc ppcle ppc64 ppc64le ppcemb s390 s390x'
    ' sh4 sh4eb sparc sparc64 unicore32 x86_64 xtensa xtensaeb'
    # Other names of i686 and x86_64.
    ' i386 i486 i586 x86_32 amd64'
)
_HYPERVISORS = _words(
    'baremetal bhyve docker fake hyperv ironic kqemu kvm lxc lxd openvz parallels phyp qemu test'
    ' uml vbox vz vmware xen zvm prsm xapi'
)
_SCSI_MODELS = _words(
    'buslogic ibmvscsi lsilogic lsisas1068 lsisas1078 virtio-scsi vmpvscsi'
    # Names of vmware.
    ' lsilogicsas paravirtual'
)
_VM_MODES = _words('hvm xen uml exe pv hv baremetal')
WORDS: dict[str, Words] = {
    'hw_cdrom_bus': _BUSES,
    'hw_cpu_policy': _words('dedicated shared mixed'),
    'hw_cpu_thread_policy': _words('prefer isolate require'),
    'hw_disk_bus': _BUSES,
    'hw_ephemeral_encryption_format': _words('plain luks luksv2'),
    'hw_firmware_type': _words('uefi bios'),
    'hw_floppy_bus': _BUSES,
    'hw_input_bus': _words('usb virtio'),
    'hw_maxphysaddr_mode': _words('passthrough emulate'),
    'hw_mem_encryption_model': _words('amd-sev amd-sev-es amd-sev-snp intel-tdx'),
    'hw_pci_numa_affinity_policy': _words('required legacy preferred socket'),
    'hw_pointer_model': _words('usbtablet'),
    'hw_rescue_bus': _BUSES,
    'hw_rescue_device': DEVICE_TYPES,
    'hw_rng_model': _words('virtio'),
    'hw_sound_model': _words('sb16 es1370 pcspk ac97 ich6 ich9 usb virtio'),
    'hw_tpm_model': _words('tpm-tis tpm-crb'),
    'hw_tpm_version': _words('1.2 2.0'),
    'hw_usb_model': _words('none nec-xhci qemu-xhci'),
    'hw_video_model': _words('cirrus qxl vga vmvga xen virtio gop none bochs'),
    'hw_vif_model': _words(
        'virtio ne2k_pci pcnet rtl8139 e1000 e1000e netfront spapr-vlan lan9118 sriov vmxnet'
        ' vmxnet3 igb VirtualE1000 VirtualE1000e VirtualPCNet32 VirtualSriovEthernetCard'
        ' VirtualVmxnet VirtualVmxnet3'
    ),
    'hw_viommu_model': _words('intel smmuv3 virtio auto'),
    'hw_watchdog_action': _words('none pause poweroff reset disabled'),
    'img_signature_hash_method': _words('SHA-224 SHA-256 SHA-384 SHA-512'),
    'img_signature_key_type': _words(
        'DSA ECC_SECP384R1 ECC_SECP521R1 ECC_SECT409K1 ECC_SECT409R1 ECC_SECT571K1'
        ' ECC_SECT571R1 RSA-PSS'
    ),
    'os_secure_boot': _words('required disabled optional'),
}
# Words in capital or small letters: {property: (words, text of a refusal)}.
_VALUE, _MODE = 'Field value %s is invalid', "Virtual machine mode '%s' is not valid"
_ARCHITECTURE = "Architecture name '%s' is not valid"
_VERSIONED = 'Version %s is not a valid predicate in field img_hv_requested_version'
_HYPERVISOR = "Hypervisor virt type '%s' is not valid"
ANY_CASE: dict[str, tuple[Words, str]] = {
    'architecture': (_ARCHITECTURES, _ARCHITECTURE),
    'hw_architecture': (_ARCHITECTURES, _ARCHITECTURE),
    'hw_emulation_architecture': (_ARCHITECTURES, _ARCHITECTURE),
    'hypervisor_type': (_HYPERVISORS, _HYPERVISOR),
    'img_hv_type': (_HYPERVISORS, _HYPERVISOR),
    'hw_scsi_model': (_SCSI_MODELS, _VALUE),
    'vmware_adaptertype': (_SCSI_MODELS | {'ide'}, _VALUE),
    'vm_mode': (_VM_MODES, _MODE),
    'hw_vm_mode': (_VM_MODES, _MODE),
    'os_type': (_words('linux windows'), _VALUE),
}
NUMBERS = _words(
    'hw_cpu_cores hw_cpu_max_cores hw_cpu_max_sockets hw_cpu_max_threads hw_cpu_sockets'
    ' hw_cpu_threads hw_device_id hw_maxphysaddr_bits hw_numa_nodes hw_redirected_usb_ports'
    ' hw_serial_port_count hw_video_ram img_compression_level img_version vmware_image_version'
    ' xenapi_device_id xenapi_image_compression_level'
)
VERSIONS = _words('img_hv_requested_version hypervisor_version_requires')
# Names of properties that take every value.
_OTHERS = frozenset(
    [
        'hw_auto_disk_config',
        'hw_boot_menu',
        'hw_cpu_realtime_mask',
        'hw_disk_type',
        'hw_ephemeral_encryption',
        'hw_ephemeral_encryption_secret_uuid',
        'hw_firmware_stateless',
        'hw_ipxe_boot',
        'hw_locked_memory',
        'hw_machine_type',
        'hw_mem_encryption',
        'hw_mem_page_size',
        'hw_pmu',
        'hw_qemu_guest_agent',
        'hw_time_hpet',
        'hw_vif_multiqueue_enabled',
        'hw_virtio_packed_ring',
        'img_bittorrent',
        'img_cache_in_nova',
        'img_config_drive',
        'img_hide_hypervisor_id',
        'img_linked_clone',
        'img_owner_id',
        'img_root_device_name',
        'img_signature',
        'img_signature_certificate_uuid',
        'img_use_agent',
        'os_admin_user',
        'os_command_line',
        'os_distro',
        'os_require_quiesce',
        'os_skip_agent_inject_files_at_boot',
        'os_skip_agent_inject_ssh',
    ]
)
# All names of properties with a meaning for nova.
NAMES = _OTHERS | {
    name
    for name in (*WORDS, *ANY_CASE, *NUMBERS, *VERSIONS)
    if name.startswith(('hw_', 'img_', 'os_'))
}
# Of these properties and their former names, servers show the values.
SHOWN = NAMES | _words(
    'architecture auto_disk_config bittorrent cache_in_nova hypervisor_type'
    ' hypervisor_version_requires owner_id root_device_name traits_required vm_mode'
    ' vmware_disktype vmware_image_version vmware_linked_clone vmware_ostype xenapi_device_id'
    ' xenapi_image_compression_level xenapi_skip_agent_inject_files_at_boot'
    ' xenapi_skip_agent_inject_ssh xenapi_use_agent'
)
_PREDICATE = re.compile(r'\s*(<=|>=|<|>|==|!=)\s*([^\s]+)\s*')
_VERSION = re.compile(r'[0-9]+([.-][0-9a-zA-Z]+)*')


def check(properties: asked.Values) -> None:
    """Raise Invalid for a value that its property does not have."""
    for name, value in properties.items():
        if value is None:
            continue
        if name in WORDS:
            if str(value) not in WORDS[name]:
                raise _unknown(name, _VALUE % value, WORDS[name])
        elif name in ANY_CASE:
            words, text = ANY_CASE[name]
            if str(value).lower() not in words:
                raise _unknown(name, text % value, words)
        elif name in NUMBERS:
            number(value)
        elif name in VERSIONS:
            if not all(map(_is_predicate, str(value).split(','))):
                raise refusals.InvalidImageMetadata(reason=_VERSIONED % value)
        elif name == 'img_config_drive' and value not in ('optional', 'mandatory'):
            raise refusals.InvalidImageConfigDrive(value=value)
        elif name == 'hw_numa_cpus.0':
            node_cpus(properties)
        elif name == 'hw_numa_mem.0':
            node_memory(properties)


def number(value: object) -> int:
    """Return the whole number of a property. Raise InvalidImageMetadata."""
    try:
        return int(str(value))
    except ValueError as error:
        raise refusals.InvalidImageMetadata(reason=error) from None


def node_cpus(properties: asked.Values) -> list[frozenset[int]]:
    """Return the CPUs of NUMA nodes 0, 1 and so on, as far as the image has them."""
    return [masks.cpus(text) for text in indexed(properties, 'hw_numa_cpus')]


def node_memory(properties: asked.Values) -> list[int]:
    """Return the MiB of NUMA nodes 0, 1 and so on, as far as the image has them."""
    return [number(text) for text in indexed(properties, 'hw_numa_mem')]


def indexed(values: asked.Values, name: str) -> list[str]:
    """Return the values of NAME.0, NAME.1 and so on until one is missing."""
    found: list[str] = []
    while (value := values.get(f'{name}.{len(found)}')) is not None:
        found.append(str(value))
    return found


def _unknown(name: str, text: str, words: Words) -> refusals.InvalidImageMetadata:
    reason = f'{text}. {name} must be one of: {", ".join(sorted(words))}'
    return refusals.InvalidImageMetadata(reason=reason)


def _is_predicate(text: str) -> bool:
    match = _PREDICATE.fullmatch(text)
    return match is not None and _VERSION.fullmatch(match[2]) is not None
