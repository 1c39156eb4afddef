"""Request filters that require or forbid traits of a host's root provider.

Source: reference/nova/scheduling 2.
"""

import functools

import os_traits
from oslo_log import log

from nova_lite import exception
from nova_lite import versions
from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import former_names
from nova_lite.lifecycle.guests import tpm
from nova_lite.objects import request_spec
from nova_lite.scheduler import features
from nova_lite.scheduler.request_filters import base

LOG = log.getLogger(__name__)

# As in nova. No trait is COMPUTE_VIOMMU_ and then a model's name (traits of models begin with
# COMPUTE_VIOMMU_MODEL_), so an image that names a model adds no trait.
IMAGE_TRAITS = {
    'hw_cdrom_bus': 'COMPUTE_STORAGE_BUS_',
    'hw_disk_bus': 'COMPUTE_STORAGE_BUS_',
    'hw_video_model': 'COMPUTE_GRAPHICS_MODEL_',
    'hw_vif_model': 'COMPUTE_NET_VIF_MODEL_',
    'hw_architecture': 'HW_ARCH_',
    'hw_emulation_architecture': 'COMPUTE_ARCH_',
    'hw_viommu_model': 'COMPUTE_VIOMMU_',
}
REMOTE_MANAGED = 'remote-managed'


def require_image_type_support(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require a host that supports the image's disk format, unless the server has a volume."""
    if not deployment.options.query_placement_for_image_type_support:
        return None
    if spec.is_bfv or spec.image is None or not spec.image.disk_format:
        return None
    return _require_known(spec, [f'COMPUTE_IMAGE_TYPE_{spec.image.disk_format.upper()}'])


def compute_status_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Forbid hosts whose compute service is disabled."""
    return _forbid(spec, os_traits.COMPUTE_STATUS_DISABLED)


def transform_image_metadata(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require the buses, models and architecture that the image's properties name."""
    if not deployment.options.image_metadata_prefilter or spec.image is None:
        return None
    properties = former_names.replaced(spec.image.properties)
    names = [
        prefix + value.replace('-', '_').upper()
        for key, prefix in IMAGE_TRAITS.items()
        if (value := properties.get(key))
    ]
    return _require_known(spec, names)


def accelerators_filter(spec: request_spec.RequestSpec, deployment: base.Deployment) -> str | None:
    """Require a host that supports accelerators, for a server that has a device profile already.

    The API refuses device profiles: only a server of an earlier commit has one.
    """
    if not spec.flavor.extra_specs.get('accel:device_profile'):
        return None
    return _require(spec, [os_traits.COMPUTE_ACCELERATORS])


def packed_virtqueue_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require a host that offers packed virtqueues."""
    if not any(features.asked(spec).truths('virtio_packed_ring')):
        return None
    return _require(spec, [os_traits.COMPUTE_NET_VIRTIO_PACKED])


def remote_managed_ports_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require a host that supports remotely managed ports."""
    if not any(asked.get('vnic_type') == REMOTE_MANAGED for asked in spec.requested_networks):
        return None
    return _require(spec, [os_traits.COMPUTE_REMOTE_MANAGED_PORTS])


def ephemeral_encryption_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require a host that encrypts ephemeral disks in the requested format."""
    is_encrypted, disk_format = agreement.ephemeral_encryption(features.asked(spec))
    if not is_encrypted:
        return None
    names = ['COMPUTE_EPHEMERAL_ENCRYPTION']
    if disk_format:
        names.append(f'COMPUTE_EPHEMERAL_ENCRYPTION_{disk_format.upper()}')
    return _require(spec, names)


def virtio_sound_filter(spec: request_spec.RequestSpec, deployment: base.Deployment) -> str | None:
    """Require a host with virtio sound devices."""
    if agreement.sound_model(features.asked(spec)) != 'virtio':
        return None
    return _require(spec, [os_traits.COMPUTE_SOUND_MODEL_VIRTIO])


def tpm_secret_security_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require a host that keeps the secret of a virtual TPM as requested."""
    guest = features.asked(spec)
    if not tpm.is_requested(guest):
        return None
    security = tpm.secret_of(guest)
    if security not in tpm.SECRETS:
        raise exception.RequestFilterFailed(
            reason=f"TPM secret security '{security}' is not supported."
        )
    return _require(spec, [f'COMPUTE_SECURITY_TPM_SECRET_SECURITY_{security.upper()}'])


def owner_nova_filter(spec: request_spec.RequestSpec, deployment: base.Deployment) -> str | None:
    """Require the trait OWNER_NOVA, if each compute service is new enough to set it."""
    if deployment.oldest_compute < versions.OWNER_TRAIT_SINCE:
        LOG.debug(
            'OWNER_NOVA is not required: a compute service is at version %s',
            deployment.oldest_compute,
        )
        return None
    return _require(spec, [os_traits.OWNER_NOVA])


def _require(spec: request_spec.RequestSpec, names: list[str]) -> str:
    spec.root_required = sorted({*spec.root_required, *names})
    return f'requires {", ".join(names)}'


def _forbid(spec: request_spec.RequestSpec, name: str) -> str:
    spec.root_forbidden = sorted({*spec.root_forbidden, name})
    return f'forbids {name}'


def _require_known(spec: request_spec.RequestSpec, names: list[str]) -> str | None:
    """Require traits made from users' values: all traits, or none if one does not exist."""
    unknown = [name for name in names if name not in _standard_traits()]
    if unknown:
        LOG.error('Trait %s does not exist in placement; not requiring any of %s', unknown, names)
        return None
    return _require(spec, names) if names else None


@functools.cache
def _standard_traits() -> frozenset[str]:
    return frozenset(os_traits.get_traits())
