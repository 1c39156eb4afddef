"""Create an image of a server that boots from a volume. It names snapshots of the volumes.

The id of the image is the uuid of the saga, and the image has no data. The API answers when it
exists. The snapshots name the image in their metadata, so that a snapshot whose creation was not
answered is found, and none stays if the image cannot be created. As in nova, a deletion of the
server does not stop the saga, and volumes with snapshots stay.
"""

from collections.abc import Sequence
import json
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import volume as volume_client
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import remarks
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import image_snapshot

LOG = log.getLogger(__name__)
EVENT = 'api_snapshot_instance'
CREATE = 'create-image'
ROOT_NAME = '/dev/vda'
# Columns of a block device that the image has for the device.
DEVICE = ('boot_index', 'device_type', 'disk_bus', 'guest_format', 'volume_type')
# Statuses of a snapshot that Cinder is about to change.
PASSING = ('creating', 'deleting')
WAIT_S = 1.0
# Seconds that an undo, and so the server and the request, wait for that. Then it becomes a duty.
LIMIT_S = 10
# Seconds after which a duty leaves snapshots that Cinder does not delete.
STUCK_S = 1800


class Arguments(scopes.Arguments):
    """name: that of the image; metadata: further properties of the image"""

    name: str
    metadata: dict[str, str]


class Began(saga.Value):
    """devices: columns of the server's block devices; root: name of its root disk"""

    devices: Sequence[saga.Data]
    root: str

    @property
    def volumes(self) -> list[saga.Data]:
        """Return the devices that are volumes."""
        return [device for device in self.devices if device['volume_id']]


BEGIN = saga.Result('record-request', Began)
# The devices in the form of an image's property block_device_mapping.
TAKE = saga.Result('snapshot-volumes', list[saga.Data])
# A note: when the undo began, in seconds since 1970.
SINCE = saga.Result('dropping_since', float)


