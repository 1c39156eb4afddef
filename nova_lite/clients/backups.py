"""Images that hosts make of servers, and the rotation of backups.

The API notes what was requested in the server's system metadata, so that a restarted host
can continue. The older backups are deleted after the new one has its contents.
Source: reference/nova/api-surface 2.4.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json

from oslo_log import log

from nova_lite.clients import image as image_client
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import subject

LOG = log.getLogger(__name__)
# Key of a server's system metadata.
KEY = 'image_order'
# How many images of former orders are noted.
MOST_FORMER = 20


@dataclasses.dataclass(frozen=True)
class Order:
    """A requested image of a server.

    request_id: id of the request for the image
    backup_type, rotation: for a backup: its kind, and the number of backups of that kind to keep
    former: ids of images of former orders that may have no contents
    """

    image_id: str
    request_id: str
    backup_type: str | None = None
    rotation: int | None = None
    former: Sequence[str] = ()

    def note(self) -> dict[str, str]:
        """Return the order as a key of system metadata."""
        return {KEY: json.dumps(dataclasses.asdict(self))}


def image_ids(system_metadata: Mapping[str, str | None]) -> list[str]:
    """Return the ids of the newest noted images, the newest last."""
    order = _read(system_metadata)
    return [] if order is None else [*order.former, order.image_id][-MOST_FORMER:]


def noted(system_metadata: Mapping[str, str | None], request_id: str | None) -> Order | None:
    """Return the noted Order of a request, or None if none or that of another request is noted."""
    found = _read(system_metadata)
    return found if found is not None and found.request_id == request_id else None


def _read(system_metadata: Mapping[str, str | None]) -> Order | None:
    text = system_metadata.get(KEY)
    return Order(**json.loads(text)) if text else None


def rotate(
    image: image_client.Image, ctxt: session.Ctxt, server: subject.Server, order: Order
) -> list[str]:
    """Delete the oldest backups of a kind beyond `rotation`. Return reasons of failed deletions.

    Only images with contents count: an empty image does not replace a backup.
    Raise Unavailable if the image service does not answer. The call may be repeated.
    """
    if order.rotation is None:
        return []
    found = image.list(
        ctxt,
        image_type='backup',
        backup_type=order.backup_type,
        instance_uuid=server.uuid,
        sort='created_at:desc',
    )
    owners = (ctxt.project_id, server.project_id)
    backups = [each for each in found if each['status'] == 'active' and each['owner'] in owners]
    refusals = (_delete(image, ctxt, each['id']) for each in backups[order.rotation :])
    return [refusal for refusal in refusals if refusal]


def _delete(image: image_client.Image, ctxt: session.Ctxt, image_id: str) -> str | None:
    """Delete a backup.

    Return the reason of a refusal, for example of a protected image, or None.
    """
    try:
        image.delete(ctxt, image_id, missing_ok=True)
    except release.REFUSED as error:
        LOG.warning('Cannot delete backup %s; the image stays: %s', image_id, error)
        return f'Backup {image_id} was not deleted: {error.message}'
    return None
