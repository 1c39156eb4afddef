"""Request filters: they add conditions to a spec before the query to placement.

Each is a function of (spec, deployment) that adds conditions to the spec and returns a text about
them, or None if the request does not concern it. Request filters run for every request, also for
moves and forced hosts. Source: reference/nova/scheduling 2.
"""

from oslo_log import log

from nova_lite.objects import request_spec
from nova_lite.scheduler import features
from nova_lite.scheduler.request_filters import aggregates
from nova_lite.scheduler.request_filters import base
from nova_lite.scheduler.request_filters import traits

LOG = log.getLogger(__name__)

Deployment = base.Deployment

ORDER: tuple[base.RequestFilter, ...] = (
    aggregates.require_tenant_aggregate,
    aggregates.map_az_to_placement_aggregate,
    traits.require_image_type_support,
    traits.compute_status_filter,
    aggregates.isolate_aggregates,
    traits.transform_image_metadata,
    traits.accelerators_filter,
    traits.packed_virtqueue_filter,
    aggregates.routed_networks_filter,
    traits.remote_managed_ports_filter,
    traits.ephemeral_encryption_filter,
    traits.virtio_sound_filter,
    traits.tpm_secret_security_filter,
    traits.owner_nova_filter,
)

# The request filters about what a guest is, which depend on flavor and image alone.
OF_GUEST: tuple[base.RequestFilter, ...] = (
    traits.packed_virtqueue_filter,
    traits.ephemeral_encryption_filter,
    traits.virtio_sound_filter,
    traits.tpm_secret_security_filter,
)


def traits_of_guest(spec: request_spec.RequestSpec) -> set[str]:
    """Return the traits of a host that the features of flavor and image require.

    Raises RequestFilterFailed if no host can be suitable.
    """
    asked = spec.obj_clone()
    asked.root_required = []
    for request_filter in OF_GUEST:
        request_filter(asked, Deployment(options=None))
    return {*asked.root_required, *features.traits(features.asked(spec), pinned=False)[0]}


def apply(spec: request_spec.RequestSpec, deployment: Deployment) -> list[tuple[str, str]]:
    """Run all request filters. Return [(name, text about the added conditions), ...].

    Raises RequestFilterFailed if no host can be suitable.
    """
    notes = []
    for request_filter in ORDER:
        note = request_filter(spec, deployment)
        if note is not None:
            notes.append((request_filter.__name__, note))
    LOG.debug('Request filters: %s', notes)
    return notes
