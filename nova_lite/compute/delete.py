"""Delete a guest, its ports, volumes and allocations, and then its record.

Each step may be repeated and deletes whatever still exists. A deletion interrupts other work on the
guest. While the hypervisor or a neighbour does not answer, the server stays `deleting`, and
`resume` repeats the deletion until it ends or is refused.
Source: reference/nova/create-server 7.
"""

import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.clients import release
from nova_lite.compute import guest_work
from nova_lite.compute import power
from nova_lite.compute import site
from nova_lite.compute import volumes
from nova_lite.objects import instance as objects
from nova_lite.virt import model

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Action:
    event: str
    tasks: tuple[states.TaskState, ...]


DELETE = _Action('compute_terminate_instance', (states.TaskState.DELETING,))


def delete(
    site: site.Site, ctxt: context.RequestContext, host: str, instance: objects.Instance
) -> guest_work.Work[None]:
    """Remove a server from its host and delete its record; work for `guest_work`."""
    uuid, node = instance.uuid, site.node_of(host, instance)
    try:
        found = yield from guest_work.insist(
            site.reports.delete_started,
            ctxt,
            host=host,
            instance_uuid=uuid,
            event=DELETE.event,
        )
    except exception.InstanceNotFound:
        LOG.info('Server %s has already been deleted', uuid)
        yield from _destroy_rest(site, ctxt, node, uuid)
        return
    except exception.StateChanged as error:
        LOG.warning('Not deleting server %s on host %s: %s', uuid, host, error)
        return
    try:
        yield from _destroy(site, ctxt, node, uuid)
        kept = [{'id': port, 'preserve_on_delete': True} for port in found['kept_ports']]
        yield from guest_work.persist(site.releases.deallocate, ctxt, uuid, kept)
        held = volumes.Volumes(site, ctxt, host, instance, found['block_devices'])
        yield from guest_work.persist(held.give_back)
        shares = found.get('shares', ())
        yield from guest_work.persist(release.revoke_shares, site.share, ctxt, uuid, shares)
        images = release.Images(**found['images'])
        yield from guest_work.persist(release.drop_images, site.image, ctxt, uuid, images)
        yield from guest_work.persist(site.releases.release, ctxt, instance)
    except exception.Unavailable as error:
        LOG.warning('Server %s is not deleted yet; retrying at an audit: %s', uuid, error)
        return
    except exception.NovaLiteError as error:
        LOG.warning('Server %s cannot be deleted: %s', uuid, error)
        changes = {'vm_state': states.VmState.ERROR}
        yield from power.fail(site, ctxt, host, uuid, DELETE, error=error, changes=changes)
        return
    yield from guest_work.insist(
        site.reports.instance_deleted,
        ctxt,
        host=host,
        instance_uuid=uuid,
        event=DELETE.event,
    )
    LOG.info('Server %s is deleted', uuid)


def _destroy_rest(
    site: site.Site, ctxt: context.RequestContext, node: str, uuid: str
) -> guest_work.Work[None]:
    """Destroy the guest of a server without a record."""
    try:
        yield from _destroy(site, ctxt, node, uuid)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot destroy guest %s on node %s; the audit retries: %s', uuid, node, error)


def _destroy(
    site: site.Site, ctxt: context.RequestContext, node: str, uuid: str
) -> guest_work.Work[None]:
    """Destroy the guest. Raise Unavailable while its node is powered off."""
    key = f'{ctxt.request_id}/destroy'
    try:
        yield from guest_work.ended(site.driver.destroy(node, uuid, key=key))
    except exception.DriverError as error:
        if error.error_class != model.POWER_LOST:
            raise
        # The failed job stays failed, so this one has another key. It ends at once if no guest
        # exists.
        yield from _destroy_again(site, node, uuid, key=f'{key}/{runtime.new_uuid()}')
    site.claims.release(node, uuid)


def _destroy_again(site: site.Site, node: str, uuid: str, *, key: str) -> guest_work.Work[None]:
    try:
        yield from guest_work.ended(site.driver.destroy(node, uuid, key=key))
    except exception.DriverError as error:
        if error.error_class != model.POWER_LOST:
            raise
        raise exception.Unavailable(service='hypervisor', reason=error.message) from error
