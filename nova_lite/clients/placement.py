"""Placement: candidates, claims and other changes of allocations.

Every change may be repeated after a lost reply or by another process that took
over: what is already as wanted counts as done. Source: reference/nova/scheduling 3, 7, 11.
"""

from collections.abc import Callable
from collections.abc import Iterable
import enum
import logging
import re
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import holdings
from nova_lite.clients import offers
from nova_lite.clients import providers
from nova_lite.clients import responses
from nova_lite.clients import session

LOG = logging.getLogger(__name__)

Allocations: typing.TypeAlias = holdings.Allocations
Consumer: typing.TypeAlias = holdings.Consumer
Holding: typing.TypeAlias = holdings.Holding

MICROVERSION = 'placement 1.36'
TRIES = 4
PAUSE_S = 0.1
# Time that another process has to complete a claim that it has written in part.
HALF_WRITTEN_S = 1.0
# Consumers of one POST /allocations. A longer request would conflict with other changes more often.
TOGETHER = 20
NAMED_GENERATION = re.compile(r'expected (\d+) but got')


class Outcome(enum.Enum):
    """The result of a change of allocations."""

    DONE = enum.auto()
    REFUSED = enum.auto()  # no room, or no such provider
    STALE = enum.auto()  # the consumer's generation is another
    RACED = enum.auto()  # the providers changed at every try


