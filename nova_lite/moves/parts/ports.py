"""The ports of a server that moves: bindings to both hosts, of which one is active.

Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from collections.abc import Callable
import typing

from nova_lite import saga
from nova_lite import states
from nova_lite.clients import session
from nova_lite.db.cell import network_info
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import plugging
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps


class Ports:
    """The ports of a server that moves along a route.

    vm_state: function that returns the server's vm state at the begin of the saga
    """

    def __init__(
        self, scope: scopes.Scope, route: scopes.Route, vm_state: Callable[[], str]
    ) -> None:
        self.scope, self._route, self._vm_state = scope, route, vm_state

    def binding(self, name: str) -> saga.Step:
        """Return the step that adds inactive bindings to the destination."""
        clean = saga.Clean(
            lambda: duties.drop_bindings(self.scope, self._route.dest.host), alone=True
        )
        return places.NETWORK.step(
            name, self._bind, self._unbind, clean=clean, harmless=True, skips=True
        )

    def _bind(self) -> saga.Skipped | None:
        if self._route.stays or not self.scope.has_ports():
            return saga.Skipped()
        info = self.scope.read(network_info.of, self.scope.instance_uuid)
        if not info:
            return saga.Skipped()
        neighbours.bind(self.scope, info, self._route.dest.host)
        return None

    def _unbind(self) -> None:
        row = self.scope.find()
        # This is also done for a deleted server, because a port may belong to the user.
        if row is not None and not self._route.stays:
            neighbours.unbind(self.scope, row.network_info, self._route.dest.host)

    def activating(self, name: str) -> saga.Step:
        """Return the step that activates the destination's bindings, with the new network_info."""
        return places.NETWORK.step(
            name,
            self._activate_and_wait,
            self._activate_source,
            clean=duties.activation(self.scope),
            skips=True,
        )

    def _activate_and_wait(self) -> plugging.Plugged:
        """Activate the destination's bindings, and wait until the ports are plugged."""
        return plugging.plugged(
            self.scope,
            self._route.dest.host,
            self._activate,
            is_on=self._vm_state() == states.VmState.ACTIVE,
        )

    def columns(
        self, plugged: saga.Result[steps.Info], recorded: session.Jsons | None
    ) -> dict[str, typing.Any]:
        """Return the columns of a server whose ports were plugged.

        plugged: name of that step; recorded: network information of its row, which is locked
        """
        info = self.scope.results.get(plugged)
        return {'network_info': network_info.merged(recorded, info)} if info else {}

    def _activate_source(self) -> None:
        self._activate(self._route.source.host)

    def _activate(self, host: str) -> session.Jsons | saga.Skipped:
        """Activate the bindings to a host, unless the server is gone."""
        scope = self.scope
        if self._route.stays or not scope.has_ports():
            return saga.Skipped()
        row = scope.find_present()
        if row is None or not row.network_info:
            return saga.Skipped()
        return neighbours.activate(scope, row.network_info, host)

    def settling(self, name: str) -> saga.Step:
        """Return the step after an arrival: activate the bindings, delete those of the source."""
        clean = duties.activation(self.scope, leaves=self._route.source)
        return places.NETWORK.best_effort(name, self._settle, clean=clean, later=True, skips=True)

    def _settle(self) -> session.Jsons | saga.Skipped:
        info = self._activate(self._route.dest.host)
        if not isinstance(info, saga.Skipped):
            neighbours.unbind(self.scope, info, self._route.source.host)
        return info
