"""CPU policies of a guest: dedicated CPUs, their threads, realtime, emulator threads."""

import re

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import refusals
from nova_lite.objects import masks

DEDICATED, SHARED, MIXED = POLICIES = ('dedicated', 'shared', 'mixed')
PINNED = DEDICATED, MIXED
PREFER, ISOLATE, REQUIRE = THREADS = ('prefer', 'isolate', 'require')
EMULATOR = 'share', 'isolate'
_RESOURCES = re.compile(r'resources([1-9][0-9]*)?:(PCPU|VCPU)')
_HYPERTHREADING = re.compile(r'trait([1-9][0-9]*)?:HW_CPU_HYPERTHREADING')
_BOTH_CLASSES = (
    "It is not possible to specify both 'resources:VCPU' and 'resources:PCPU' extra specs; use "
    'one or the other'
)
_CLASS_AND_POLICY = (
    "It is not possible to use the 'resources:VCPU' or 'resources:PCPU' extra specs in combination "
    "with the 'hw:cpu_policy' extra spec or 'hw_cpu_policy' image metadata property; use one or "
    'the other'
)
_OTHER_COUNT = (
    "There is a mismatch between the number of PCPUs requested via 'resourcesNN:PCPU' and the "
    'flavor); you must allocate exactly flavor.vcpus PCPUs'
)
_NO_PCPU_TO_SPARE = (
    "You have requested 'hw:emulator_threads_policy=isolate' but have not requested sufficient "
    'PCPUs to handle this policy; you must allocate exactly flavor.vcpus + 1 PCPUs.'
)
_TRAIT_AND_POLICY = (
    "It is not possible to use the 'trait:HW_CPU_HYPERTHREADING' extra spec in combination with "
    "the 'hw:cpu_thread_policy' extra spec or 'hw_cpu_thread_policy' image metadata property; use "
    'one or the other'
)
_NOT_DEDICATED_SUBSET = (
    'Mixed instance dedicated vCPU(s) mask is not a subset of vCPUs in the flavor. See '
    '"hw:cpu_dedicated_mask"'
)
_NOT_REALTIME_SUBSET = (
    'Realtime policy vCPU(s) mask is configured with RT vCPUs that are not a subset of the vCPUs '
    'in the flavor. See hw:cpu_realtime_mask or hw_cpu_realtime_mask'
)


def policy(guest: asked.Asked) -> str | None:
    """Return the CPU policy, also where the flavor asks for it by the class of its CPUs."""
    flavor, image = guest.spec('cpu_policy') or None, guest.prop('cpu_policy')
    if flavor is not None and flavor not in POLICIES:
        raise refusals.InvalidCPUAllocationPolicy(given=flavor, available=POLICIES)
    if (flavor == MIXED and image == DEDICATED) or (flavor == SHARED and image in PINNED):
        raise refusals.ImageCPUPinningForbidden()
    chosen = flavor or image
    amounts = _amounts(guest.specs)
    if not amounts:
        return chosen
    if chosen:
        raise refusals.InvalidRequest(_CLASS_AND_POLICY)
    if len(amounts) > 1:
        raise refusals.InvalidRequest(_BOTH_CLASSES)
    if 'PCPU' not in amounts:
        return None
    is_isolated = guest.spec('emulator_threads_policy') == ISOLATE
    if amounts['PCPU'] != guest.vcpus + is_isolated:
        raise refusals.InvalidRequest(_NO_PCPU_TO_SPARE if is_isolated else _OTHER_COUNT)
    return DEDICATED


def _amounts(specs: asked.Values) -> dict[str, int]:
    """Return {PCPU or VCPU: amount} of the classes that a flavor requests by name."""
    found: dict[str, int] = {}
    for key, value in specs.items():
        match = _RESOURCES.fullmatch(key)
        amount = asked.amount(value) if match else None
        if match and amount:
            found[match[2]] = found.get(match[2], 0) + amount
    return found


