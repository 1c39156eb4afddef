"""The mark of a volume that its server is about to lose.

The volume service keeps one mark for all attachments of a volume, without its owner.
"""

import contextlib

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.moves import part
from nova_lite.moves import places

MARK = 'mark the volume as detaching'
DETACHING = 'detaching'
# A note until the pivot: the volume that the saga has marked; False when that was refused;
# absent while the answer is not known.
MARKED: saga.Result[str | bool] = saga.Result('marked', object)


class Detaching(part.Part):
    """move: the saga; volume: its argument with the volume's id"""

    def __init__(self, move, volume):
        super().__init__(move)
        self._volume_id = getattr(move.arguments, volume)

    def step(self, do=None):
        """The step that marks the volume. do: None: `mark`"""
        clean = saga.Clean(self.unmark, alone=True)
        return places.VOLUMES.step(MARK, do or self.mark, self.unmark, clean=clean)

    def mark(self):
        """Mark the volume as about to be detached; raises VolumeNotUsable."""
        move = self.move
        if move.began.host is None:
            return  # The volume is reserved only: there is nothing to mark.
        if not (move.repeated and self._may_be_marked()):
            try:
                move.world.volume.begin_detaching(move.ctxt, self._volume_id)
            except exception.VolumeNotUsable:
                self.results[MARKED] = False
                raise
        self.results[MARKED] = self._volume_id

    def unmark(self):
        """Undo of `mark`: what is another's mark stays."""
        move = self.move
        if not move.has_begun or move.began.host is None:
            return
        if self.results.get(MARKED) is False or self._is_anothers():
            return
        # A volume may be deleted with its server while the saga runs.
        with contextlib.suppress(exception.VolumeNotFound):
            move.world.volume.roll_detaching(move.ctxt, self._volume_id)
        self.forget()

    def forget(self):
        """The volume is not the server's any more: there is no mark to take back."""
        self.results.pop(MARKED)

    def _may_be_marked(self):
        """Return whether there is a mark that this saga may have made without an answer."""
        move = self.move
        status = move.world.volume.get(move.ctxt, self._volume_id)['status']
        return status == DETACHING and not self._is_anothers()

    def _is_anothers(self):
        """Return whether another saga, which is not past its pivot, has marked the volume."""
        others = self.move.world.api_db.read(sagas.every, active=True)
        return any(
            other.data.get(MARKED) == self._volume_id
            for other in others
            if other.uuid != self.move.uuid
        )
