"""Allocations of a port, which are claimed at its attachment and released at its detachment."""

from collections.abc import Callable
import typing

from nova_lite import saga
from nova_lite.clients import port_allocations
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.moves import duties
from nova_lite.moves import places
from nova_lite.moves import scope as scopes

# The `allocation` of the port's binding.
CLAIM = saga.Result('allocate-for-port', object)


class PortResources:
    """Allocations of ports. plug: id of the step that changes the guest, if there is such a step"""

    def __init__(self, scope: scopes.Scope, plug: str | None = None) -> None:
        self.scope, self._plug = scope, plug

    def claiming(self, port: session.Json | None, require_free: Callable[[], object]) -> saga.Steps:
        """Return the step that claims the resources that a port requests; none without a port.

        port: a port with a resource request, or None
        require_free: function that raises an error if the server has the port already
        """
        if port is None:
            return ()
        return (
            places.PLACEMENT.step(
                CLAIM,
                lambda: self._claim(port, require_free),
                self._give_up,
                clean=saga.Clean(self.release, alone=True),
                title='allocate the resources that the port requests',
            ),
        )

    def _claim(
        self, port: session.Json, require_free: Callable[[], object]
    ) -> resource_requests.Allocation | None:
        scope = self.scope
        require_free()
        row = scope.require_there(scope.row())
        scope.here.require_up_or_fail(row.host)
        node = scope.here.node(row.host, row.node).uuid
        if scope.repeated:
            # An earlier attempt may have got another provider.
            self._release(row, node, but=port['id'])
        return port_allocations.claim(scope.world.placement, scope.ctxt, row, node, port)

    def _give_up(self) -> None:
        """Undo the claim for a port that the server does not have.

        While the guest may have the port, the server keeps the allocation; `reconcile` releases it
        later.
        """
        scope = self.scope
        if scope.is_gone():
            placement = scope.world.placement
            placement.delete_allocations(scope.ctxt, scope.instance_uuid, force=True)
        elif self._plug is None or not scope.owes(self._plug):
            self.release()

    def release(self) -> None:
        """Release allocations that the ports of the server, on its current host, do not need."""
        cell, row = duties.now(self.scope)
        if cell is not None and row is not None and row.host is not None:
            self._release(row, cell.node(row.host, row.node).uuid)

    def _release(self, row: rows.Row, node: str, **options: typing.Any) -> None:
        port_allocations.release(self.scope.world, self.scope.ctxt, row, node, **options)

    def releasing(self, vif: session.Json | None) -> saga.Steps:
        """Return the step that releases the allocation of a port, if it has one.

        vif: its entry of network information
        """
        if not vif or not (vif.get('profile') or {}).get(resource_requests.ALLOCATION):
            return ()
        return (
            places.PLACEMENT.best_effort(
                'release-for-port',
                self.release,
                clean=saga.Clean(self.release, alone=True),
                title='release the resources of the port',
            ),
        )
