"""The ports of a server that moves: bindings to both hosts, of which one is active.

Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

import typing

from nova_lite import saga
from nova_lite.clients import session
from nova_lite.db.cell import network_info
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import plugging
from nova_lite.moves import steps


class Ports(part.Part):
    """The ports of a saga with `source_host`, `dest_host` and `stays`."""

    def binding(self, name: str) -> saga.Step:
        """Return the step that adds inactive bindings to the destination."""
        clean = saga.Clean(lambda: duties.drop_bindings(self.move, self.move.dest_host), alone=True)
        return places.NETWORK.step(name, self._bind, self._unbind, clean=clean, skips=True)

    def _bind(self) -> saga.Skipped | None:
        move = self.move
        info = move.read(network_info.of, move.instance_uuid)
        if move.stays or not info:
            return saga.Skipped()
        neighbours.bind(move, info, move.dest_host)
        return None

    def _unbind(self) -> None:
        move = self.move
        row = move.find()
        # Also for a deleted server, because a port may be the user's.
        if row is not None and not move.stays:
            neighbours.unbind(move, row.network_info, move.dest_host)

    def activating(self, name: str) -> saga.Step:
        """Return the step that activates the destination's bindings, with the new network_info."""
        return places.NETWORK.step(
            name,
            self._activate_and_wait,
            self._activate_source,
            clean=duties.activation(self.move),
            skips=True,
        )

    def _activate_and_wait(self) -> plugging.Plugged:
        """Activate the destination's bindings, and wait until the ports are plugged."""
        return plugging.plugged(self.move, self.move.dest_host, self._activate)

    def columns(
        self, plugged: saga.Result[steps.Info], recorded: session.Jsons | None
    ) -> dict[str, typing.Any]:
        """Return the columns of a server whose ports were plugged.

        plugged: name of that step; recorded: network information of its row, which is locked
        """
        info = self.results.get(plugged)
        return {'network_info': network_info.merged(recorded, info)} if info else {}

    def _activate_source(self) -> None:
        self._activate(self.move.source_host)

    def _activate(self, host: str) -> session.Jsons | saga.Skipped:
        """Activate the bindings to a host, unless the server is gone."""
        move = self.move
        row = move.find_present()
        if move.stays or row is None or not row.network_info:
            return saga.Skipped()
        return neighbours.activate(move, row.network_info, host)

    def settling(self, name: str) -> saga.Step:
        """Return the step after an arrival: activate the bindings, delete the source's."""
        clean = duties.activation(self.move, leaves=True)
        return places.NETWORK.best_effort(name, self._settle, clean=clean, later=True, skips=True)

    def _settle(self) -> session.Jsons | saga.Skipped:
        info = self._activate(self.move.dest_host)
        if not isinstance(info, saga.Skipped):
            neighbours.unbind(self.move, info, self.move.source_host)
        return info
