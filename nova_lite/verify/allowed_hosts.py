"""The hosts on which a server may be: zones, traits, isolated aggregates.

Shared by I12 and the property test of the scheduler. It imports nothing of the
scheduler on purpose: an error there must not be repeated here.
Source: reference/nova/scheduling 2 and 2.1.
"""

from collections.abc import Container
from collections.abc import Iterator
import typing


class Place(typing.NamedTuple):
    """aggregates: metadata of those the host is in; traits: of its provider"""

    host: str
    aggregates: list[dict[str, str]]
    traits: frozenset[str]


class Demand(typing.NamedTuple):
    """extra_specs: the flavor's; properties: the image's; zone: the one asked for, or None"""

    extra_specs: dict[str, typing.Any]
    properties: dict[str, typing.Any]
    zone: str | None


ZONE = 'availability_zone'

TRUE = ('1', 't', 'true', 'on', 'y', 'yes')
# {extra spec: {its value: the trait this requires}}; of an image, see `said`
TRANSLATED = {
    'hw:pci_numa_affinity_policy': {'socket': 'COMPUTE_SOCKET_PCI_NUMA_AFFINITY'},
    'hw:tpm_version': {'1.2': 'COMPUTE_SECURITY_TPM_1_2', '2.0': 'COMPUTE_SECURITY_TPM_2_0'},
    'os:secure_boot': {'required': 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'},
    'hw:maxphysaddr_mode': {
        'passthrough': 'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
        'emulate': 'COMPUTE_ADDRESS_SPACE_EMULATED',
    },
}
# (extra spec, values that switch it on, extra spec of its model, traits of models, another's trait)
WITH_MODELS = (
    (
        'hw:tpm_version',
        tuple(TRANSLATED['hw:tpm_version']),
        'hw:tpm_model',
        {'tpm-crb': 'COMPUTE_SECURITY_TPM_CRB'},
        'COMPUTE_SECURITY_TPM_TIS',
    ),
    (
        'hw:mem_encryption',
        TRUE,
        'hw:mem_encryption_model',
        {
            'amd-sev-es': 'HW_CPU_X86_AMD_SEV_ES',
            'amd-sev-snp': 'HW_CPU_X86_AMD_SEV_SNP',
            'intel-tdx': 'HW_CPU_X86_INTEL_TDX',
        },
        'HW_CPU_X86_AMD_SEV',
    ),
)


def demand_of(spec: dict[str, typing.Any]) -> Demand:
    """Return the Demand of a stored request spec (plain values)."""
    return Demand(
        (spec.get('flavor') or {}).get('extra_specs') or {},
        (spec.get('image') or {}).get('properties') or {},
        spec.get('availability_zone'),
    )


def said(demand: Demand, key: str) -> typing.Any:
    """Return `hw:name` of the flavor, or else `hw_name` of the image."""
    value = demand.extra_specs.get(key)
    return demand.properties.get(key.replace(':', '_')) if value is None else value


def _lower(demand: Demand, key: str) -> str:
    return str(said(demand, key)).strip().lower()


def _translated(demand: Demand) -> Iterator[str]:
    """Yield traits for the guest hardware that flavor or image require."""
    for key, traits in TRANSLATED.items():
        value = said(demand, key)
        if value in traits:
            yield traits[value]
    for key, values, model_key, models, other in WITH_MODELS:
        if _lower(demand, key) in values:
            yield models.get(said(demand, model_key), other)
    is_stateless = str(demand.properties.get('hw_firmware_stateless')).strip().lower() in TRUE
    if is_stateless and demand.properties.get('hw_firmware_type') == 'uefi':
        yield 'COMPUTE_SECURITY_STATELESS_FIRMWARE'


def demanded(demand: Demand) -> set[str]:
    """Return traits that flavor (in whatever group) and image require."""
    found = set(_translated(demand))
    for key, value in demand.extra_specs.items():
        kind, colon, name = key.partition(':')
        if kind.startswith('trait') and colon and value == 'required':
            found.add(name)
    for key, value in demand.properties.items():
        if key.startswith('trait:') and value == 'required':
            found.add(key.removeprefix('trait:'))
    return found


def is_outside_zone(place: Place, demand: Demand, zones: Container[str | None]) -> bool:
    """Return whether the host is in no aggregate of the zone. zones: all that aggregates name."""
    return demand.zone in zones and not any(
        metadata.get(ZONE) == demand.zone for metadata in place.aggregates
    )


def unlicensed(place: Place, demand: Demand) -> set[str]:
    """Return traits that an aggregate of the host requires and the server does not ask for."""
    wanted = {
        key.removeprefix('trait:')
        for metadata in place.aggregates
        for key, value in metadata.items()
        if key.startswith('trait:') and value == 'required'
    }
    return wanted - demanded(demand)
