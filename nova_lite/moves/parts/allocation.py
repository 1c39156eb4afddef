"""The allocation of a moving server, which the migration holds during the move."""

import typing

from nova_lite import saga
from nova_lite.clients import placement as placement_client
from nova_lite.db.cell import evacuations
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps


class Allocation:
    """Allocations of the server and of the migration of a saga."""

    def __init__(self, scope: scopes.Scope) -> None:
        self.scope = scope

    def holding(self) -> saga.Step:
        """Return the step that moves the server's allocation to the migration."""
        return places.PLACEMENT.step(steps.HOLD, self._hold, self.release, later=True)

    def _hold(self) -> None:
        scope = self.scope
        self._give(scope.instance_uuid, scope.migration_uuid, new=not scope.repeated, once=True)

    def release(self) -> placement_client.Allocations:
        """Move the migration's allocation back. Return the allocations that the server has got.

        The server also keeps its allocations on the providers `kept_on`.
        """
        scope = self.scope
        held = self._give(scope.migration_uuid, scope.instance_uuid)
        if scope.is_gone():
            for consumer in (scope.migration_uuid, scope.instance_uuid):
                scope.world.placement.delete_allocations(scope.ctxt, consumer, force=True)
        return held

    def free_source(self) -> None:
        """Delete the migration's allocation."""
        placement = self.scope.world.placement
        placement.delete_allocations(self.scope.ctxt, self.scope.migration_uuid, force=True)

    def _give(
        self, source: str, target: str, **options: typing.Any
    ) -> placement_client.Allocations:
        return self.scope.world.placement.move_allocations(
            self.scope.ctxt, source, target, keep=self.kept_on(), **options
        )

    def kept_on(self) -> set[str]:
        """Return the providers of evacuated hosts of the server that have not returned."""
        return self.scope.read(evacuations.providers_held, self.scope.instance_uuid)

    def held_beside(self) -> set[str]:
        """Return the providers that the server may hold besides the destination.

        A scheduler whose reply was lost may still claim. Of two claims both would stay. So a claim
        that finds another one is refused, and the next try begins with `drop_claim`.
        """
        return self.kept_on()

    def drop_claim(self) -> None:
        """Delete the claim on the destination: only the migration keeps an allocation."""
        scope, keep = self.scope, self.kept_on()
        scope.world.placement.delete_allocations(scope.ctxt, scope.instance_uuid, keep=keep)
