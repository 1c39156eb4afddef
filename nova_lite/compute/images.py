"""Images: upload a guest's disk to the image service, and cache images on nodes.

The API has created the image, which is queued. A snapshot that fails or is interrupted deletes
its image.
"""

import dataclasses
import functools
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.clients import backups
from nova_lite.compute import guest_work
from nova_lite.compute import power
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.compute import uploads
from nova_lite.objects import instance as objects
from nova_lite.states import transitions
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Task = states.TaskState
# Statuses of an image during its upload.
UNDER_WAY = ('saving', 'importing', 'uploading')
# Result for an image: 'cached', 'existing', 'error', or {'pending': seconds}.
Cached: typing.TypeAlias = str | dict[str, float]


class SnapshotInterrupted(exception.Conflict):
    msg = 'Image %(image_id)s was deleted because another request changed the task of the server.'


SNAPSHOT = power.Stage(
    power.SNAPSHOT_EVENT,
    tuple(dict.fromkeys((*transitions.SNAPSHOT.tasks, *transitions.BACKUP.tasks))),
    Task.IMAGE_SNAPSHOT,
)
BACKUP = dataclasses.replace(SNAPSHOT, event=power.BACKUP_EVENT)


def action_of(ctxt: context.RequestContext, instance: objects.Instance) -> power.Stage:
    """Return BACKUP if the request asked for a backup of the server, else SNAPSHOT."""
    order = backups.noted(instance.system_metadata, ctxt.request_id)
    return BACKUP if order is not None and order.backup_type is not None else SNAPSHOT


def snapshot(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    instance: objects.Instance,
    *,
    image_id: str,
) -> guest_work.Work[None]:
    """Copy the guest's disk and upload it as the image; work for `guest_work`.

    The work may be repeated after a restart: an image with contents is not changed. Afterwards
    older backups are deleted; failures of that become a remark of the action.
    """
    uuid, action = instance.uuid, action_of(ctxt, instance)
    if (yield from power.begin(site, ctxt, host, uuid, action)) is None:
        if _is_unfilled(site, ctxt, image_id):
            yield from _abandon(site, ctxt, host, uuid, action, image_id=image_id)
        return
    remarks = []
    try:
        fill = functools.partial(_fill, site, ctxt, host, instance, image_id=image_id)
        if not (yield from guest_work.repeat(fill, 'Snapshot')):
            yield from _abandon(site, ctxt, host, uuid, action, image_id=image_id)
            return
    except exception.ImageNotFound:
        remarks = [f'Image {image_id} was deleted before the disk was uploaded.']
    except exception.NovaLiteError as error:
        LOG.warning('Snapshot of server %s failed: %s', uuid, error)
        drop_image(site, ctxt, image_id)
        yield from power.fail(site, ctxt, host, uuid, action, error=error, changes={})
        return
    except guest_work.Interrupted:
        drop_image(site, ctxt, image_id)
        raise
    remarks += yield from _rotate(site, ctxt, instance)
    yield from guest_work.insist(
        site.conductor.action_finished,
        ctxt,
        host=host,
        instance_uuid=uuid,
        event=action.event,
        changes={},
        expect_task=list(action.tasks),
        remark=' '.join(remarks) or None,
    )
    LOG.info('The snapshot of server %s to image %s is over', uuid, image_id)


def _fill(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    instance: objects.Instance,
    *,
    image_id: str,
) -> guest_work.Work[bool]:
    """Copy and upload the disk, if the image is empty. Return False if the task has ended."""
    deadline = runtime.monotonic() + uploads.TIMEOUT_S
    uuid = instance.uuid
    upload = dataclasses.replace(action_of(ctxt, instance), during=Task.IMAGE_UPLOADING)
    status = yield from _first_status(site, ctxt, host, uuid, upload, image_id=image_id)
    # A restart has interrupted an upload: the image service is about to drop it.
    while status in UNDER_WAY and runtime.monotonic() <= deadline:
        yield guest_work.Pause(uploads.POLL_S)
        status = site.image.get(ctxt, image_id)['status']
    if status is None:
        return False
    if status == 'active':
        return True
    node = site.node_of(host, instance)
    job = site.driver.snapshot(node, uuid, key=f'{ctxt.request_id}/snapshot/{image_id}')
    job = yield from guest_work.ended(job)
    if (yield from power.begin(site, ctxt, host, uuid, upload)) is None:
        return False
    formats = {name: job.result[name] for name in ('disk_format', 'container_format')}
    site.image.update(ctxt, image_id, values=formats)
    site.image.upload(ctxt, image_id, site.driver.read_snapshot(job.id))
    return True


