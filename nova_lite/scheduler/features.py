"""Features that flavor extra specs and image properties require of a host besides sizes.

Each feature is one function that returns the traits it needs.
Source: reference/nova/scheduling 3.1.
"""

from collections.abc import Iterable

import os_resource_classes
import os_traits

from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import asked as asked_by
from nova_lite.lifecycle.guests import memory
from nova_lite.lifecycle.guests import pinning
from nova_lite.lifecycle.guests import tpm
from nova_lite.objects import request_spec

SECURE_BOOT = 'required', 'disabled', 'optional'
ADDRESS_SPACES = {
    'passthrough': os_traits.COMPUTE_ADDRESS_SPACE_PASSTHROUGH,
    'emulate': os_traits.COMPUTE_ADDRESS_SPACE_EMULATED,
}
MEMORY_ENCRYPTION = {
    memory.SEV: 'HW_CPU_X86_AMD_SEV',
    memory.SEV_ES: 'HW_CPU_X86_AMD_SEV_ES',
    memory.SNP: 'HW_CPU_X86_AMD_SEV_SNP',
    memory.TDX: 'HW_CPU_X86_INTEL_TDX',
}


def asked(spec: request_spec.RequestSpec) -> asked_by.Asked:
    """Return the flavor and the image of a spec, without devices and ports."""
    flavor, image = spec.flavor, spec.image
    return asked_by.Asked(
        vcpus=flavor.vcpus,
        memory_mb=flavor.memory_mb,
        specs=flavor.extra_specs,
        properties=image.properties if image else {},
        flavor_name=flavor.name,
        image_name=(image.name if image else None) or '',
        image_id=(image.id if image else None) or '',
    )


def resources(guest: asked_by.Asked, *, pinned: bool = True) -> dict[str, int]:
    """Return {resource class: amount} that features of a guest use or replace.

    pinned: request dedicated CPUs as PCPU; False: as VCPU. Raise Invalid for a mask of CPUs.
    """
    found = _dedicated_cpus(guest) if pinned and is_pinned(guest) else {}
    if any(guest.truths('mem_encryption')):
        found['MEM_ENCRYPTION_CONTEXT'] = 1
    for label in (guest.spec('pmem') or '').split(','):
        if label.strip():
            name = os_resource_classes.normalize_name(f'PMEM_NAMESPACE_{label.strip()}')
            found[name] = found.get(name, 0) + 1
    return found


def is_pinned(guest: asked_by.Asked) -> bool:
    """Return whether flavor or image request dedicated CPUs by a policy."""
    return _cpu_policy(guest) in pinning.PINNED


def _cpu_policy(guest: asked_by.Asked) -> str | None:
    return guest.spec('cpu_policy') or guest.prop('cpu_policy')


def _dedicated_cpus(guest: asked_by.Asked) -> dict[str, int]:
    policy = _cpu_policy(guest)
    emulator = pinning.emulator_threads(guest, policy)
    realtime = pinning.realtime(guest, policy, emulator)
    dedicated = len(pinning.dedicated(guest, policy, realtime))
    more = 1 if emulator == pinning.ISOLATE else 0
    return {'VCPU': guest.vcpus - dedicated, 'PCPU': dedicated + more}


def traits(guest: asked_by.Asked, *, pinned: bool = True) -> tuple[set[str], set[str]]:
    """Return (traits that features of a guest require, traits that they forbid).

    pinned: False: without the trait of threads of dedicated CPUs
    Raise Invalid for a value that no host has, and where flavor and image contradict.
    """
    forbidden: set[str] = set()
    required = {trait for feature in FEATURES for trait in feature(guest)}
    threads = guest.spec('cpu_thread_policy') or guest.prop('cpu_thread_policy')
    if pinned and threads == pinning.REQUIRE:
        required.add(os_traits.HW_CPU_HYPERTHREADING)
    elif pinned and threads == pinning.ISOLATE:
        forbidden.add(os_traits.HW_CPU_HYPERTHREADING)
    return required, forbidden


def _memory_encryption(guest: asked_by.Asked) -> Iterable[str]:
    is_encrypted = any(guest.truths('mem_encryption'))
    return [MEMORY_ENCRYPTION[memory.model_of(guest)]] if is_encrypted else []


def _virtual_tpm(guest: asked_by.Asked) -> Iterable[str]:
    device = tpm.device(guest)
    if device is None:
        return []
    version, model = device
    return [
        'COMPUTE_SECURITY_TPM_' + version.replace('.', '_'),
        'COMPUTE_SECURITY_TPM_CRB' if model == tpm.CRB else 'COMPUTE_SECURITY_TPM_TIS',
    ]


def _socket_affinity(guest: asked_by.Asked) -> Iterable[str]:
    name = 'pci_numa_affinity_policy'
    is_socket = 'socket' in (guest.spec(name), guest.prop(name))
    return [os_traits.COMPUTE_SOCKET_PCI_NUMA_AFFINITY] if is_socket else []


def _secure_boot(guest: asked_by.Asked) -> Iterable[str]:
    policy = agreement.word(guest, 'secure_boot', 'secure boot policy', SECURE_BOOT, namespace='os')
    return [os_traits.COMPUTE_SECURITY_UEFI_SECURE_BOOT] if policy == 'required' else []


def _address_space(guest: asked_by.Asked) -> Iterable[str]:
    mode = agreement.word(guest, 'maxphysaddr_mode', 'Maxphyaddr mode', ADDRESS_SPACES)
    return [ADDRESS_SPACES[mode]] if mode else []


def _stateless_firmware(guest: asked_by.Asked) -> Iterable[str]:
    # Only images ask for it, and only UEFI firmware can be without a state.
    if guest.prop('firmware_type') != 'uefi' or not guest.truths('firmware_stateless')[1]:
        return []
    return [os_traits.COMPUTE_SECURITY_STATELESS_FIRMWARE]


def _usb(guest: asked_by.Asked) -> Iterable[str]:
    # In nova the hypervisor's driver refuses them when it starts the guest.
    agreement.check_usb(guest)
    return []


FEATURES = (
    _memory_encryption,
    _virtual_tpm,
    _socket_affinity,
    _secure_boot,
    _address_space,
    _stateless_firmware,
    _usb,
)
