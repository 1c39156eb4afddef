"""The ports of a server that goes elsewhere, bound to either end and plugged at one.

Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places


class Ports(part.Part):
    """move: the saga; source, dest: () -> name of a host; stays: () -> whether both are one"""

    def __init__(self, move, *, source, dest, stays=lambda: False):
        super().__init__(move)
        self._source, self._dest, self._stays = source, dest, stays

    def binding(self, name):
        """The step that binds them to the destination as well, where they wait."""
        clean = saga.Clean(lambda: duties.drop_bindings(self._move, self._dest()), alone=True)
        return places.NETWORK.step(name, self._bind, self._unbind, clean=clean)

    def _bind(self):
        move = self._move
        info = move.row().network_info
        if self._stays() or not info:
            return saga.Skipped()
        neighbours.bind(move.world, move.ctxt, info, self._dest())
        return None

    def _unbind(self):
        move = self._move
        row = move.find()
        # Also of a server that was deleted: a port may be its user's.
        if row is not None and not self._stays():
            neighbours.unbind(move.world, move.ctxt, row.network_info, self._dest())

    def plugging(self, name):
        """The step that plugs them at the destination; returns network_info as it is there."""
        return places.NETWORK.step(
            name, self.plug, self._plug_back, clean=duties.activation(self._move)
        )

    def plug(self):
        """Plug them at the destination, unless the server is gone."""
        return self._plug(self._dest)

    def _plug_back(self):
        self._plug(self._source)

    def _plug(self, end):
        move = self._move
        row = move.find()
        if self._stays() or instances.is_gone(row) or not row.network_info:
            return saga.Skipped()
        return neighbours.activate(move.world, move.ctxt, row.uuid, row.network_info, end())

    def settling(self, name):
        """The step of a server that has arrived: plugged there, and unbound where it was."""
        return places.NETWORK.patient(
            name, self._settle, clean=duties.activation(self._move, self._source)
        )

    def _settle(self):
        info = self.plug()
        if not isinstance(info, saga.Skipped):
            move = self._move
            neighbours.unbind(move.world, move.ctxt, info, self._source())
        return info
