"""Allocation candidates: one query to placement for equal concurrent requests.

An answer is reused for a short time. What decisions took of it since is noted,
so that a claim which would be refused is seldom tried. Source: reference/budgets.
"""

import collections
import collections.abc

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import offers
from nova_lite.scheduler import host_states
from nova_lite.scheduler import protocols

LOG = log.getLogger(__name__)

SHAPES = 64


class Candidates:
    """One answer: allocation requests by every provider of their trees.

    capacity: {provider: {resource class: amount}}, ratios and reserves applied
    """

    def __init__(self, *bodies: offers.Offer) -> None:
        self._lock = runtime.Lock()
        self._used: dict[str, dict[str, int]] = {}
        self._capacity: dict[str, dict[str, int]] = {}
        self._of: dict[str, list[offers.AllocationRequest]] = collections.defaultdict(list)
        for body in bodies:
            summaries = body['provider_summaries']
            for uuid, summary in summaries.items():
                resources = summary['resources']
                self._capacity[uuid] = {name: r['capacity'] for name, r in resources.items()}
                self._used[uuid] = {name: r['used'] for name, r in resources.items()}
            for request in body['allocation_requests']:
                for uuid in _providers(request, summaries):
                    self._of[uuid].append(request)
        self.offered = frozenset(self._of)

    def __bool__(self) -> bool:
        return bool(self.offered)

    def of(self, uuid: str) -> collections.abc.Sequence[offers.AllocationRequest]:
        """Return the allocation requests that involve a provider, in placement's order."""
        return self._of.get(uuid, ())

    def take(self, request: offers.AllocationRequest) -> bool:
        """Note that an allocation request is claimed; False when it no longer fits."""
        with self._lock:
            if not all(self._fits(*amount) for amount in _amounts(request)):
                return False
            self._add(request, 1)
            return True

    def give_back(self, request: offers.AllocationRequest) -> None:
        """Note that a claim was not made after all."""
        with self._lock:
            self._add(request, -1)

    def _fits(self, uuid: str, resource: str, amount: int) -> bool:
        capacity = self._capacity.get(uuid, {}).get(resource)
        return capacity is None or self._used[uuid][resource] + amount <= capacity

    def _add(self, request: offers.AllocationRequest, sign: int) -> None:
        for uuid, resource, amount in _amounts(request):
            if resource in self._used.get(uuid, ()):
                self._used[uuid][resource] += sign * amount


def _providers(
    request: offers.AllocationRequest, summaries: dict[str, offers.Summary]
) -> dict[str, None]:
    """Return providers of an allocation request, and the roots of their trees."""
    found = dict.fromkeys(request['allocations'])
    for uuid in list(found):
        summary = summaries.get(uuid)
        root = summary.get('root_provider_uuid') if summary else None
        if root is not None:
            found[root] = None
    return found


def _amounts(
    request: offers.AllocationRequest,
) -> collections.abc.Iterator[tuple[str, str, int]]:
    for uuid, part in request['allocations'].items():
        for resource, amount in part['resources'].items():
            yield uuid, resource, amount


class _Answer:
    """An answer that is on its way or has come. asked, came: monotonic seconds."""

    def __init__(self, version: host_states.Version | None, asked: float) -> None:
        self.version, self.asked = version, asked
        self.came: float | None = None
        self.future: runtime.Future[Candidates] = runtime.Future()

    def serves(
        self, version: host_states.Version | None, since: float | None, reuse_s: float
    ) -> bool:
        """Return whether a request may have this answer."""
        if self.version != version:
            return False
        if since is not None and self.asked < since:
            return False
        if self.came is None or since is not None:
            return True
        return runtime.monotonic() - self.came < max(reuse_s, self.came - self.asked)


class Source:
    """Asks placement. Safe to use from several threads.

    reuse_s: how long an answer may serve further requests; one that took longer
    than this to come is kept as long as it took
    """

    def __init__(self, placement: protocols.Placement, reuse_s: float) -> None:
        self.placement = placement
        self.reuse_s = reuse_s
        self._lock = runtime.Lock()
        self._answers: collections.OrderedDict[protocols.Queries, _Answer] = (
            collections.OrderedDict()
        )

    def get(
        self,
        ctxt: context.RequestContext,
        queries: protocols.Queries,
        *,
        version: host_states.Version | None = None,
        since: float | None = None,
    ) -> Candidates:
        """Return the Candidates for one or more queries together.

        queries: tuples of (key, value) pairs; version: an answer of another version
        is not used; since: monotonic seconds, it must have been asked for after that
        Raises what placement's client raises.
        """
        with self._lock:
            answer = self._answers.get(queries)
            if answer is not None and answer.serves(version, since, self.reuse_s):
                mine = False
            else:
                answer = _Answer(version, runtime.monotonic())
                self._answers[queries] = answer
                mine = True
            self._answers.move_to_end(queries)
            while len(self._answers) > SHAPES:
                self._answers.popitem(last=False)
        if mine:
            self._ask(ctxt, queries, answer)
        return answer.future.result()

    def _ask(
        self, ctxt: context.RequestContext, queries: protocols.Queries, answer: _Answer
    ) -> None:
        """Fill in an answer that others may be waiting for by now."""
        try:
            bodies = [self.placement.candidates(ctxt, pairs) for pairs in queries]
            answer.future.set_result(Candidates(*bodies))
            answer.came = runtime.monotonic()
        except exception.NovaLiteError as error:
            answer.future.set_exception(error)
        finally:
            if answer.came is None:
                answer.future.cancel()
                with self._lock:
                    if self._answers.get(queries) is answer:
                        del self._answers[queries]

    def invalidate(self) -> None:
        """Forget all answers; those on their way serve who waits for them already."""
        with self._lock:
            self._answers.clear()
