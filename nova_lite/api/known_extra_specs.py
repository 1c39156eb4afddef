"""Flavor extra specs that compute knows, and which values each may have.

From microversion 2.86 a known name with a wrong value is refused, and so is an
unknown name in a namespace that is ours. Names outside of those are free.
"""

from collections.abc import Callable
import re
import typing

import os_resource_classes
import os_traits
from oslo_utils import strutils

from nova_lite import exception
from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import tpm

# Raises ValueError for a value that compute does not understand.
Check: typing.TypeAlias = Callable[[str], None]

MASK = r'\^?\d+(-\d+|,\^?\d+)*'
GROUP = r'([a-zA-Z0-9_-]{1,64})?'


class Refused(exception.Invalid):
    """An extra spec that validation does not let through."""

    msg = 'Validation failed; %(reason)s.'


# ---- kinds of values --------------------------------------------------------


def text(value: str) -> None:
    """Anything."""


def boolean(value: str) -> None:
    """Yes or no, in any of the usual words."""
    try:
        strutils.bool_from_string(value, strict=True)
    except ValueError:
        raise Refused(reason=f"'{value}' is not a valid boolean-like value") from None


def number(minimum: int | None = None, maximum: int | None = None) -> Check:
    """Return a whole number within bounds."""

    def check(value: str) -> None:
        try:
            found = int(value)
        except ValueError:
            raise Refused(reason=f"'{value}' is not a valid integer value") from None
        if maximum is not None and found > maximum:
            raise Refused(reason=f"'{found}' is greater than the max value of '{maximum}'")
        if minimum is not None and found < minimum:
            raise Refused(reason=f"'{found}' is less than the min value of '{minimum}'")

    return check


def one_of(*allowed: str) -> Check:
    """Return a check that a value is one of these words."""

    def check(value: str) -> None:
        if value not in allowed:
            raise Refused(reason=f"'{value}' is not one of: {', '.join(allowed)}")

    return check


def form(pattern: str) -> Check:
    """Return a text of this form."""
    compiled = re.compile(pattern)

    def check(value: str) -> None:
        if not compiled.fullmatch(value):
            raise Refused(reason=f"'{value}' is not of the format '{pattern}'")

    return check


# ---- names ------------------------------------------------------------------

SIZE = number(0)
COUNT = number(1)
TRAIT = one_of('required', 'forbidden')
_CAPABILITIES = (
    'aggregates', 'cell_uuid', 'cpu_allocation_ratio', 'current_workload',
    'disk_allocation_ratio', 'disk_available_least', 'disk_mb_used', 'failed_builds',
    'free_disk_gb', 'free_disk_mb', 'free_ram_mb', 'host', 'host_ip', 'hypervisor_hostname',
    'hypervisor_type', 'hypervisor_version', 'id', 'local_gb', 'local_gb_used', 'mapped',
    'memory_mb', 'memory_mb_used', 'num_instances', 'num_io_ops', 'ram_allocation_ratio',
    'running_vms', 'service_id', 'total_usable_disk_gb', 'total_usable_ram_mb', 'updated',
    'uuid', 'vcpus', 'vcpus_total', 'vcpus_used',
)  # fmt: skip
_NESTED_CAPABILITIES = (
    'cpu_info', 'instances', 'limits', 'metrics', 'nodename', 'numa_topology',
    'pci_device_pools', 'pci_stats', 'stats', 'supported_hv_specs', 'supported_instances',
)  # fmt: skip

# Of each resource that VMware shares out among its guests.
_VMWARE_QUOTAS = {
    'limit': SIZE,
    'reservation': number(),
    'shares_level': one_of('custom', 'high', 'normal', 'low'),
    'shares_share': SIZE,
}

