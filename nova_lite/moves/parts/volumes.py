"""The volumes of a server that goes elsewhere: attachments for its other end.

They are made beside those that the server has, so that either can be dropped alone. The
volume service connects a volume to a second host only as it makes the attachment. So the
host that the server goes to is asked first how it is reached.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite import saga
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places


class Volumes(part.Part):
    """move: the saga; name: of the step that makes them

    connector: () -> of the host that the new ones connect; None: they connect none
    devices: () -> the block devices that need one, of those with a volume; None: all
    needless: () -> whether none needs one
    gone: () -> whether the new ones go as well, in the end; else a deletion knows of them
    """

    def __init__(self, move, name, *, connector=None, devices=None, needless=bool, gone=bool):
        super().__init__(move)
        self._name, self._connector = name, connector
        self._devices = devices or move.devices
        self._needless, self._gone = needless, gone

    @property
    def reserved(self):
        """{uuid of a block device: [id of its former attachment, id of the new one]}."""
        return self._move.data.get(self._name) or {}

    def step(self):
        """The attachments are made. What cannot be undone is a duty."""
        return places.VOLUMES.step(
            self._name,
            self._reserve,
            self.drop_new,
            clean=duties.foreign_attachments(self._move),
            calls=('get_volume_connector',) if self._connector else (),
        )

    def forward(self):
        """As `step`, of a saga that has passed its pivot."""
        return places.VOLUMES.step(self._name, self._reserve)

    def _reserve(self):
        move = self._move
        devices = [] if self._needless() else self._devices()
        if not neighbours.has_volumes(devices):
            return saga.Skipped()
        return neighbours.reserve(
            move.world,
            move.ctxt,
            move.instance_uuid,
            devices,
            repeated=move.repeated,
            connector=self._connector and self._connector(),
        )

    def drop_new(self):
        """End all attachments that no block device names."""
        if self._needless():
            return
        move = self._move
        devices = move.devices()
        if neighbours.has_volumes(devices) or move.is_gone():
            neighbours.drop_foreign(move.world, move.ctxt, move.instance_uuid, devices)

    def arriving(self):
        """The block devices as the other end needs them: with the new attachments."""
        return neighbours.with_attachments(self._move.devices(), self.reserved)

    def settling(self, name):
        """The step that ends the former attachments once the server has the new ones."""
        return places.VOLUMES.patient(name, self.drop_former, clean=duties.own(self.end_former))

    def drop_former(self):
        """As `end_former`; of a server that is gone the new ones as well."""
        move = self._move
        self.end_former()
        if self._gone():
            neighbours.drop_foreign(move.world, move.ctxt, move.instance_uuid, move.devices())
        elif not self.reserved:
            return saga.Skipped()
        return None

    def end_former(self):
        """End the attachments in whose place others were made."""
        for former, _new in self.reserved.values():
            self._move.world.volume.delete_attachment(self._move.ctxt, former)
