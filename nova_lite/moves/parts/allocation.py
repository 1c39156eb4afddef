"""The allocation of a moving server, which the migration holds during the move."""

from collections.abc import Collection
import typing

from nova_lite import saga
from nova_lite.clients import exchanges
from nova_lite.clients import offers
from nova_lite.clients import placement as placement_client
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps


class Allocation:
    """Allocations of the server and of the migration of a saga.

    claims: whether the scheduler claims the destination that it chooses
    """

    claims = True

    def __init__(self, scope: scopes.Scope) -> None:
        self.scope = scope

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

    def held(self, node: str) -> placement_client.Allocations:
        """Return the allocations from which a forced move copies those on a node."""
        scope = self.scope
        return scope.world.placement.holding(scope.ctxt, scope.instance_uuid).allocations

    def claim(
        self,
        consumer: placement_client.Consumer,
        request: offers.AllocationRequest,
        beside: Collection[str],
    ) -> bool:
        """Claim a destination for the server. Return False if it lacks the resources.

        beside: as of `held_beside`
        """
        scope = self.scope
        return scope.world.placement.claim(scope.ctxt, consumer, request, beside=beside)

    def drop_claim(self) -> None:
        """Delete the claim on the destination: only the migration keeps an allocation."""
        scope, keep = self.scope, self.kept_on()
        scope.world.placement.delete_allocations(scope.ctxt, scope.instance_uuid, keep=keep)


class Exchange(Allocation):
    """Allocations of a saga that claims the destination itself, see `clients.exchanges`.

    The scheduler only chooses. A late claim by a scheduler could take the source's allocation from
    a server whose move has been undone.
    """

    claims = False

    def holding(self, *, former: bool) -> saga.Steps:
        """Return the step that moves the server's allocation to the migration before the choice.

        Later plans do not have the step. former: whether the plan has it
        """
        hold = places.PLACEMENT.step(steps.HOLD, self._hold, self.release, later=True)
        return (hold,) if former else ()

    def _hold(self) -> None:
        scope = self.scope
        self._give(scope.instance_uuid, scope.migration_uuid, new=not scope.repeated, once=True)

    def held(self, node: str) -> placement_client.Allocations:
        scope = self.scope
        found = super().held(node)
        if node not in found:
            found = scope.world.placement.holding(scope.ctxt, scope.migration_uuid).allocations
        return found

    def claim(
        self,
        consumer: placement_client.Consumer,
        request: offers.AllocationRequest,
        beside: Collection[str],
    ) -> bool:
        """Claim a destination, and give the source's allocation to the migration."""
        scope = self.scope
        return exchanges.claim(
            scope.world.placement,
            scope.ctxt,
            consumer,
            request,
            handover=exchanges.Handover(scope.migration_uuid, self._source),
            new=not (scope.repeated or steps.REFUSED in scope.results),
            keep=beside,
        )

    def drop_claim(self) -> None:
        """Give the source's allocation back to the server, instead of the claim.

        A saga that goes back keeps both. Its next claim replaces the claim at once.
        """
        if not self.scope.going_back:
            self.release()

    def release(self) -> placement_client.Allocations:
        """Give the source's allocation back. Drop the claim of a server that had none there.

        If the migration has none, a claim whose reply was lost may still arrive. It is refused
        then, because the generation of the server's allocation has grown.
        """
        scope, placement = self.scope, self.scope.world.placement
        was_exchanged = bool(placement.holding(scope.ctxt, scope.migration_uuid))
        held = super().release()
        if was_exchanged or not held:
            return held
        source, may_be_claimed = self._source(), scope.repeated or steps.CHOOSE in scope.results
        if source is not None and source not in held and may_be_claimed:
            keep = {source, *self.kept_on()}
            placement.delete_allocations(scope.ctxt, scope.instance_uuid, keep=keep)
        else:
            exchanges.renew(placement, scope.ctxt, scope.instance_uuid)
        return held

    def _source(self) -> str | None:
        """Return the uuid of the node that the record names; before the pivot it is the source."""
        here = self.scope.here
        row = here.find()
        node = row and here.read(compute_nodes.find, row.host, row.node)
        return node.uuid if node else None
