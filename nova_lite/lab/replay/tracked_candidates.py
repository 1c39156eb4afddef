"""Allocation candidates that are updated instead of being read again.

Only the study makes claims. So an answer of placement stays true if the resources that have been
claimed and released since the answer are counted. If a provider was full, and so is not in the
answer, and may fit now, placement is asked about it again; so it is about a tree in which several
providers have resources.
Placement's usage is compared with the count at each further answer.
"""

from collections.abc import Iterable

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.scheduler import candidates
from nova_lite.scheduler import host_states

# With more providers to ask about, one query for all of them is cheaper.
ALONE = 8
Amounts = dict[str, dict[str, int]]


class Miscounted(exception.Conflict):
    msg = (
        'Placement counts %(found)s of %(resource)s in use on provider %(provider)s, and the study '
        '%(counted)s. Its results would be wrong. Begin another study.'
    )


class Usage:
    """The resources of providers: those that placement returned, changed by later claims."""

    def __init__(self) -> None:
        self.capacity: Amounts = {}
        self.used: Amounts = {}

    def learn(self, offer: offers.Offer) -> None:
        """Add the providers of an answer. Raise Miscounted if the answer contradicts the count."""
        for uuid, summary in offer['provider_summaries'].items():
            counted = self.used.setdefault(uuid, {})
            capacity = self.capacity.setdefault(uuid, {})
            for resource, amounts in summary['resources'].items():
                capacity[resource] = amounts['capacity']
                found = amounts['used']
                if counted.setdefault(resource, found) != found:
                    raise Miscounted(
                        found=found, resource=resource, provider=uuid, counted=counted[resource]
                    )

    def release(self, request: offers.AllocationRequest) -> None:
        """Count the resources of a request as free, for each provider that is known."""
        for uuid, part in request['allocations'].items():
            counted = self.used.get(uuid, {})
            for resource, amount in part['resources'].items():
                if resource in counted:
                    counted[resource] -= amount

    def fits(self, request: offers.AllocationRequest) -> bool:
        """Return whether the resources of a request are free, for each provider that is known."""
        return all(
            self.used[uuid].get(resource, 0) + amount <= self.capacity[uuid].get(resource, 0)
            for uuid, part in request['allocations'].items()
            if uuid in self.capacity
            for resource, amount in part['resources'].items()
        )


class TrackedCandidates(candidates.Candidates):
    """The candidates for one shape of request.

    stale: providers whose resources were claimed or released since the last `settle`
    """

    def __init__(self, usage: Usage, queries: offers.Queries, *bodies: offers.Offer) -> None:
        super().__init__(*bodies)
        self._wanted = [_amounts(pairs) for pairs in queries]
        for body in bodies:
            usage.learn(body)
        self._usage = usage
        # From here on other shapes share the count, which each claim changes.
        self._capacity, self._used = usage.capacity, usage.used
        self.stale: set[str] = set()
        # {provider: its allocation requests when all of its resources were free}
        self._known = dict(self._of)
        self._roots, self._trees = _trees(bodies)
        self._never: set[str] = set()

    def unsettled(self) -> list[str]:
        """Update the requests of changed providers. Return the providers to ask placement about."""
        asked: dict[str, None] = {}
        changed = False
        # Sorted, since the order of queries must not depend on the order of a set.
        for uuid in sorted(self.stale):
            root = self._roots.get(uuid, uuid)
            if self._is_nested(root) or root not in self._known:
                if root not in self._never and self._may_fit(root):
                    asked[root] = None
                continue
            fitting = [each for each in self._known[root] if self._usage.fits(each)]
            if bool(fitting) != (root in self._of):
                changed = True
            if fitting:
                self._of[root] = fitting
            else:
                self._of.pop(root, None)
        self.stale.clear()
        if changed:
            self.offered = frozenset(self._of)
        return list(asked)

    def replace(self, root: str, bodies: Iterable[offers.Offer]) -> None:
        """Replace the candidates of one tree by those of a new answer."""
        bodies = list(bodies)
        for body in bodies:
            self._usage.learn(body)
        found = candidates.Candidates(*bodies)
        roots, trees = _trees(bodies)
        self._roots |= roots
        self._trees |= trees
        for uuid in {root, *found.offered, *(u for u, r in self._roots.items() if r == root)}:
            self._of.pop(uuid, None)
        for uuid in found.offered:
            self._of[uuid] = self._known[uuid] = [*found.of(uuid)]
        if root not in found.offered and root in self._usage.capacity and not self._is_nested(root):
            # Its resources are free, so it lacks a trait or an aggregate. A study changes neither.
            self._never.add(root)
        self.offered = frozenset(self._of)

    def _is_nested(self, root: str) -> bool:
        return len(self._trees.get(root, ())) > 1

    def _may_fit(self, root: str) -> bool:
        """Return whether the provider may have the resources of the request."""
        if self._is_nested(root):
            return True
        return any(
            self._usage.fits({'allocations': {root: {'resources': amounts}}})
            for amounts in self._wanted
        )


