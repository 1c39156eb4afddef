"""Claims of different requests that wait for placement together, as one request.

Placement accepts or refuses such a request as a whole. After a refusal, or without an answer, each
claim is sent by itself, so that no server suffers from another one: a claim may be repeated, also
while the joint one goes on.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.clients import placement as client
from nova_lite.runtime import combine

LOG = log.getLogger(__name__)

Claim = tuple[context.RequestContext, client.Consumer, offers.AllocationRequest]


class JoinedClaims:
    """Claims for servers without allocations. Safe to use from several threads."""

    def __init__(self, placement: client.Placement) -> None:
        self._placement = placement
        self._combiner: combine.Combiner[Claim, bool] = combine.Combiner(
            self._claim_together, client.TOGETHER, repeatable=True
        )

    def claim(
        self,
        ctxt: context.RequestContext,
        consumer: client.Consumer,
        wanted: offers.AllocationRequest,
    ) -> bool:
        """Claim for a server, as `Placement.claim` with `new`."""
        return self._combiner.call(
            (ctxt, consumer, wanted),
            lambda: self._placement.claim(ctxt, consumer, wanted, new=True),
        )

    def _claim_together(self, claims: Sequence[Claim]) -> list[bool] | None:
        ctxt = claims[0][0]
        entries = [(consumer, wanted) for _ctxt, consumer, wanted in claims]
        if len({consumer for consumer, _wanted in entries}) < len(entries):
            # A message that came twice: the second claim for a server has to be refused.
            return None
        try:
            if self._placement.claim_all(ctxt, entries, repair=False):
                return [True] * len(claims)
            why = 'they are refused'
        except (exception.AllocationConflict, exception.Unavailable) as error:
            why = str(error)
        LOG.info('%s claims together failed, and are tried one by one: %s', len(claims), why)
        return None