def _first_status(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    upload: power.Stage,
    *,
    image_id: str,
) -> guest_work.Work[str | None]:
    """Return the status of the image, or None if the task has ended. Raise ImageNotFound.

    The API may be creating the image. It refuses the request if the host has begun the upload by
    then, so an image that does not exist after that will not be needed.
    """
    try:
        return str(site.image.get(ctxt, image_id)['status'])
    except exception.ImageNotFound:
        if (yield from power.begin(site, ctxt, host, uuid, upload)) is None:
            return None
    return str(site.image.get(ctxt, image_id)['status'])


def _rotate(
    site: site.Site, ctxt: context.RequestContext, instance: objects.Instance
) -> guest_work.Work[list[str]]:
    """Delete the backups that the request of `ctxt` replaces. Return remarks about failures."""
    order = backups.noted(instance.system_metadata, ctxt.request_id)
    if order is None:
        return []
    try:
        found = yield from guest_work.persist(backups.rotate, site.image, ctxt, instance, order)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot delete older backups of server %s: %s', instance.uuid, error)
        return [f'Older backups were not deleted: {error.message}']
    return found


def cache(
    site: site.Site, ctxt: context.RequestContext, host: str, image_ids: list[str]
) -> dict[str, Cached]:
    """Cache images on the host's nodes. Return the result of each image by id.

    An image in progress has {'pending': seconds}; a repeated call does not start it again.
    """
    return {image_id: _cache(site, ctxt, host, image_id) for image_id in image_ids}


def _cache(site: site.Site, ctxt: context.RequestContext, host: str, image_id: str) -> Cached:
    try:
        site.image.get(ctxt, image_id)
        key = f'{ctxt.request_id}/cache'
        started = [site.driver.cache_image(node, image_id, key=key) for node in site.nodes[host]]
        found = [replies.reply(site.driver, job) for job in started]
    except exception.NovaLiteError as error:
        LOG.warning('Cannot cache image %s on host %s: %s', image_id, host, error)
        return 'error'
    waits = [each['pending'] for each in found if 'pending' in each]
    if waits:
        return {'pending': max(waits)}
    return 'cached' if any(each['fetched'] for each in found) else 'existing'


def check_rescue(
    site: site.Site, ctxt: context.RequestContext, node: str, spec: model.GuestSpec
) -> guest_work.Work[None]:
    """Raise RescueImageNotRead if the image that a guest is to be rescued from cannot be read.

    A rescue that has begun before a restart does not need the image any more.
    """
    if spec.image_id is None or _is_being_rescued(site, node, spec.uuid):
        return
    try:
        yield from guest_work.persist(site.image.get, ctxt, spec.image_id)
    except exception.NovaLiteError as error:
        raise power.RescueImageNotRead(reason=error.message) from error


def _is_being_rescued(site: site.Site, node: str, uuid: str) -> bool:
    """Return whether a guest runs from its rescue image, or a job of its node starts it so."""
    # A job may end between the two questions.
    jobs = site.driver.list_jobs(node, uuid)
    return (
        any(job.verb is model.Verb.RESCUE for job in jobs)
        or site.driver.get_guest(node, uuid).rescued
    )


def _is_unfilled(site: site.Site, ctxt: context.RequestContext, image_id: str) -> bool:
    """Return whether the image is known to have no data. For late messages."""
    try:
        return bool(site.image.get(ctxt, image_id)['status'] != 'active')
    except exception.ImageNotFound:
        return False
    except exception.NovaLiteError as error:
        LOG.warning('Image %s may not have been deleted: %s', image_id, error)
        return False


def _abandon(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    action: power.Stage,
    *,
    image_id: str,
) -> guest_work.Work[None]:
    """Delete an image whose server no longer has the task. Record a failure only in the action."""
    drop_image(site, ctxt, image_id)
    error = SnapshotInterrupted(image_id=image_id)
    ended = dataclasses.replace(action, tasks=())
    yield from power.fail(site, ctxt, host, uuid, ended, error=error, changes={})


def drop_image(site: site.Site, ctxt: context.RequestContext, image_id: str) -> None:
    """Delete the image of a failed snapshot.

    While the image service does not answer, the deletion is repeated. The server does not wait.
    After a restart of this process a conductor deletes the image (`conductor.image_orders`).
    """
    site.jobs.run(('drop image', image_id), _drop_image(site, ctxt, image_id))


def _drop_image(
    site: site.Site, ctxt: context.RequestContext, image_id: str
) -> guest_work.Work[None]:
    try:
        yield from guest_work.insist(site.image.delete, ctxt, image_id, missing_ok=True)
    except exception.NovaLiteError as error:
        LOG.warning('Image %s was not deleted: %s', image_id, error)
