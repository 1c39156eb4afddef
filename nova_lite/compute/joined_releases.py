"""Releases of what deleted servers have: those that wait together share a request.

Most servers have the allocations of their first claim until they are deleted. If one of a request
has others, placement changes nothing, and each server's allocations are deleted by themselves. The
ports of several servers are listed by one request, and each server releases its own.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import session
from nova_lite.objects import instance as objects
from nova_lite.runtime import combine

Release: typing.TypeAlias = tuple[context.RequestContext, placements.Consumer]
Listing: typing.TypeAlias = tuple[context.RequestContext, str]
# Servers of one list of ports.
MOST_LISTED = 20


class JoinedReleases:
    """Releases of a compute process. Safe to use from several threads."""

    def __init__(self, placement: placements.Placement, network: networks.Network) -> None:
        self._placement, self._network = placement, network
        self._combiner: combine.Combiner[Release, bool] = combine.Combiner(
            self._release_together, placements.TOGETHER
        )
        self._lists: combine.Combiner[Listing, session.Jsons] = combine.Combiner(
            self._list_together, MOST_LISTED, repeatable=True
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

    def deallocate(
        self, ctxt: context.RequestContext, uuid: str, network_info: Iterable[session.Fields]
    ) -> None:
        """Take all ports from a server, as Network.deallocate."""
        own = (ctxt, uuid)
        ports = self._lists.call(own, lambda: self._list_together([own])[0])
        self._network.deallocate(ctxt, uuid, network_info, ports=ports)

    def _list_together(self, listings: Sequence[Listing]) -> list[session.Jsons]:
        uuids = [uuid for _ctxt, uuid in listings]
        found = self._network.held_by(listings[0][0], uuids)
        return [found[uuid] for uuid in uuids]
