"""The allocation of a server that moves, which the migration holds meanwhile."""

import typing

from nova_lite.clients import placement as placement_client
from nova_lite.db.cell import evacuations
from nova_lite.moves import part


class Allocation(part.Part):
    """Allocations of the server and of the migration of a saga."""

    def hold(self) -> None:
        """Move the server's allocation to the migration."""
        move = self.move
        self._give(move.instance_uuid, move.migration_uuid, new=not move.repeated, once=True)

    def release(self) -> placement_client.Allocations:
        """Undo `hold`. Return what the server has got back.

        The server also keeps its part on the providers `kept_on`.
        """
        move = self.move
        held = self._give(move.migration_uuid, move.instance_uuid)
        if move.is_gone():
            for consumer in (move.migration_uuid, move.instance_uuid):
                move.world.placement.delete_allocations(move.ctxt, consumer, force=True)
        return held

    def free_source(self) -> None:
        """Delete the migration's allocation."""
        move = self.move
        move.world.placement.delete_allocations(move.ctxt, move.migration_uuid, force=True)

    def _give(
        self, source: str, target: str, **options: typing.Any
    ) -> placement_client.Allocations:
        move = self.move
        return move.world.placement.move_allocations(
            move.ctxt, source, target, keep=self.kept_on(), **options
        )

    def kept_on(self) -> set[str]:
        """Return the providers that the server was evacuated from and that have not returned."""
        return self.move.read(evacuations.providers_held, self.move.instance_uuid)