EXACT = {
    'hide_hypervisor_id': boolean,
    'group_policy': one_of('isolate', 'none'),
    'accel:device_profile': text,
    'hw:boot_menu': boolean,
    'hw:cpu_cores': COUNT,
    'hw:cpu_dedicated_mask': form(MASK),
    'hw:cpu_max_cores': COUNT,
    'hw:cpu_max_sockets': COUNT,
    'hw:cpu_max_threads': COUNT,
    'hw:cpu_policy': one_of('dedicated', 'shared', 'mixed'),
    'hw:cpu_realtime': boolean,
    'hw:cpu_realtime_mask': form(MASK),
    'hw:cpu_sockets': COUNT,
    'hw:cpu_thread_policy': one_of('prefer', 'isolate', 'require'),
    'hw:cpu_threads': COUNT,
    'hw:emulator_threads_policy': one_of('isolate', 'share'),
    'hw:ephemeral_encryption': boolean,
    'hw:ephemeral_encryption_format': one_of(*agreement.ENCRYPTION_FORMATS),
    'hw:hide_hypervisor_id': boolean,
    'hw:locked_memory': boolean,
    'hw:mem_encryption': boolean,
    'hw:mem_encryption_model': one_of('amd-sev', 'amd-sev-es', 'amd-sev-snp', 'intel-tdx'),
    'hw:mem_page_size': form(r'(large|small|any|\d+([kKMGT]i?)?(b|bit|B)?)'),
    'hw:numa_nodes': COUNT,
    'hw:pci_numa_affinity_policy': one_of('required', 'preferred', 'legacy', 'socket'),
    'hw:pmem': form(r'[a-zA-Z0-9_]+(,[a-zA-Z0-9_]+)*,?'),
    'hw:pmu': boolean,
    'hw:redirected_usb_ports': number(0, agreement.MOST_USB_PORTS),
    'hw:serial_port_count': SIZE,
    'hw:sound_model': one_of(*agreement.SOUND_MODELS),
    'hw:tpm_model': one_of(*tpm.MODELS),
    'hw:tpm_secret_security': one_of(*tpm.SECRETS),
    'hw:tpm_version': one_of(*tpm.VERSIONS),
    'hw:usb_model': one_of(*agreement.USB_MODELS),
    'hw:vif_multiqueue_enabled': boolean,
    'hw:viommu_model': one_of('intel', 'smmuv3', 'virtio', 'auto'),
    'hw:virtio_packed_ring': boolean,
    'hw:watchdog_action': one_of('none', 'pause', 'poweroff', 'reset', 'disabled'),
    'hw_rng:allowed': boolean,
    'hw_rng:rate_bytes': SIZE,
    'hw_rng:rate_period': SIZE,
    'hw_video:ram_max_mb': SIZE,
    'os:secure_boot': one_of('disabled', 'required'),
    'pci_passthrough:alias': form(r'[^:]+:\d+(?:\s*,\s*[^:]+:\d+)*'),
    'vmware:hw_version': text,
    'vmware:storage_policy': text,
    **{f'capabilities:{name}': text for name in _CAPABILITIES},
    'quota:cpu_period': SIZE,
    # A negative quota means no limit.
    'quota:cpu_quota': number(),
    'quota:cpu_shares': SIZE,
    **{
        f'quota:disk_{way}_{metric}_sec': SIZE
        for way in ('read', 'write', 'total')
        for metric in ('bytes', 'iops')
    },
    **{
        f'quota:vif_{way}_{metric}': SIZE
        for way in ('inbound', 'outbound')
        for metric in ('average', 'peak', 'burst')
    },
    **{
        f'quota:{resource}_{key}': check_value
        for resource in ('cpu', 'memory', 'disk_io', 'vif')
        for key, check_value in _VMWARE_QUOTAS.items()
    },
}

PATTERNS = tuple(
    (re.compile(pattern), check)
    for pattern, check in (
        (r'hw:numa_cpus\.\d+', form(MASK)),
        (r'hw:numa_mem\.\d+', COUNT),
        (r'aggregate_instance_extra_specs:.+', text),
        (rf'capabilities:({"|".join(_NESTED_CAPABILITIES)})(:\w+)*', text),
        (rf'resources{GROUP}:CUSTOM_[A-Z0-9_]+', number()),
        (rf'resources{GROUP}:({"|".join(os_resource_classes.STANDARDS)})', number()),
        (rf'trait{GROUP}:CUSTOM_[A-Z0-9_]+', TRAIT),
        (rf'trait{GROUP}:({"|".join(os_traits.get_traits())})', TRAIT),
    )
)

NAMESPACES = re.compile(
    r'accel|aggregate_instance_extra_specs|capabilities|hw|hw_rng|hw_video|os|pci_passthrough'
    rf'|quota|vmware|resources{GROUP}|trait{GROUP}'
)


def check(name: str, value: str) -> None:
    """Raise Refused when an extra spec is not one that compute understands."""
    check_value = EXACT.get(name) or _by_pattern(name)
    if check_value is not None:
        check_value(value)
        return
    namespace, colon, _rest = name.partition(':')
    if colon and NAMESPACES.fullmatch(namespace):
        raise Refused(reason=f"extra spec '{name}' does not appear to be a valid extra spec")


def _by_pattern(name: str) -> Check | None:
    return next((found for pattern, found in PATTERNS if pattern.fullmatch(name)), None)
