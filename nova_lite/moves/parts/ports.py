"""The ports of a server that goes elsewhere, bound to either end and plugged at one.

Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import plugging


class Ports(part.Part):
    """move: the saga, with `source_host` and `dest_host`; `stays` tells whether both are one"""

    def binding(self, name):
        """The step that binds them to the destination as well, where they wait."""
        clean = saga.Clean(lambda: duties.drop_bindings(self.move, self.move.dest_host), alone=True)
        return places.NETWORK.step(name, self._bind, self._unbind, clean=clean)

    def _bind(self):
        move = self.move
        info = move.row().network_info
        if move.stays or not info:
            return saga.Skipped()
        neighbours.bind(move, info, move.dest_host)
        return None

    def _unbind(self):
        move = self.move
        row = move.find()
        # Also of a server that was deleted: a port may be its user's.
        if row is not None and not move.stays:
            neighbours.unbind(move, row.network_info, move.dest_host)

    def plugging(self, name):
        """The step that plugs them at the destination; returns network_info as it is there."""
        return places.NETWORK.step(
            name, self._plugged, self._plug_back, clean=duties.activation(self.move)
        )

    def _plugged(self):
        """Plug them at the destination, and wait until they are plugged."""
        return plugging.plugged(self.move, self.move.dest_host, self.plug)

    def plug(self):
        """Plug them at the destination, unless the server is gone."""
        return self._plug(self.move.dest_host)

    def columns(self, plugged):
        """The columns of a server whose ports a step plugged. plugged: the name of the step"""
        info = self.results.get(plugged)
        return {'network_info': info} if info else {}

    def _plug_back(self):
        self._plug(self.move.source_host)

    def _plug(self, host):
        move = self.move
        row = move.find()
        if move.stays or instances.is_gone(row) or not row.network_info:
            return saga.Skipped()
        return neighbours.activate(move, row.network_info, host)

    def settling(self, name):
        """The step of a server that has arrived: plugged there, and unbound where it was."""
        clean = duties.activation(self.move, leaves=True)
        return places.NETWORK.patient(name, self._settle, clean=clean)

    def _settle(self):
        info = self.plug()
        if not isinstance(info, saga.Skipped):
            neighbours.unbind(self.move, info, self.move.source_host)
        return info
