"""Features that flavor extra specs and image properties require of a host besides sizes.

Each feature is one function that adds resources and traits to the request. A flavor's key is
`hw:name`, an image's `hw_name`; the flavor takes precedence.
Source: reference/nova/scheduling 3.1.
"""

import dataclasses

import os_resource_classes
from oslo_utils import strutils

from nova_lite import exception
from nova_lite.objects import guest_numa
from nova_lite.objects import request_spec


@dataclasses.dataclass
class Asked:
    """Resources and traits for the features of one spec. resources: {class: amount}"""

    resources: dict[str, int] = dataclasses.field(default_factory=dict)
    required: set[str] = dataclasses.field(default_factory=set)
    forbidden: set[str] = dataclasses.field(default_factory=set)


def requested(spec: request_spec.RequestSpec, name: str, namespace: str = 'hw') -> str | None:
    """Return the value of a feature in the flavor or the image, or None."""
    value = spec.flavor.extra_specs.get(f'{namespace}:{name}')
    if value is None and spec.image is not None:
        value = spec.image.properties.get(f'{namespace}_{name}')
    return value


def is_requested(spec: request_spec.RequestSpec, name: str) -> bool:
    """Return whether the flavor or the image turns a feature on."""
    value = requested(spec, name)
    return value is not None and strutils.bool_from_string(value)


def of(spec: request_spec.RequestSpec, *, pinned: bool = True) -> Asked:
    """Return the resources and traits that the spec's features add to its group without a suffix.

    pinned: request dedicated CPUs as PCPU, with the trait of their threads; False: as VCPU, without
        this trait
    """
    asked = Asked()
    if pinned:
        if is_pinned(spec):
            _dedicated_cpus(spec, asked)
        _threads(spec, asked)
    for feature in FEATURES:
        feature(spec, asked)
    return asked


def is_pinned(spec: request_spec.RequestSpec) -> bool:
    """Return whether the spec requests dedicated CPUs."""
    return requested(spec, 'cpu_policy') in ('dedicated', 'mixed')


def _dedicated_cpus(spec: request_spec.RequestSpec, asked: Asked) -> None:
    vcpus = spec.flavor.vcpus
    dedicated = vcpus
    if requested(spec, 'cpu_policy') == 'mixed':
        # Only a flavor has this property, an image does not.
        mask = spec.flavor.extra_specs.get('hw:cpu_dedicated_mask') or ''
        try:
            dedicated = len(guest_numa.masked_cpus(mask, vcpus))
        except ValueError as error:
            raise exception.NoValidHost(
                reason=f'hw:cpu_dedicated_mask of the flavor is invalid at "{error}".'
            ) from None
    asked.resources['VCPU'] = vcpus - dedicated
    if requested(spec, 'emulator_threads_policy') == 'isolate':
        dedicated += 1
    asked.resources['PCPU'] = dedicated


def _threads(spec: request_spec.RequestSpec, asked: Asked) -> None:
    policy = requested(spec, 'cpu_thread_policy')
    if policy == 'require':
        asked.required.add('HW_CPU_HYPERTHREADING')
    elif policy == 'isolate':
        asked.forbidden.add('HW_CPU_HYPERTHREADING')


def _memory_encryption(spec: request_spec.RequestSpec, asked: Asked) -> None:
    if not is_requested(spec, 'mem_encryption'):
        return
    asked.resources['MEM_ENCRYPTION_CONTEXT'] = 1
    if requested(spec, 'mem_encryption_model') == 'amd-sev-es':
        asked.required.add('HW_CPU_X86_AMD_SEV_ES')
    else:
        asked.required.add('HW_CPU_X86_AMD_SEV')


def _persistent_memory(spec: request_spec.RequestSpec, asked: Asked) -> None:
    for label in (requested(spec, 'pmem') or '').split(','):
        if label.strip():
            name = os_resource_classes.normalize_name(f'PMEM_NAMESPACE_{label.strip()}')
            asked.resources[name] = asked.resources.get(name, 0) + 1


def _virtual_tpm(spec: request_spec.RequestSpec, asked: Asked) -> None:
    version = requested(spec, 'tpm_version')
    if version is None:
        return
    asked.required.add('COMPUTE_SECURITY_TPM_' + version.replace('.', '_'))
    if requested(spec, 'tpm_model') == 'tpm-crb':
        asked.required.add('COMPUTE_SECURITY_TPM_CRB')
    else:
        asked.required.add('COMPUTE_SECURITY_TPM_TIS')


def _socket_affinity(spec: request_spec.RequestSpec, asked: Asked) -> None:
    if requested(spec, 'pci_numa_affinity_policy') == 'socket':
        asked.required.add('COMPUTE_SOCKET_PCI_NUMA_AFFINITY')


def _secure_boot(spec: request_spec.RequestSpec, asked: Asked) -> None:
    if requested(spec, 'secure_boot', 'os') == 'required':
        asked.required.add('COMPUTE_SECURITY_UEFI_SECURE_BOOT')


def _address_space(spec: request_spec.RequestSpec, asked: Asked) -> None:
    mode = requested(spec, 'maxphysaddr_mode')
    if mode == 'passthrough':
        asked.required.add('COMPUTE_ADDRESS_SPACE_PASSTHROUGH')
    elif mode == 'emulate':
        asked.required.add('COMPUTE_ADDRESS_SPACE_EMULATED')


def _stateless_firmware(spec: request_spec.RequestSpec, asked: Asked) -> None:
    if is_requested(spec, 'firmware_stateless'):
        asked.required.add('COMPUTE_SECURITY_STATELESS_FIRMWARE')


FEATURES = (
    _memory_encryption,
    _persistent_memory,
    _virtual_tpm,
    _socket_affinity,
    _secure_boot,
    _address_space,
    _stateless_firmware,
)
