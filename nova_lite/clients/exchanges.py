"""The claim of a server that moves, together with the allocations that its migration takes over.

Both are one request, so that placement makes both or neither. The request names the generations of
both consumers. So of two tries of one owner, of which the first was not answered, only one counts.
"""

from collections.abc import Callable
from collections.abc import Collection
import typing

from nova_lite import exception
from nova_lite.clients import holdings
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.clients import session


class Handover(typing.NamedTuple):
    """The allocations that a server leaves, and who takes them over.

    holder: uuid of the migration
    source: returns the uuid of the node that the server leaves, None if it is unknown; called for
        later tries
    """

    holder: str
    source: Callable[[], str | None]


def claim(
    placement: placements.Placement,
    ctxt: session.Ctxt,
    server: placements.Consumer,
    request: offers.AllocationRequest,
    *,
    handover: Handover,
    new: bool = False,
    keep: Collection[str] = (),
) -> bool:
    """Claim for a server, and hand its former allocations over to a migration.

    If the migration has allocations, an earlier try has moved them. The server then has the claim
    of that try, or none, and the new claim replaces it. It also replaces the claim of an earlier
    try for a server that had nothing at its source.

    request: {'allocations': …, 'mappings'?: …} as in the candidates
    new: the migration is known to have no allocations, which saves a request
    keep: nodes on which the server keeps its allocations
    Returns False, and changes nothing, if the resources are not available. Raises
    AllocationConflict if other processes change the allocations at every try.
    """
    for attempt in range(placements.TRIES):
        held = placement.holding(ctxt, server.uuid)
        found = holdings.Holding()
        if not new or attempt:
            found = placement.holding(ctxt, handover.holder)
        kept = placement.trees(ctxt, keep, held)
        former = held.besides(kept)
        if found and holdings.Holding(former).covers(request['allocations']):
            return True
        if not former and not request['allocations']:
            return True
        after = holdings.Holding(held.of(kept)).plus(request['allocations'])
        mappings = request.get('mappings')
        body = {server.uuid: holdings.entry(server, after, held.generation, mappings=mappings)}
        if former and not found and ((new and not attempt) or handover.source() in (None, *former)):
            moved = holdings.as_request(former)
            body[handover.holder] = holdings.entry(server, moved, found.generation)
        if attempt:
            _complete(placement, ctxt, server, body)
        outcome = placement.write(ctxt, 'POST', '/allocations', body)
        if outcome is not placements.Outcome.STALE:
            return outcome is placements.Outcome.DONE
    raise exception.AllocationConflict(consumer=server.uuid)


def renew(placement: placements.Placement, ctxt: session.Ctxt, consumer: str) -> None:
    """Raise the generation of a consumer, and leave its allocations as they are.

    Afterwards placement refuses late requests that name the former generation. Raises
    AllocationConflict if other processes change the allocations at every try.
    """
    for _attempt in range(placements.TRIES):
        held = placement.holding(ctxt, consumer)
        if not held:
            return
        owner = placements.Consumer(consumer, held.project_id, held.user_id)
        same = holdings.as_request(held.allocations)
        try:
            placement.replace(ctxt, owner, same, held.generation)
        except exception.AllocationConflict:
            continue
        return
    raise exception.AllocationConflict(consumer=consumer)


def _complete(
    placement: placements.Placement,
    ctxt: session.Ctxt,
    server: placements.Consumer,
    body: session.Json,
) -> None:
    """Add the generations of consumers without allocations that placement has left behind."""
    for uuid, entry in body.items():
        if entry['consumer_generation'] is None:
            owner = placements.Consumer(uuid, server.project_id, server.user_id)
            entry['consumer_generation'] = placement.left_behind(ctxt, owner)