def _amounts(pairs: offers.Pairs) -> dict[str, int]:
    """Return {resource class: amount} of a query."""
    found: dict[str, int] = {}
    for part in dict(pairs)['resources'].split(','):
        resource, _, amount = part.partition(':')
        found[resource] = int(amount)
    return found


def _trees(bodies: Iterable[offers.Offer]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Return ({provider: root}, {root: the providers that have requested resources})."""
    roots: dict[str, str] = {}
    trees: dict[str, set[str]] = {}
    for body in bodies:
        requested = {
            resource
            for request in body['allocation_requests']
            for part in request['allocations'].values()
            for resource in part['resources']
        }
        for uuid, summary in body['provider_summaries'].items():
            root = summary.get('root_provider_uuid') or uuid
            roots[uuid] = root
            if requested & summary['resources'].keys():
                trees.setdefault(root, set()).add(uuid)
    return roots, trees


class TrackedSource(candidates.Source):
    """The answers of placement for a study, one for each shape of request."""

    def __init__(self, placement: placements.Placement, *, asks_always: bool = False) -> None:
        """asks_always: whether to ask placement at each decision"""
        super().__init__(placement, 0.0)
        self._asks_always = asks_always
        self.usage = Usage()
        self._shapes: dict[offers.Queries, TrackedCandidates] = {}
        self.asked = 0

    def get(
        self,
        ctxt: context.RequestContext,
        queries: offers.Queries,
        *,
        version: host_states.Version | None = None,
        since: float | None = None,
    ) -> candidates.Candidates:
        """Return the candidates that placement would return now."""
        if not _is_followed(queries):
            return candidates.Candidates(*self._bodies(ctxt, queries))
        if self._asks_always:
            self._shapes.clear()
        found = self._shapes.get(queries)
        if found is None:
            found = self._shapes[queries] = self._answer(ctxt, queries)
            return found
        roots = found.unsettled()
        if len(roots) > ALONE:
            found = self._shapes[queries] = self._answer(ctxt, queries)
            return found
        for root in roots:
            one = tuple(tuple(sorted((*pairs, ('in_tree', root)))) for pairs in queries)
            found.replace(root, self._bodies(ctxt, one))
        return found

    def changed(self, request: offers.AllocationRequest) -> None:
        """Note that the resources of a request were claimed or released."""
        for each in self._shapes.values():
            each.stale.update(request['allocations'])

    def release(self, request: offers.AllocationRequest) -> None:
        """Count the resources of a request as free."""
        self.usage.release(request)
        self.changed(request)

    def _answer(self, ctxt: context.RequestContext, queries: offers.Queries) -> TrackedCandidates:
        return TrackedCandidates(self.usage, queries, *self._bodies(ctxt, queries))

    def _bodies(self, ctxt: context.RequestContext, queries: offers.Queries) -> list[offers.Offer]:
        self.asked += len(queries)
        return [self.placement.candidates(ctxt, pairs) for pairs in queries]


def _is_followed(queries: offers.Queries) -> bool:
    """Return whether answers to these queries can be kept: they name one group and no provider."""
    keys = {key for pairs in queries for key, _value in pairs}
    suffixed = any(key.startswith('resources') and key != 'resources' for key in keys)
    return not suffixed and 'in_tree' not in keys
