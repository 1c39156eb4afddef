"""Claims and releases that are sent to placement many at a time, in the order of the events.

The study counts all resources itself and decides with the count, so a claim need not wait for
placement's answer. Placement checks each claim nevertheless; a refusal would be a wrong count, and
ends the study.
"""

from collections.abc import Callable
from collections.abc import Iterable

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import holdings
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.clients import session

# Number of consumers in one request. Only the study changes the providers.
TOGETHER = 100
# The generation of a consumer after its first claim.
CLAIMED = 1


class Refused(exception.Conflict):
    msg = 'Placement refuses %(count)s claims and releases that the study counted as possible'


class StreamedPlacement(placements.Placement):
    """Placement client that queues changes of allocations and sends many of them in one request.

    claimed: called with the allocation request of each claim
    """

    def __init__(
        self,
        credentials: auth.Credentials,
        claimed: Callable[[offers.AllocationRequest], object] = lambda request: None,
    ) -> None:
        super().__init__(credentials)
        self.claimed = claimed
        self._ctxt: session.Ctxt = context.RequestContext()
        self._waiting: dict[str, session.Json] = {}
        self.held: dict[str, offers.AllocationRequest] = {}

    def claim(
        self,
        ctxt: session.Ctxt,
        consumer: placements.Consumer,
        request: offers.AllocationRequest,
        *,
        new: bool = False,
        free: bool = False,
        beside: Iterable[str] | None = None,
    ) -> bool:
        """Queue the claim of a request for a consumer that has no allocations."""
        entry = holdings.entry(
            consumer, request['allocations'], None, mappings=request.get('mappings')
        )
        self._wait(consumer.uuid, entry)
        self.held[consumer.uuid] = request
        self.claimed(request)
        return True

    def leave(self, consumer: placements.Consumer) -> offers.AllocationRequest:
        """Queue the release of a consumer's claim. Return the claim."""
        self._wait(consumer.uuid, holdings.entry(consumer, {}, CLAIMED))
        return self.held.pop(consumer.uuid)

    def _wait(self, uuid: str, entry: session.Json) -> None:
        if uuid in self._waiting or len(self._waiting) >= TOGETHER:
            self.flush()
        self._waiting[uuid] = entry

    def candidates(self, ctxt: session.Ctxt, query: offers.Pairs) -> offers.Offer:
        """Send the queued changes, and return allocation candidates."""
        self.flush()
        return super().candidates(ctxt, query)

    def flush(self) -> None:
        """Send the queued changes. Raise Refused."""
        if not self._waiting:
            return
        body, self._waiting = self._waiting, {}
        outcome = self.write(self._ctxt, 'POST', '/allocations', body)
        if outcome is not placements.Outcome.DONE:
            raise Refused(count=len(body))
