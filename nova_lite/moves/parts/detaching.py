"""The status 'detaching' of a volume that a saga will detach.

A volume has one status for all its attachments, which does not name the owner of the mark.
"""

import contextlib

from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import guest_devices

MARK = 'mark-volume-as-detaching'
DETACHING = 'detaching'
# A note until the pivot: id of the volume that the saga has marked; False if the mark was refused;
# absent while the reply is unknown.
MARKED: saga.Result[object] = saga.Result('marked', object)


class Detaching:
    """The mark of a saga. first: id of the saga's first step; volume_id: id of the volume"""

    def __init__(
        self, scope: scopes.Scope, first: saga.Result[guest_devices.Began], volume_id: str
    ) -> None:
        self.scope, self._first, self._volume_id = scope, first, volume_id

    def step(self, do: saga.Effect | None = None, undo: saga.Effect | None = None) -> saga.Step:
        """Return the step that marks the volume. do, undo: default: `mark` and `unmark`"""
        undo = undo or self.unmark
        clean = saga.Clean(undo, alone=True)
        return places.VOLUMES.step(MARK, do or self.mark, undo, clean=clean)

    def mark(self) -> None:
        """Mark the volume as detaching. Raise VolumeNotUsable or VolumeNotFound."""
        scope, results = self.scope, self.scope.results
        if results[self._first].host is None:
            return  # Only a volume in use can be marked, and this one may be reserved.
        if not (scope.repeated and self._may_be_marked()):
            try:
                with neighbours.late(self._require_ownership):
                    scope.world.volume.begin_detaching(scope.ctxt, self._volume_id)
            except exception.VolumeNotUsable:
                results[MARKED] = False
                raise
        results[MARKED] = self._volume_id

    def _require_ownership(self) -> None:
        """Remove the mark if a successor has taken over the saga before the request arrived.

        No other saga can have marked the volume, because then this one could not have marked it. A
        successor that takes the mark for its own can continue without it.
        """
        scope = self.scope
        try:
            if scope.ctxt.guard is not None:
                scope.ctxt.guard()
        except (saga.LostLease, exception.StaleEpoch):
            self._roll_back(context.admin())
            raise

    def unmark(self) -> None:
        """Undo `mark`, unless the mark belongs to another saga."""
        scope, began = self.scope, self.scope.results.get(self._first)
        if began is None or began.host is None:
            return
        if scope.results.get(MARKED) is False or self._is_anothers():
            return
        self._roll_back(scope.ctxt)
        self.forget()

    def _roll_back(self, ctxt: context.RequestContext) -> None:
        # The owner may delete the volume at any time, and an administrator may reset its status.
        with contextlib.suppress(exception.VolumeNotFound, exception.VolumeNotUsable):
            self.scope.world.volume.roll_detaching(ctxt, self._volume_id)

    def forget(self) -> None:
        """Forget the mark, because the volume no longer belongs to the server."""
        self.scope.results.pop(MARKED)

    def _may_be_marked(self) -> bool:
        """Return whether the volume has a mark that may be this saga's."""
        scope = self.scope
        status = scope.world.volume.get(scope.ctxt, self._volume_id)['status']
        return status == DETACHING and not self._is_anothers()

    def _is_anothers(self) -> bool:
        """Return whether another saga, before its pivot, has marked the volume."""
        others = self.scope.world.api_db.read(sagas.every, active=True)
        return any(
            other.data.get(MARKED) == self._volume_id
            for other in others
            if other.uuid != self.scope.uuid
        )