class VolumeImage(move.Move[Began]):
    arguments: Arguments
    kind = 'volume-image'
    first = BEGIN
    faults = False

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.image = image_snapshot.Snapshot(self.scope, '%s')

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            places.VOLUMES.step(TAKE, self.take, self.drop, clean=saga.Clean(self.drop_late)),
            self.image.step(CREATE, self.create),
            places.SOURCE_RECORDS.step('end-action', self.end, pivot=True),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        row = self.scope.require_there(row)
        self.events.start(connection, EVENT)
        found = children.block_devices(connection, [row.uuid]).get(row.uuid, ())
        return Began(
            devices=[_columns(device) for device in found],
            root=row.root_device_name or ROOT_NAME,
        )

    # ---- snapshots ----

    def take(self) -> list[saga.Data]:
        """Snapshot each volume that has no snapshot of this saga yet.

        Omit volumes that their owner has deleted. Raise VolumeNotFound for the root disk.
        """
        made, found = self._made() if self.repeated else {}, []
        for device in self.began.devices:
            try:
                found.append(self._mapped(device, made))
            except exception.VolumeNotFound as error:
                if device['boot_index'] == 0:
                    raise
                LOG.warning('Image %s lacks a volume: %s', self.uuid, error)
        # Servers need boot indexes without gaps.
        booting = [each for each in found if each['boot_index'] is not None]
        for index, each in enumerate(sorted(booting, key=lambda each: each['boot_index'])):
            each['boot_index'] = index
        return found

    def _mapped(self, device: saga.Data, made: dict[str, session.Json]) -> saga.Data:
        """Return a device in the form of the image's property. Raise VolumeNotFound."""
        found = {name: device[name] for name in (*DEVICE, 'delete_on_termination')}
        if device['volume_id'] is None:
            kinds = ('source_type', 'destination_type', 'volume_size')
            return {**found, **{name: device[name] for name in kinds}}
        # The volume is the server's, which an administrator of another project may have asked for.
        snapshot = made.get(device['uuid']) or self.world.volume.create_snapshot(
            self.ctxt.in_project(self.scope.row().project_id),
            device['volume_id'],
            f'snapshot for {self.arguments.name}',
            metadata=self._marks(device),
        )
        return {
            **found,
            'source_type': 'snapshot',
            'destination_type': 'volume',
            'snapshot_id': snapshot['id'],
            'volume_size': snapshot['size'],
        }

    def _marks(self, device: saga.Data) -> dict[str, str]:
        """Return the metadata of the snapshot of a device."""
        return {volume_client.IMAGE: self.uuid, volume_client.DEVICE: device['uuid']}

    def _made(self) -> dict[str, session.Json]:
        """Return {uuid of a block device: its snapshot}."""
        volumes = sorted({device['volume_id'] for device in self.began.volumes})
        return {
            snapshot['metadata'].get(volume_client.DEVICE): snapshot
            for volume_id in volumes
            for snapshot in self.world.volume.snapshots_of(self.ctxt, volume_id)
            if snapshot['metadata'].get(volume_client.IMAGE) == self.uuid
        }

    def drop(self) -> saga.Pending | None:
        """Delete the snapshots, and then the volumes that should have been deleted with the server.

        Cinder deletes neither a snapshot that it is creating nor a volume with a snapshot.
        """
        if SINCE not in self.results:
            self.results[SINCE] = runtime.timestamp()
        refusals = [self._delete(snapshot) for snapshot in self._made().values()]
        left = [each for each in self._made().values() if each['status'] in PASSING]
        if left:
            return self._wait_for(left[0])
        for refused in filter(None, refusals):
            raise refused
        row = self.scope.find()
        if row is None or row.deleted:
            for device in self.began.volumes:
                if device['delete_on_termination']:
                    own = self.ctxt, self.instance_uuid, device['volume_id']
                    release.delete_volume(self.world.volume, *own)
        return None

    def drop_late(self) -> saga.Pending | None:
        """Delete the snapshots and volumes as a duty.

        If Cinder refuses, they stay, with a remark.
        """
        try:
            return self.drop()
        except exception.StaleEpoch:
            raise
        except release.REFUSED as error:
            if self._waited_s() < STUCK_S:
                raise
            left = f'Snapshots of image {self.uuid} stay: {error.message}'
        LOG.warning('Server %s: %s', self.instance_uuid, left)
        cell, _row = duties.now(self.scope)
        if cell is not None:
            text = f'{self.error["message"]} {left}' if self.error else left
            own = self.instance_uuid, self.ctxt.request_id
            cell.write(remarks.add, *own, event=EVENT, host=None, text=text)
        return None

    def _delete(self, snapshot: session.Json) -> exception.NovaLiteError | None:
        """Delete a snapshot that Cinder is not about to change.

        Return the reason of a refusal or None.
        """
        if snapshot['status'] in PASSING:
            return None
        try:
            self.world.volume.delete_snapshot(self.ctxt, snapshot['id'])
        except exception.StaleEpoch:
            raise
        except release.REFUSED as error:
            return error
        return None

    def _wait_for(self, snapshot: session.Json) -> saga.Pending:
        """Wait until Cinder has changed a snapshot. Raise Conflict after a time limit."""
        waited = self._waited_s()
        state = f'snapshot {snapshot["id"]} is {snapshot["status"]}'
        if waited > LIMIT_S:
            raise exception.Conflict(reason=f'{state} still after {waited:.0f} s')
        return saga.Pending(wake_in=WAIT_S, detail=state)

    def _waited_s(self) -> float:
        return runtime.timestamp() - self.results[SINCE]

    # ---- image ----

    def create(self) -> None:
        """Create the image, which is active without data."""
        properties = {
            **self.arguments.metadata,
            # An image without data has this format: Glance compares the two.
            'disk_format': 'raw',
            'bdm_v2': 'True',
            'root_device_name': self.began.root,
            'block_device_mapping': json.dumps(self.results[TAKE]),
        }
        server = self.scope.require_row(self.scope.find())
        images, name = self.world.image, self.arguments.name
        images.create_snapshot(self.ctxt, name, server, properties=properties, image_id=self.uuid)
        images.upload(self.ctxt, self.uuid, b'')

    def end(self) -> None:
        """End the action. This is the pivot."""
        self.scope.write(self.events.end_all)


def _columns(device: rows.Row) -> saga.Data:
    names: tuple[str, ...] = (
        *DEVICE,
        'uuid',
        'source_type',
        'destination_type',
        'volume_id',
        'volume_size',
        'delete_on_termination',
    )
    found: dict[str, typing.Any] = {name: getattr(device, name) for name in names}
    return found
