"""Image orders: delete the images that failed or interrupted uploads have left.

The host or the API deletes such an image, and repeats the deletion while the image service does not
answer, but only in the memory of its process. The note of the order in the server's system
metadata (`clients.backups`) outlives the process. This search removes each note some time after
the action, when no noted image is without contents any more. Other images belong to their owners.
"""

from collections.abc import Callable
from collections.abc import Sequence
import datetime
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import backups
from nova_lite.clients import image as image_client
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.db import types
from nova_lite.db.cell import instances
from nova_lite.lifecycle import searches

LOG = log.getLogger(__name__)
# Seconds between two searches, which read the metadata of all servers of the cell.
EVERY_S = 600
# Seconds after the last change of a server in which a host may still repeat the deletion.
IDLE_S = 120
_HAS_ORDER = sa.type_coerce(instances.TABLE.c.system_metadata, types.LongText).like(
    f'%"{backups.KEY}"%'
)


class ImageOrders:
    """The periodic search of one cell."""

    def __init__(
        self,
        write: Callable[..., typing.Any],
        read: Callable[..., typing.Any],
        image: image_client.Image,
    ) -> None:
        self._write, self._read, self._image = write, read, image
        self._looked_at: float | None = None

    def run(self) -> None:
        """Delete images without contents of servers whose image actions are over."""
        now = runtime.monotonic()
        if self._looked_at is not None and now - self._looked_at < EVERY_S:
            return
        self._looked_at = now
        before = runtime.naive_now() - datetime.timedelta(seconds=IDLE_S)
        for row in self._read(_noted, before):
            with searches.going_on('Cannot delete images of server %s; retrying later', row.uuid):
                self._end(row)

    def _end(self, row: rows.Row) -> None:
        """Delete the noted empty images of a server, and the note, unless one is being uploaded.

        A request for an image changes the record before it creates the image, so an image that was
        listed before belongs to no later request.
        """
        ctxt = context.admin()
        noted = backups.image_ids(row.system_metadata)
        listed = self._image.list(ctxt, instance_uuid=row.uuid)
        found = [each for each in listed if each['id'] in noted]
        if not self._read(_is_unchanged, row):
            return
        for each in found:
            if each['status'] == 'queued':
                LOG.info('Deleting image %s of server %s, which is empty', each['id'], row.uuid)
                release.drop_image(self._image, ctxt, row.uuid, each['id'])
        if not any(each['status'] == 'saving' for each in found):
            self._write(_forget, row)


def _noted(connection: sa.Connection, before: datetime.datetime) -> Sequence[rows.Row]:
    return rows.every(
        connection,
        instances.TABLE,
        instances.IS_IDLE,
        _HAS_ORDER,
        order_by=instances.TABLE.c.id,
        given={'idle_since': before},
        deleted=False,
        hidden=False,
        task_state=None,
    )


def _is_unchanged(connection: sa.Connection, row: rows.Row) -> bool:
    found = instances.find(connection, row.uuid)
    return found is not None and not found.deleted and bool(found.updated_at == row.updated_at)


def _forget(connection: sa.Connection, row: rows.Row) -> None:
    """Remove the note of an order, unless the server has changed. Users see no change of it."""
    metadata = {name: each for name, each in row.system_metadata.items() if name != backups.KEY}
    values = {'system_metadata': metadata, 'updated_at': row.updated_at}
    rows.change(
        connection,
        instances.TABLE,
        values,
        uuid=row.uuid,
        updated_at=row.updated_at,
        task_state=None,
    )
