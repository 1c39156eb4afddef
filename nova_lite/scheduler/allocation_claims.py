"""Claims in placement for the servers of one request: all of them or none.

A server that is on a host keeps its allocations there and gets the claim in addition. Other
servers have no allocations yet. Source: reference/nova/scheduling 7.
"""

import collections.abc
import json

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.clients import placement as client
from nova_lite.clients import placement as placements
from nova_lite.scheduler import candidates
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from nova_lite.scheduler import joined_claims
from nova_lite.scheduler import scheduling_request

LOG = log.getLogger(__name__)


class Claims:
    """The claims of one request.

    joined: joined_claims.JoinedClaims, for servers that have no allocations
    states: host_states.HostStates, which concurrent decisions read
    beside: providers on which the servers may have allocations already; None: another process
        claims, and here the claims are only noted
    """

    def __init__(
        self,
        placement: placements.Placement,
        joined: joined_claims.JoinedClaims,
        states: host_states.HostStates,
        ctxt: context.RequestContext,
        *,
        request: scheduling_request.Request,
        candidates: candidates.Candidates,
        beside: collections.abc.Collection[str] | None = (),
    ) -> None:
        self.placement, self.joined = placement, joined
        self.states, self.ctxt = states, ctxt
        self.request, self.candidates, self.beside = request, candidates, beside
        self._held: dict[str, offers.AllocationRequest] = {}
        self._planned: dict[str, offers.AllocationRequest] = {}
        self._placed: set[str] = set()

    def claim(self, uuid: str, host: hosts.HostState, wanted: offers.AllocationRequest) -> bool:
        """Claim for one server. Return False if the host does not have the resources.

        The resources of a refused claim stay noted as used, because someone else uses them.
        """
        if not self.candidates.take(wanted):
            return False
        self._place(uuid, host, wanted)
        if self._claim(uuid, wanted):
            self._held[uuid] = wanted
            return True
        self._withdraw(uuid)
        return False

    def _claim(self, uuid: str, wanted: offers.AllocationRequest) -> bool:
        if self.beside is None:
            return True
        if self.request.spec.current_cell is None and self.ctxt.guard is None:
            return self.joined.claim(self.ctxt, self._consumer(uuid), wanted)
        return self.placement.claim(
            self.ctxt,
            self._consumer(uuid),
            wanted,
            new=self.request.spec.current_cell is None,
            # The migration of a moving server has the server's former allocations.
            free=True,
            beside=self.beside,
        )

    def plan(self, uuid: str, host: hosts.HostState, wanted: offers.AllocationRequest) -> bool:
        """Plan the claim for one server by the candidates of placement, for `carry_out`.

        Return False if the host does not have the resources.
        """
        if not self.candidates.take(wanted):
            return False
        self._planned[uuid] = wanted
        self._place(uuid, host, wanted)
        return True

    def carry_out(self) -> bool:
        """Claim for all planned servers, many at a time. Return False if a claim is refused."""
        uuids = list(self._planned)
        for start in range(0, len(uuids), client.TOGETHER):
            together = {
                uuid: self._planned[uuid] for uuid in uuids[start : start + client.TOGETHER]
            }
            if not self.placement.claim_all(
                self.ctxt, [(self._consumer(uuid), wanted) for uuid, wanted in together.items()]
            ):
                return False
            self._held.update(together)
            for uuid in together:
                del self._planned[uuid]
        return True

    def give_back(self) -> None:
        """Release all claims.

        Log an error: the audit of allocations releases the remaining claims.
        """
        for uuid in list(self._placed):
            self._withdraw(uuid)
        claimed = {} if self.beside is None else self._held
        for uuid, wanted in claimed.items():
            try:
                self.placement.release(self.ctxt, uuid, set(wanted['allocations']))
            except exception.NovaLiteError as error:
                LOG.warning(
                    'Cannot release an unneeded claim of server %s: %s. The audit of allocations releases it.',
                    uuid,
                    error,
                )
        for wanted in (*self._held.values(), *self._planned.values()):
            self.candidates.give_back(wanted)
        self._held, self._planned = {}, {}

    def _place(self, uuid: str, host: hosts.HostState, wanted: offers.AllocationRequest) -> None:
        """Record the claim for other decisions before placement has answered."""
        self._placed.add(uuid)
        self.states.place(uuid, host, self.request, wanted)

    def _withdraw(self, uuid: str) -> None:
        self._placed.discard(uuid)
        self.states.withdraw(uuid)

    def _consumer(self, uuid: str) -> client.Consumer:
        spec = self.request.spec
        return client.Consumer(uuid, spec.project_id, spec.user_id)


def as_text(wanted: offers.AllocationRequest | None) -> str | None:
    """Return an allocation request as the JSON text of a Selection."""
    return None if wanted is None else json.dumps(wanted, separators=(',', ':'))