def threads(guest: asked.Asked, cpu_policy: str | None) -> str | None:
    """Return the thread policy, also where flavor or image ask for it by a trait."""
    flavor, image = guest.spec('cpu_thread_policy') or None, guest.prop('cpu_thread_policy')
    if flavor is not None and flavor not in THREADS:
        raise refusals.InvalidCPUThreadAllocationPolicy(given=flavor, available=THREADS)
    if flavor in (ISOLATE, REQUIRE) and image not in (None, flavor):
        raise refusals.ImageCPUThreadPolicyForbidden()
    chosen = flavor if flavor in (ISOLATE, REQUIRE) else image or flavor
    by_trait = _threads_by_trait(guest)
    if chosen and by_trait:
        raise refusals.InvalidRequest(_TRAIT_AND_POLICY)
    chosen = chosen or by_trait
    if chosen and cpu_policy not in PINNED:
        raise refusals.CPUThreadPolicyConfigurationInvalid()
    return chosen


def _threads_by_trait(guest: asked.Asked) -> str | None:
    flavor = next((v for k, v in guest.specs.items() if _HYPERTHREADING.fullmatch(k)), None)
    if flavor == 'forbidden':
        return ISOLATE
    image = guest.properties.get('trait:HW_CPU_HYPERTHREADING')
    return REQUIRE if 'required' in (flavor, image) else None


def emulator_threads(guest: asked.Asked, cpu_policy: str | None) -> str | None:
    """Return the policy of emulator threads, which only a flavor has."""
    flavor = guest.spec('emulator_threads_policy') or None
    if flavor is not None and flavor not in EMULATOR:
        raise refusals.InvalidEmulatorThreadsPolicy(given=flavor, available=EMULATOR)
    if flavor == ISOLATE and cpu_policy not in PINNED:
        raise refusals.BadRequirementEmulatorThreadsPolicy()
    return flavor


def realtime(
    guest: asked.Asked, cpu_policy: str | None, emulator: str | None
) -> frozenset[int] | None:
    """Return the guest's CPUs for realtime, or None. emulator: policy of emulator threads"""
    if not guest.truths('cpu_realtime')[0]:
        return None
    every = frozenset(range(guest.vcpus))
    mask = guest.prop('cpu_realtime_mask') or guest.spec('cpu_realtime_mask') or None
    cpus = every if mask is None else masks.cpus_of(mask, guest.vcpus)
    if not cpus or (not every - cpus and emulator is None and cpus == every):
        raise refusals.RealtimeMaskNotFoundOrInvalid()
    if cpus - every:
        raise refusals.RealtimeMaskNotFoundOrInvalid(_NOT_REALTIME_SUBSET)
    if cpu_policy not in PINNED:
        raise refusals.RealtimeConfigurationInvalid()
    return cpus


def dedicated(
    guest: asked.Asked, cpu_policy: str | None, realtime_cpus: frozenset[int] | None
) -> frozenset[int]:
    """Return the guest's CPUs that have a CPU of the host for themselves."""
    every = frozenset(range(guest.vcpus))
    masked = _dedicated_mask(guest, every)
    if cpu_policy != MIXED:
        if masked is not None:
            raise refusals.RequiredMixedInstancePolicy()
        return every if cpu_policy == DEDICATED else frozenset()
    if (realtime_cpus is None) == (masked is None):
        raise refusals.RequiredMixedOrRealtimeCPUMask()
    return masked or realtime_cpus or frozenset()


def _dedicated_mask(guest: asked.Asked, every: frozenset[int]) -> frozenset[int] | None:
    mask = guest.spec('cpu_dedicated_mask') or None
    if mask is None:
        return None
    cpus = masks.cpus_of(mask, guest.vcpus)
    if not cpus or not every - cpus:
        raise refusals.InvalidMixedInstanceDedicatedMask()
    if cpus - every:
        raise refusals.InvalidMixedInstanceDedicatedMask(_NOT_DEDICATED_SUBSET)
    return cpus
