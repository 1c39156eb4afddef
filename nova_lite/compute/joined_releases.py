"""Releases of the allocations of deleted servers: those that wait together are one request.

Most servers have the allocations of their first claim until they are deleted. If one of a request
has others, placement changes nothing, and each server's allocations are deleted by themselves.
"""

from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite.clients import placement as placements
from nova_lite.objects import instance as objects
from nova_lite.runtime import combine

Release: typing.TypeAlias = tuple[context.RequestContext, placements.Consumer]


class JoinedReleases:
    """Releases of a compute process. Safe to use from several threads."""

    def __init__(self, placement: placements.Placement) -> None:
        self._placement = placement
        self._combiner: combine.Combiner[Release, bool] = combine.Combiner(
            self._release_together, placements.TOGETHER
        )

    def release(self, ctxt: context.RequestContext, instance: objects.Instance) -> bool:
        """Delete all allocations of a server. Return False if it has none."""
        uuid = instance.uuid
        consumer = placements.Consumer(uuid, instance.project_id, instance.user_id)
        return self._combiner.call(
            (ctxt, consumer),
            lambda: self._placement.delete_allocations(ctxt, uuid, force=True),
        )

    def _release_together(self, releases: Sequence[Release]) -> list[bool] | None:
        ctxt = releases[0][0]
        if self._placement.release_all(ctxt, [consumer for _ctxt, consumer in releases]):
            return [True] * len(releases)
        return None
