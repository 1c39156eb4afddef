"""The volumes of a server that moves: attachments for its other end.

They are created in addition to those of the source, so that each can be deleted alone. The volume
service connects a volume to a second host only when it creates the attachment, so the saga first
reads the destination's connector.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from collections.abc import Callable
import functools
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import session
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.objects import block_device

LOG = log.getLogger(__name__)
T = typing.TypeVar('T')


class Volumes:
    """Volumes of a server. name: id of the step that creates the attachments

    dest: the end that the attachments connect; default: they connect no host
    needless: function that returns whether no attachments are needed
    gone: function that returns whether to delete the new attachments at the end; default: False,
        since a deletion of the server deletes them
    devices: function that returns the block devices to attach, if they are volumes; default: those
        of the server
    """

    def __init__(
        self,
        scope: scopes.Scope,
        name: saga.Result[steps.Reserved],
        *,
        dest: scopes.End | None = None,
        needless: Callable[[], bool] = lambda: False,
        gone: Callable[[], bool] = lambda: False,
        devices: Callable[[], server_cell.Devices] | None = None,
    ) -> None:
        self.scope, self._name, self._dest = scope, name, dest
        self._needless, self._gone = needless, gone
        self._devices = devices or scope.devices

    @property
    def reserved(self) -> steps.Reserved:
        """Return {uuid of a block device: [id of its former attachment, id of the new one]}."""
        return self.scope.results.get(self._name) or {}

    def step(self) -> saga.Step:
        """Return the step that creates the attachments. A failed undo becomes a duty."""
        return places.VOLUMES.step(
            self._name,
            self._reserve,
            self.drop_new,
            clean=duties.foreign_attachments(self.scope),
            harmless=True,
            skips=True,
            calls=() if self._dest is None else ('get_volume_connector',),
        )

    def forward(self) -> saga.Step:
        """Return the step that creates the attachments after the pivot, when the server leaves."""
        reserve = functools.partial(self._reserve, forward=True)
        clean = saga.Clean(self._reserve_later, alone=True)
        return places.VOLUMES.best_effort(self._name, reserve, clean=clean, skips=True)

    def _reserve(self, *, forward: bool = False) -> steps.Reserved | saga.Skipped:
        devices = [] if self._needless() else self._devices()
        if not neighbours.has_volumes(devices):
            return saga.Skipped()
        if self._dest is not None:
            connector = self._connector(self._dest)
            return neighbours.reserve(self.scope, devices, connector=connector, forward=forward)
        connected = [] if forward else [*filter(_connects, devices)]
        if connected and self.scope.row().host is None:
            for device in connected:
                self._disconnect(self.scope.here, device)
            devices = self._devices()
        return neighbours.reserve(self.scope, devices, forward=forward)

    def _reserve_later(self) -> saga.Pending | None:
        """Disconnect a server on no host from its former host.

        If the volume service refuses that, or no longer has the volume, the next unshelve repeats
        it.
        """
        scope = self.scope
        waits: saga.Pending | None = duties.foreign_attachments(scope).do()
        cell, row = duties.now(scope)
        if waits is not None or cell is None or row is None or row.host is not None:
            return waits
        for device in filter(_connects, cell.devices()):
            try:
                if not self._disconnect(cell, device):
                    return saga.Pending(detail='another request changed the server')
            except (exception.VolumeNotFound, exception.VolumeNotUsable) as error:
                LOG.warning('Server %s stays connected to its former host: %s', row.uuid, error)
        return None

    def _disconnect(self, cell: server_cell.ServerCell, device: block_device.BlockDevice) -> bool:
        """Replace the attachment of a server on no host that still connects its former host.

        While it connects that host, the volume cannot be connected to another host. Return False if
        another request has changed the server.
        """
        scope = self.scope
        made = neighbours.reserve(scope, [device], forward=True)
        if not cell.write(_record_reserved, scope.instance_uuid, made):
            return False
        for former, _new in made.values():
            scope.world.volume.delete_attachment(scope.ctxt, former)
        return True

    def _connector(self, dest: scopes.End) -> session.Json:
        """Return the destination's connector."""
        asking.require_up_or_retry(self.scope, dest.host)
        return dest.compute.get_volume_connector(self.scope.ctxt, **dest.columns)

    def call(
        self,
        ask: Callable[[server_cell.Devices], T],
        devices: server_cell.Devices | None = None,
    ) -> T:
        """Call a host with the block devices that it connects. Return its reply.

        If the attachment of the root disk was deleted in the volume service, attach the disk again,
        and call the host again. Raise VolumeNotFound or VolumeNotUsable if the volume was deleted
        or belongs to another server.

        ask: function of the block devices; devices: see `arriving`
        """
        found = self.arriving(devices)
        try:
            return ask(found)
        except exception.AttachmentNotFound:
            root = next(filter(_is_attached_root, found), None)
            if root is None:
                raise
        self._attach_again(root)
        return ask(neighbours.with_attachments(found, self.reserved))

    def _attach_again(self, device: block_device.BlockDevice) -> None:
        """Replace the attachment of a volume that was deleted in the volume service.

        The record of the server may already name it.
        """
        scope, reserved, lost = self.scope, self.reserved, device.attachment_id
        former, _lost = reserved.get(device.uuid, (lost, None))
        named, new = lost, None
        recorded = self._recorded(device)
        if recorded is not None and recorded.attachment_id not in (None, former, lost):
            named = recorded.attachment_id
            # The process that attached the disk was killed before it wrote the journal.
            new = named if neighbours.is_attached(scope, recorded) else None
        new = new or self._attach(device)
        scope.results[self._name] = {**reserved, device.uuid: [former, new]}
        scope.present.write(move_records.replace_attachment, device.uuid, named, new)

    def _recorded(self, device: block_device.BlockDevice) -> block_device.BlockDevice | None:
        """Return a block device as it is recorded now. Delete attachments that nothing names."""
        read, volumes = self.scope.present.devices, {device.volume_id}
        devices = neighbours.drop_unnamed(self.scope, read, volumes, reserved=self.reserved)
        return next((each for each in devices if each.uuid == device.uuid), None)

    def _attach(self, device: block_device.BlockDevice) -> str:
        LOG.warning(
            'Volume %s of server %s has lost its attachment. Attaching it again',
            device.volume_id,
            self.scope.instance_uuid,
        )
        connector = None if self._dest is None else self._connector(self._dest)
        return neighbours.attach(
            self.scope,
            device.volume_id,
            connector=connector,
            mountpoint=device.get('device_name'),
        )

    def drop_new(self) -> None:
        """Delete all attachments that no block device names."""
        if self._needless():
            return
        if neighbours.has_volumes(self.scope.devices()) or self.scope.is_gone():
            neighbours.drop_foreign(self.scope, self.scope.devices)

    def arriving(
        self, devices: list[block_device.BlockDevice] | None = None
    ) -> list[block_device.BlockDevice]:
        """Return the block devices with the new attachments. devices: default: read them"""
        found = self.scope.devices() if devices is None else devices
        return neighbours.with_attachments(found, self.reserved)

    def settling(self, name: str) -> saga.Step:
        """Return the step that deletes the former attachments after the arrival."""
        clean = saga.Clean(self.end_former)
        return places.VOLUMES.best_effort(
            name, self.drop_former, clean=clean, later=True, skips=True
        )

    def drop_former(self) -> saga.Skipped | None:
        """Delete the former attachments, and for a deleted server also the new ones."""
        self.end_former()
        if self._gone():
            neighbours.drop_foreign(self.scope, self.scope.devices)
        elif not self.reserved:
            return saga.Skipped()
        return None

    def take_over(self) -> list[dict[str, typing.Any]]:
        """Complete the new attachments, which a host has connected.

        Return the connections, as `connected` of `move_records.change_devices`.
        """
        volume, ctxt, connected = self.scope.world.volume, self.scope.ctxt, []
        for device, (_former, new) in self.reserved.items():
            if new == steps.LOST:
                continue
            try:
                volume.complete_attachment(ctxt, new)
                info = volume.get_attachment(ctxt, new)['connection_info']
                connected.append({'uuid': device, 'connection_info': info})
            except exception.AttachmentNotFound:
                # The volume's owner has taken it from the server.
                connected.append({'uuid': device, 'connection_info': None, 'lost': True})
        return connected

    def end_former(self) -> None:
        """Delete the former attachments."""
        for former, _new in self.reserved.values():
            self.scope.world.volume.delete_attachment(self.scope.ctxt, former)


def _is_attached_root(device: block_device.BlockDevice) -> bool:
    return bool(device.get('attachment_id')) and neighbours.is_root(device)


def _connects(device: block_device.BlockDevice) -> bool:
    """Return whether an attachment connects a host."""
    return bool(device.get('connection_info'))


def _record_reserved(connection: sa.Connection, uuid: str, made: steps.Reserved) -> bool:
    """Record the attachments of a server on no host.

    Return False if the server no longer exists.
    """
    row = instances.held(connection, uuid)
    if row is None or instances.is_gone(row) or row.host is not None:
        return False
    move_records.change_devices(connection, made, None)
    return True