class Placement:
    """The placement service, called as ourselves. `providers` knows its providers."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(
            credentials, 'placement', title='placement', microversion=MICROVERSION
        )
        self.providers = providers.Providers(self.service)

    def candidates(self, ctxt: session.Ctxt, query: offers.Pairs) -> offers.Offer:
        """Ask for allocation candidates.

        query: (key, value) pairs of the query string
        Raises Invalid when placement finds the query contradictory.
        """
        errors = {400: exception.Invalid}
        found = self.service.get(ctxt, '/allocation_candidates', params=query, errors=errors)
        return typing.cast(offers.Offer, found)

    def holding(self, ctxt: session.Ctxt, consumer: str) -> Holding:
        """Return what the consumer (a uuid) holds."""
        body = self.service.get(ctxt, f'/allocations/{consumer}')
        return Holding(
            {provider: part['resources'] for provider, part in body['allocations'].items()},
            body.get('consumer_generation'),
            body.get('project_id'),
            body.get('user_id'),
        )

    def claim(
        self,
        ctxt: session.Ctxt,
        consumer: Consumer,
        request: offers.AllocationRequest,
        *,
        new: bool = False,
        free: bool = False,
        beside: Iterable[str] | None = None,
    ) -> bool:
        """Take the resources of an allocation request, in addition to what is held.

        request: {'allocations': …, 'mappings'?: …} as candidates have it
        new:     the consumer is known to hold nothing, which saves a request
        free:    as a rule it holds nothing: that is tried first
        beside:  nodes of which it may hold something already; None: any
        Returns False when they are no longer there to be had. Raises
        AllocationConflict when another process changes the consumer's allocations, or
        it holds something of other providers.
        """
        wanted = request['allocations']
        if free and not new:
            body = holdings.entry(consumer, wanted, None, mappings=request.get('mappings'))
            outcome = self._write(ctxt, 'PUT', f'/allocations/{consumer.uuid}', body)
            if outcome is not Outcome.STALE:
                return self._claimed(outcome, consumer)
        held = Holding() if new else self.holding(ctxt, consumer.uuid)
        if beside is not None and self._besides(ctxt, held, {*wanted, *beside}):
            raise exception.AllocationConflict(consumer=consumer.uuid)
        if held.covers(wanted):
            return True
        body = holdings.entry(
            consumer, held.plus(wanted), held.generation, mappings=request.get('mappings')
        )
        path = f'/allocations/{consumer.uuid}'
        outcome = self._write(ctxt, 'PUT', path, body)
        if outcome is Outcome.STALE:
            if self._has(ctxt, consumer, wanted):
                return True
            runtime.sleep(HALF_WRITTEN_S)
            body['consumer_generation'] = self._left_behind(ctxt, consumer)
            body['allocations'] = wanted  # it holds nothing now, whatever it held before
            outcome = self._write(ctxt, 'PUT', path, body)
        return self._claimed(outcome, consumer)

    def replace(
        self, ctxt: session.Ctxt, consumer: Consumer, wanted: offers.Wanted, generation: int | None
    ) -> bool:
        """Hold `wanted` ({provider: {'resources': …}}) instead of what was held, at once.

        generation: the consumer's, as it was read; another raises AllocationConflict
        Returns False, and leaves what was held, when they are not there to be had.
        """
        body = holdings.entry(consumer, wanted, generation)
        outcome = self._write(ctxt, 'PUT', f'/allocations/{consumer.uuid}', body)
        return self._claimed(outcome, consumer)

    def claim_all(
        self, ctxt: session.Ctxt, claims: Iterable[tuple[Consumer, offers.AllocationRequest]]
    ) -> bool:
        """Take resources for several consumers that hold nothing yet, or for none.

        claims: pairs of a Consumer and an allocation request
        Returns and raises as `claim`.
        """
        claims = list(claims)
        body = {
            consumer.uuid: holdings.entry(
                consumer, request['allocations'], None, mappings=request.get('mappings')
            )
            for consumer, request in claims
        }
        outcome = self._write(ctxt, 'POST', '/allocations', body)
        if outcome is Outcome.STALE:
            empty = [
                consumer
                for consumer, request in claims
                if not self._has(ctxt, consumer, request['allocations'])
            ]
            if not empty:
                return True
            runtime.sleep(HALF_WRITTEN_S)
            for consumer in empty:
                body[consumer.uuid]['consumer_generation'] = self._left_behind(ctxt, consumer)
            outcome = self._write(ctxt, 'POST', '/allocations', body)
        return self._claimed(outcome, claims[0][0])

    def _claimed(self, outcome: Outcome, consumer: Consumer) -> bool:
        if outcome is Outcome.STALE:
            raise exception.AllocationConflict(consumer=consumer.uuid)
        return outcome is Outcome.DONE

    def _has(self, ctxt: session.Ctxt, consumer: Consumer, wanted: offers.Wanted) -> bool:
        """After a stale generation: whether an earlier try of ours had succeeded.

        False when the consumer holds nothing; other holdings raise AllocationConflict.
        """
        held = self.holding(ctxt, consumer.uuid)
        if held and not held.covers(wanted):
            raise exception.AllocationConflict(consumer=consumer.uuid)
        return bool(held)

    def _left_behind(self, ctxt: session.Ctxt, consumer: Consumer) -> int:
        """Return the generation of a consumer without allocations.

        Placement that is killed within a claim leaves one behind, and tells its
        generation in refusals only. Raise AllocationConflict when it holds something.
        """
        response = self.service.call(
            ctxt,
            'PUT',
            f'/allocations/{consumer.uuid}',
            json=holdings.entry(consumer, {}, None),
            errors={409: None},
        )
        if response.status_code < 400:
            return 0  # it was gone meanwhile, and the request has made it
        named = NAMED_GENERATION.search(responses.detail(response))
        if named is None or self.holding(ctxt, consumer.uuid):
            raise exception.AllocationConflict(consumer=consumer.uuid)
        return int(named[1])

    def move_allocations(
        self,
        ctxt: session.Ctxt,
        source: str,
        target: str,
        *,
        new: bool = False,
        once: bool = False,
        keep: Iterable[str | None] = (),
    ) -> Allocations:
        """Give all that `source` holds to `target` (uuids), in one step.

        What `target` held before is dropped. The project and user stay.
        new: `target` is known to hold nothing, which saves a request
        once: if `target` holds something, it was done before and `source` holds new things
        keep: nodes of which both keep what they hold
        Returns what is given, or what `target` holds if it was done before; nothing when
        neither holds anything else.
        """
        for attempt in range(TRIES):
            held = self.holding(ctxt, source)
            given, before = self._besides(ctxt, held, keep), Holding()
            if not given:
                return self._besides(ctxt, self.holding(ctxt, target), keep)
            if not new or attempt:
                before = self.holding(ctxt, target)
                if once and before:
                    return before.allocations
            kept = self._trees(ctxt, keep, held, before)
            generation = before.generation
            owner = Consumer(target, held.project_id, held.user_id)
            if attempt and generation is None:
                generation = self._left_behind(ctxt, owner)
            outcome = self._write(
                ctxt,
                'POST',
                '/allocations',
                {
                    source: holdings.entry(
                        owner, holdings.as_request(held.of(kept)), held.generation
                    ),
                    target: holdings.entry(
                        owner, holdings.as_request(before.of(kept) | given), generation
                    ),
                },
            )
            if outcome is Outcome.DONE:
                return given
            self._only_stale(outcome, source)
        raise exception.AllocationConflict(consumer=source)

    def release(
        self,
        ctxt: session.Ctxt,
        consumer: str,
        nodes: Iterable[str] | None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> bool:
        """Give up what the consumer (a uuid) holds on some nodes, and keep the rest.

        nodes: None stands for all
        unless: called once it is known what is held; nothing is given up if it is true,
            or raises
        A change of the consumer after that call is noticed by its generation, unless it
        became empty: placement forgets it then, and a new claim starts at 1 (see `advance`).
        Returns False when it held nothing there, or keeps it.
        """
        for _ in range(TRIES):
            held = self.holding(ctxt, consumer)
            if unless is not None and unless():
                return False
            kept = {} if nodes is None else self._besides(ctxt, held, nodes)
            if len(kept) == len(held.allocations):
                return False
            owner = Consumer(consumer, held.project_id, held.user_id)
            outcome = self._write(
                ctxt,
                'PUT',
                f'/allocations/{consumer}',
                holdings.entry(owner, holdings.as_request(kept), held.generation),
            )
            if outcome is Outcome.DONE:
                return True
            self._only_stale(outcome, consumer)
        raise exception.AllocationConflict(consumer=consumer)

    def advance(
        self,
        ctxt: session.Ctxt,
        claims: Iterable[tuple[Consumer, offers.AllocationRequest]],
        generation: int,
    ) -> None:
        """Raise the generations of new claims, which begin at 1; keep just what was claimed.

        Late changes by others that read a lower generation are refused from then on.

        claims: as of `claim_all`
        Raises AllocationConflict if placement does not accept a change: the claim was changed
        since, or its providers changed at every try.
        """
        claims = list(claims)
        for start in range(0, len(claims), TOGETHER):
            together = claims[start : start + TOGETHER]
            for number in range(1, generation):
                body = {
                    consumer.uuid: holdings.entry(consumer, request['allocations'], number)
                    for consumer, request in together
                }
                if self._write(ctxt, 'POST', '/allocations', body) is not Outcome.DONE:
                    raise exception.AllocationConflict(consumer=together[0][0].uuid)

    def delete_allocations(
        self, ctxt: session.Ctxt, consumer: str, *, force: bool = False, keep: Iterable[str] = ()
    ) -> bool:
        """Give up all that the consumer (a uuid) holds; False when that was nothing.

        Without `force` what it holds of the nodes `keep` stays, and a change by another
        process in the meantime raises AllocationConflict.
        """
        path = f'/allocations/{consumer}'
        if force:
            response = self.service.call(ctxt, 'DELETE', path, errors={404: None})
            return response.status_code != 404
        held = self.holding(ctxt, consumer)
        kept = self._trees(ctxt, keep, held)
        if not held.besides(kept):
            return False
        owner = Consumer(consumer, held.project_id, held.user_id)
        entry = holdings.entry(owner, holdings.as_request(held.of(kept)), held.generation)
        outcome = self._write(ctxt, 'PUT', path, entry)
        if outcome is not Outcome.DONE and self.holding(ctxt, consumer).besides(kept):
            raise exception.AllocationConflict(consumer=consumer)
        return True

    def _besides(
        self, ctxt: session.Ctxt, held: Holding, nodes: Iterable[str | None]
    ) -> Allocations:
        """Return what is held outside the trees of nodes."""
        return held.besides(self._trees(ctxt, nodes, held))

    def _trees(
        self, ctxt: session.Ctxt, nodes: Iterable[str | None], *found: Holding
    ) -> set[str | None]:
        """Return nodes and, if more than they is held, the providers of their trees.

        nodes: uuids of nodes, or of providers below them; None is ignored
        """
        trees = set(nodes)
        if not trees or all(trees.issuperset(held.allocations) for held in found):
            return trees
        for node in filter(None, tuple(trees)):
            trees.update(each.uuid for each in self.providers.list(ctxt, in_tree=node))
        return trees

    def _only_stale(self, outcome: Outcome, consumer: str) -> None:
        if outcome is Outcome.REFUSED:
            raise exception.NoCapacity(
                reason=f'placement refuses the allocations of consumer {consumer}'
            )
        if outcome is Outcome.RACED:
            raise exception.ProviderConflict(provider=f'of consumer {consumer}')

    def _write(self, ctxt: session.Ctxt, method: str, path: str, body: session.Json) -> Outcome:
        """Send allocations, again while their providers change under the request."""
        for attempt in range(1, TRIES + 1):
            response = self.service.call(
                ctxt, method, path, json=body, errors={400: None, 409: None}
            )
            if response.status_code < 400:
                return Outcome.DONE
            reason = responses.detail(response)
            if 'consumer generation conflict' in reason:
                return Outcome.STALE
            if not providers.is_concurrent(response):
                LOG.info('Placement refuses allocations: %s', reason)
                return Outcome.REFUSED
            if attempt < TRIES:
                runtime.sleep(runtime.random().uniform(0, PAUSE_S * attempt))
        return Outcome.RACED
