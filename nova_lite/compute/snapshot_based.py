"""Cross-cell moves on a host: a guest leaves as an image and is created from it.

The hosts share no path, so the disk travels through the image service. The source keeps, restores
and drops the guest as in `cold`.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import cold
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.compute import uploads
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import model

LOG = log.getLogger(__name__)


class SnapshotBased(cold.Cold):
    """A part of the ComputeManager: cold moves within a cell and between cells."""

    def __init__(self, site: site.Site) -> None:
        super().__init__(site)
        self._uploads = uploads.Uploads(site)

    def prep_snapshot_based_resize_at_source(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        *,
        node: str,
        image_id: str | None,
        key: str,
    ) -> replies.Reply:
        """Stop the guest at the source and upload its disk.

        image_id: the queued image; None if the server boots from a volume
        """
        driver = self._site.driver
        off = driver.change_power(node, instance_uuid, model.PowerAction.OFF, key=f'{key}/off')
        answer = replies.reply(driver, off)
        if 'pending' in answer or image_id is None:
            return answer
        job = driver.snapshot(node, instance_uuid, key=f'{key}/copy')
        answer = replies.reply(driver, job)
        if 'pending' in answer:
            return answer
        formats = {name: answer[name] for name in ('disk_format', 'container_format')}
        answer = self._uploads.reply(ctxt, image_id, job.id, formats)
        if 'done' in answer:
            LOG.info('Server %s was copied to image %s to leave %s', instance_uuid, image_id, node)
        return answer

    def finish_snapshot_based_resize_at_dest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: arguments.Uploaded,
    ) -> replies.Reply:
        """Create the guest at the destination from the image of its disk.

        Raise ImageNotFound or ImageNotUsable if neither the image nor the guest exists.
        """
        self._require_image(ctxt, arrival, instance.uuid)
        return arrivals.make(
            self._site,
            ctxt,
            arrival['node'],
            arrivals.Arrival(instance, block_devices, arrival['image_id']),
            verb=model.Verb.SPAWN,
            start=lambda spec: self._site.driver.spawn(
                arrival['node'], spec, key=arrival['key'], power_on=arrival['power_on']
            ),
        )

    def _require_image(
        self, ctxt: context.RequestContext, arrival: arguments.Uploaded, guest: str
    ) -> None:
        """Check the image of a disk, unless the guest exists already."""
        image_id = arrival['image_id']
        if image_id is None:
            return
        try:
            self._site.driver.get_guest(arrival['node'], guest)
        except exception.GuestNotFound:
            status = self._site.image.get(ctxt, image_id)['status']
            if status != 'active':
                reason = f'its status is {status}'
                raise exception.ImageNotUsable(image_id=image_id, reason=reason) from None
