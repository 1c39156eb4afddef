"""Placement: candidates, claims and other changes of allocations.

Each change may be repeated after a lost reply, or by another process that took over: a change
whose result exists counts as done. Source: reference/nova/scheduling 3, 7, 11.
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
Claim: typing.TypeAlias = holdings.Claim

# Later versions group usages by the type of their consumers, see `project_usages`.
MICROVERSION = 'placement 1.36'
TRIES = 4
PAUSE_S = 0.1
# Seconds for another process to complete a claim that it has written in part.
HALF_WRITTEN_S = 1.0
# Consumers of one POST /allocations. A longer request would conflict with other changes more often.
TOGETHER = 20
NAMED_GENERATION = re.compile(r'expected (\d+) but got')


class Outcome(enum.Enum):
    """The result of a change of allocations."""

    DONE = enum.auto()
    REFUSED = enum.auto()  # no resources, or no such provider
    STALE = enum.auto()  # the consumer's generation differs
    RACED = enum.auto()  # the providers changed at every try


class Placement:
    """The placement service, called with our own credentials. `providers` has its providers."""

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
        """Return the Holding of a consumer (a uuid)."""
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
        """Claim an allocation request, in addition to the consumer's allocations.

        request: {'allocations': …, 'mappings'?: …} as in the candidates
        new:     the consumer is known to have no allocations, which saves a request
        free:    the consumer probably has no allocations: try that first
        beside:  nodes on which it may have allocations already; None: any
        Returns False if the resources are no longer available. Raises AllocationConflict if another
        process changes the consumer's allocations, or if it has allocations on other providers.
        """
        wanted = request['allocations']
        if free and not new:
            body = holdings.entry(consumer, wanted, None, mappings=request.get('mappings'))
            outcome = self.write(ctxt, 'PUT', f'/allocations/{consumer.uuid}', body)
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
        outcome = self.write(ctxt, 'PUT', path, body)
        if outcome is Outcome.STALE:
            if self._has(ctxt, consumer, wanted):
                return True
            runtime.sleep(HALF_WRITTEN_S)
            body['consumer_generation'] = self.left_behind(ctxt, consumer)
            body['allocations'] = wanted  # the consumer has no allocations now
            outcome = self.write(ctxt, 'PUT', path, body)
        return self._claimed(outcome, consumer)

    def replace(
        self, ctxt: session.Ctxt, consumer: Consumer, wanted: offers.Wanted, generation: int | None
    ) -> bool:
        """Replace the consumer's allocations by `wanted` ({provider: {'resources': …}}), at once.

        generation: the consumer's, as it was read; if it differs, AllocationConflict is raised
        Returns False, and changes nothing, if the resources are not available.
        """
        body = holdings.entry(consumer, wanted, generation)
        outcome = self.write(ctxt, 'PUT', f'/allocations/{consumer.uuid}', body)
        return self._claimed(outcome, consumer)

    def claim_all(
        self, ctxt: session.Ctxt, claims: Iterable[Claim], *, repair: bool = True
    ) -> bool:
        """Claim for several consumers without allocations, or for none of them.

        claims: pairs of a Consumer and an allocation request
        repair: look after consumers for which a former try has claimed, in part or whole
        Returns False and raises AllocationConflict as `claim`.
        """
        claims = list(claims)
        body = holdings.claims(claims)
        outcome = self.write(ctxt, 'POST', '/allocations', body)
        if outcome is Outcome.STALE and repair:
            empty = [
                consumer
                for consumer, request in claims
                if not self._has(ctxt, consumer, request['allocations'])
            ]
            if not empty:
                return True
            runtime.sleep(HALF_WRITTEN_S)
            for consumer in empty:
                body[consumer.uuid]['consumer_generation'] = self.left_behind(ctxt, consumer)
            outcome = self.write(ctxt, 'POST', '/allocations', body)
        return self._claimed(outcome, claims[0][0])

    def _claimed(self, outcome: Outcome, consumer: Consumer) -> bool:
        if outcome is Outcome.STALE:
            raise exception.AllocationConflict(consumer=consumer.uuid)
        return outcome is Outcome.DONE

    def _has(self, ctxt: session.Ctxt, consumer: Consumer, wanted: offers.Wanted) -> bool:
        """Return whether an earlier try of ours has succeeded, after a stale generation.

        Return False if the consumer has no allocations. Raise AllocationConflict for others.
        """
        held = self.holding(ctxt, consumer.uuid)
        if held and not held.covers(wanted):
            raise exception.AllocationConflict(consumer=consumer.uuid)
        return bool(held)

    def left_behind(self, ctxt: session.Ctxt, consumer: Consumer) -> int:
        """Return the generation of a consumer without allocations.

        A placement that is killed during a claim leaves such a consumer, and shows its generation
        only in refusals. Raise AllocationConflict if the consumer has allocations.
        """
        response = self.service.call(
            ctxt,
            'PUT',
            f'/allocations/{consumer.uuid}',
            json=holdings.entry(consumer, {}, None),
            errors={409: None},
        )
        if response.status_code < 400:
            return 0  # the consumer was deleted since, and the request has created it
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
        """Move all allocations of `source` to `target` (uuids), in one step.

        The former allocations of `target` are deleted. The project and user stay.
        new: `target` is known to have no allocations, which saves a request
        once: if `target` has allocations, a former call has moved them, and `source` has new ones
        keep: nodes whose allocations are not moved
        Returns the moved allocations, those of `target` if a former call has moved them, or an
        empty result if neither has any.
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
            kept = self.trees(ctxt, keep, held, before)
            generation = before.generation
            owner = Consumer(target, held.project_id, held.user_id)
            if attempt and generation is None:
                generation = self.left_behind(ctxt, owner)
            outcome = self.write(
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
        """Release the allocations of a consumer (a uuid) on `nodes`, and keep the others.

        nodes: None means all
        unless: function that is called after the allocations were read; if it returns true or
            raises, nothing is released A change of the consumer after that call is noticed by its
            generation, unless the consumer
        became empty: placement forgets it then, and a new claim starts at 1 (see `advance`).
        Returns False if nothing was released.
        """
        for _ in range(TRIES):
            held = self.holding(ctxt, consumer)
            if unless is not None and unless():
                return False
            kept = {} if nodes is None else self._besides(ctxt, held, nodes)
            if len(kept) == len(held.allocations):
                return False
            owner = Consumer(consumer, held.project_id, held.user_id)
            outcome = self.write(
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
        claims: Iterable[Claim],
        generation: int,
    ) -> None:
        """Raise the generations of new claims, which begin at 1, to `generation`.

        Afterwards placement refuses late changes by processes that read a lower generation.

        claims: see `claim_all`
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
                if self.write(ctxt, 'POST', '/allocations', body) is not Outcome.DONE:
                    raise exception.AllocationConflict(consumer=together[0][0].uuid)

    def delete_allocations(
        self, ctxt: session.Ctxt, consumer: str, *, force: bool = False, keep: Iterable[str] = ()
    ) -> bool:
        """Delete all allocations of a consumer (a uuid). Return False if it has none.

        Without `force` the allocations on the nodes `keep` stay, and a concurrent change by another
        process raises AllocationConflict.
        """
        path = f'/allocations/{consumer}'
        if force:
            response = self.service.call(ctxt, 'DELETE', path, errors={404: None})
            return response.status_code != 404
        held = self.holding(ctxt, consumer)
        kept = self.trees(ctxt, keep, held)
        if not held.besides(kept):
            return False
        owner = Consumer(consumer, held.project_id, held.user_id)
        entry = holdings.entry(owner, holdings.as_request(held.of(kept)), held.generation)
        outcome = self.write(ctxt, 'PUT', path, entry)
        if outcome is not Outcome.DONE and self.holding(ctxt, consumer).besides(kept):
            raise exception.AllocationConflict(consumer=consumer)
        return True

    def release_all(self, ctxt: session.Ctxt, consumers: Iterable[Consumer]) -> bool:
        """Delete the first claims of consumers; return False if one has another claim or none."""
        body = {each.uuid: holdings.entry(each, {}, 1) for each in consumers}
        return self.write(ctxt, 'POST', '/allocations', body) is Outcome.DONE

    def project_usages(self, ctxt: session.Ctxt, project_id: str) -> dict[str, int]:
        """Return {resource class: amount} that a project uses.

        Raise Invalid for a text that cannot be the ID of a project.
        """
        message = f'Project ID {project_id} is not a valid project.'
        errors = {
            400: session.raising(exception.Invalid, message=message),
            # Whatever the user asks for, the user is not who must get a role.
            403: session.raising(exception.Unavailable, service=self.service.title),
        }
        found: dict[str, int] = self.service.get(
            ctxt,
            '/usages',
            params={'project_id': project_id},
            errors=errors,
        )['usages']
        return found

    def _besides(
        self, ctxt: session.Ctxt, held: Holding, nodes: Iterable[str | None]
    ) -> Allocations:
        """Return the allocations outside the trees of `nodes`."""
        return held.besides(self.trees(ctxt, nodes, held))

    def trees(
        self, ctxt: session.Ctxt, nodes: Iterable[str | None], *found: Holding
    ) -> set[str | None]:
        """Return nodes and, if `found` has allocations on other providers, those of their trees.

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

    def write(self, ctxt: session.Ctxt, method: str, path: str, body: session.Json) -> Outcome:
        """Send allocations. Repeat the request while their providers change concurrently."""
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
