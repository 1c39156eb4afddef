"""The volumes of a server that goes elsewhere: attachments for its other end.

They are made beside those that the server has, so that either can be dropped alone. The
volume service connects a volume to a second host only as it makes the attachment. So the
host that the server goes to is asked first how it is reached.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite import saga
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places


class Volumes(part.Part):
    """move: the saga; name: of the step that makes them

    connects: whether the new ones connect the destination; else they connect no host
    needless: (move) -> whether there is no need of any
    gone: (move) -> whether the new ones go as well, in the end; else a deletion knows of them
    """

    def __init__(
        self, move, name, *, connects=False, needless=lambda it: it.stays, gone=lambda it: False
    ):
        super().__init__(move)
        self._name, self._connects = name, connects
        self._needless, self._gone = needless, gone

    @property
    def reserved(self):
        """{uuid of a block device: [id of its former attachment, id of the new one]}."""
        return self.results.get(self._name) or {}

    def step(self):
        """The attachments are made. What cannot be undone is a duty."""
        return places.VOLUMES.step(
            self._name,
            self._reserve,
            self.drop_new,
            clean=duties.foreign_attachments(self.move),
            calls=('get_volume_connector',) if self._connects else (),
        )

    def forward(self):
        """As `step`, of a saga that has passed its pivot."""
        return places.VOLUMES.step(self._name, self._reserve)

    def _reserve(self):
        move = self.move
        devices = [] if self._needless(move) else move.devices_to_reserve()
        if not neighbours.has_volumes(devices):
            return saga.Skipped()
        return neighbours.reserve(
            move, devices, connector=self._connector() if self._connects else None
        )

    def _connector(self):
        """How the volume service reaches the destination."""
        move = self.move
        asking.require_heard(move, move.dest_host)
        chosen = {'host': move.dest_host, 'node': move.destination.nodename}
        return move.there.compute.get_volume_connector(move.ctxt, **chosen)

    def drop_new(self):
        """End all attachments that no block device names."""
        move = self.move
        if self._needless(move):
            return
        devices = move.devices()
        if neighbours.has_volumes(devices) or move.is_gone():
            neighbours.drop_foreign(move, devices)

    def arriving(self):
        """The block devices as the other end needs them: with the new attachments."""
        return neighbours.with_attachments(self.move.devices(), self.reserved)

    def settling(self, name):
        """The step that ends the former attachments once the server has the new ones."""
        return places.VOLUMES.patient(name, self.drop_former, clean=saga.Clean(self.end_former))

    def drop_former(self):
        """As `end_former`; of a server that is gone the new ones as well."""
        move = self.move
        self.end_former()
        if self._gone(move):
            neighbours.drop_foreign(move, move.devices())
        elif not self.reserved:
            return saga.Skipped()
        return None

    def end_former(self):
        """End the attachments in whose place others were made."""
        for former, _new in self.reserved.values():
            self.move.world.volume.delete_attachment(self.move.ctxt, former)
