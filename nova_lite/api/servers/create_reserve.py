"""Reserve the volumes of new servers before the servers are accepted.

Before the request to the volume service, an intent is recorded: a build request that is withdrawn
from the start, so that no list shows it. The transaction that accepts the servers redeems the
intent. If this process is killed before that, the lease of the intent expires, and the
super-conductor deletes the attachments, as for servers that were deleted before their build.
"""

from collections.abc import Collection
from collections.abc import Sequence
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import request
from nova_lite.api.servers import create_devices
from nova_lite.api.servers import create_plan
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings

LOG = log.getLogger(__name__)


class Reservation:
    """The reservations of one request at the volume service. plan: the servers"""

    def __init__(self, req: request.Request, plan: create_plan.Checked) -> None:
        self._req, self._plan = req, plan
        # One answer of the volume service may take as long as its timeout.
        self._lease_s = req.conf.conductor.build_lease_s + (req.conf.cinder.timeout or 0)
        self._renewed = 0.0
        self._made: dict[str, list[str]] = {}  # {server: [id of an attachment, ...]}
        self._is_certain = True

    def make(self) -> dict[str, list[create_devices.Device]]:
        """Reserve the volumes. Return {uuid of a server: its devices with attachments}.

        After an error no volume stays reserved. Raise Conflict if the reservation took too long.
        """
        if self._plan.reserves:
            self._renewed = runtime.boottime()
            self._req.app.api_db.write(
                build_requests.intend, self._intents(), lease_s=self._lease_s
            )
        try:
            return {
                uuid: [self._attach(uuid, device) for device in self._plan.devices]
                for uuid in self._plan.uuids
            }
        except exception.NovaLiteError as error:
            # The answer of a request that was or is executed may have been lost.
            self._is_certain = not isinstance(error, exception.Unavailable)
            self.give_back()
            raise

    def accepted(self) -> list[str]:
        """Return the uuids of the accepted servers; no other server can be accepted from now on.

        Call this if it is unknown whether the acceptance has been, or will be, committed.
        """
        found = self._req.app.api_db.write(_settle, self._plan.uuids)
        return [uuid for uuid in self._plan.uuids if uuid in found]

    def give_back(self, but: Collection[str] = ()) -> None:
        """End the reservations. but: servers that keep their reservations

        The super-conductor will end reservations that cannot be ended now.
        """
        left = [uuid for uuid in self._plan.uuids if uuid not in but]
        if not self._plan.reserves or not left:
            return
        attachments = [each for uuid in left for each in self._made.get(uuid, ())]
        ended = [self._end(each) for each in attachments]
        if self._is_certain and all(ended):
            try:
                self._req.app.api_db.write(build_requests.forget, left, 0)
            except exception.NovaLiteError as error:
                LOG.warning(
                    'Cannot withdraw servers %s: %s. The super-conductor does it later.',
                    left,
                    error,
                )

    def _intents(self) -> list[dict[str, typing.Any]]:
        """Return the intents. A volume of the user is not deleted if no server is created."""
        devices = [
            {**device, 'delete_on_termination': False}
            for device in self._plan.devices
            if device['volume_id']
        ]
        ctxt = self._req.ctxt
        return [
            {
                'instance_uuid': uuid,
                'project_id': ctxt.project_id,
                'reservation_id': self._plan.columns['reservation_id'],
                'request_id': ctxt.request_id,
                'instance': {'uuid': uuid, 'user_id': ctxt.user_id},
                'block_devices': devices,
                'tags': [],
                'arguments': {},
            }
            for uuid in self._plan.uuids
        ]

    def _attach(self, uuid: str, device: create_devices.Device) -> create_devices.Device:
        if not device['volume_id']:
            return dict(device)
        self._renew()
        volume_id = device['volume_id']
        try:
            attachment = self._req.app.volume.create_attachment(self._req.ctxt, volume_id, uuid)
        except exception.VolumeNotFound:
            raise exception.VolumeNotUsable(volume_id=volume_id, reason='not found') from None
        self._made.setdefault(uuid, []).append(attachment['id'])
        return {**device, 'attachment_id': attachment['id']}

    def _renew(self) -> None:
        """Renew the lease of the intents once a part of its time has passed."""
        now = runtime.boottime()
        if now - self._renewed >= self._lease_s / 3:
            self._req.app.api_db.write(
                build_requests.renew_intents, self._plan.uuids, lease_s=self._lease_s
            )
            self._renewed = now

    def _end(self, attachment_id: str) -> bool:
        try:
            self._req.app.volume.delete_attachment(self._req.ctxt, attachment_id)
        except exception.NovaLiteError as error:
            LOG.error(
                'Cannot delete volume attachment %s: %s. The super-conductor will delete it.',
                attachment_id,
                error,
            )
            return False
        return True


def _settle(connection: sa.Connection, uuids: Sequence[str]) -> set[str]:
    """Abandon build requests. Return the uuids of mapped servers, which may have a record."""
    build_requests.abandon(connection, uuids)
    return {row.instance_uuid for row in instance_mappings.of(connection, uuids)}
