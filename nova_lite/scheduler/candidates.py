"""Allocation candidates: one query to placement for equal concurrent requests.

An answer is reused for a short time. Resources that decisions have claimed since are noted in it,
so that claims which placement would refuse are rare. With many hosts placement needs seconds for an
answer. Then the former answer serves until the next one comes, and claims of that time are noted in
both. Source: reference/budgets. See decision 0044.
"""

import collections
import collections.abc
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts

SHAPES = 64
# An answer about many hosts is not reused longer, and serves as long again while the next one is
# expected; see `host_states.kept_s`.
LONGEST_S = 30
# A claim or, with -1, its end.
Note: typing.TypeAlias = tuple[offers.AllocationRequest, int]


class Candidates:
    """One answer of placement: allocation requests by each provider of their trees.

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
        # (snapshot, offered, uuids): see `among`
        self._ordered: tuple[hosts.Snapshot, frozenset[str], list[str]] | None = None
        self._notes: list[Note] | None = None

    def __bool__(self) -> bool:
        return bool(self.offered)

    def of(self, uuid: str) -> collections.abc.Sequence[offers.AllocationRequest]:
        """Return the allocation requests that involve a provider, in placement's order."""
        return self._of.get(uuid, ())

    def among(self, snapshot: hosts.Snapshot) -> list[hosts.HostState]:
        """Return the hosts of a snapshot that are offered, in the order of the snapshot.

        The order is found once, so that a decision looks at no other hosts.
        """
        known = self._ordered
        if known is None or known[0] is not snapshot or known[1] is not self.offered:
            offered = self.offered
            known = snapshot, offered, snapshot.in_order(offered)
            self._ordered = known
        states = snapshot.hosts
        return [states[uuid] for uuid in known[2]]

    def take(self, request: offers.AllocationRequest) -> bool:
        """Note the claim of an allocation request. Return False if it no longer fits."""
        with self._lock:
            if not all(self._fits(*amount) for amount in _amounts(request)):
                return False
            self._note(request, 1)
            return True

    def give_back(self, request: offers.AllocationRequest) -> None:
        """Remove the note of a claim that was not made."""
        with self._lock:
            self._note(request, -1)

    def keep_notes(self) -> None:
        """Keep a list of further claims until `end_notes`."""
        with self._lock:
            self._notes = []

    def end_notes(self) -> list[Note]:
        """Return the claims since `keep_notes`, and keep no more of them."""
        with self._lock:
            notes, self._notes = self._notes, None
        return notes or []

    def adopt(self, notes: list[Note]) -> None:
        """Add claims that were noted in the former answer while this one was expected.

        Placement may have counted some of them already. That makes the host look fuller than it is
        until the next answer, while a claim too few would lead to a refused claim.
        """
        with self._lock:
            for request, sign in notes:
                self._add(request, sign)

    def _fits(self, uuid: str, resource: str, amount: int) -> bool:
        capacity = self._capacity.get(uuid, {}).get(resource)
        return capacity is None or self._used[uuid][resource] + amount <= capacity

    def _note(self, request: offers.AllocationRequest, sign: int) -> None:
        self._add(request, sign)
        if self._notes is not None:
            self._notes.append((request, sign))

    def _add(self, request: offers.AllocationRequest, sign: int) -> None:
        for uuid, resource, amount in _amounts(request):
            if resource in self._used.get(uuid, ()):
                self._used[uuid][resource] += sign * amount


def _providers(
    request: offers.AllocationRequest, summaries: dict[str, offers.Summary]
) -> dict[str, None]:
    """Return the providers of an allocation request, and the roots of their trees."""
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
    """An answer, received or still expected. asked, came: monotonic seconds of both events

    former: the answer that serves until this one has come, or None
    size: number of providers in the received answer
    """

    def __init__(
        self, version: host_states.Version | None, asked: float, former: '_Answer | None'
    ) -> None:
        self.version, self.asked, self.former = version, asked, former
        self.came: float | None = None
        self.size = 0
        self.future: runtime.Future[Candidates] = runtime.Future()

    def serves(
        self, version: host_states.Version | None, since: float | None, reuse_s: float
    ) -> bool:
        """Return whether a request of this version may use the answer; see Source.get."""
        if self.version != version:
            return False
        if since is not None and self.asked < since:
            return False
        if self.came is None or since is not None:
            return True
        return runtime.monotonic() - self.came < self._kept_s(reuse_s)

    def may_bridge(self, version: host_states.Version | None, reuse_s: float) -> bool:
        """Return whether the answer may serve while the next one is expected.

        It is about many hosts, and took long.
        """
        if self.came is None or self.version != version or self.size < host_states.MANY:
            return False
        kept_s = self._kept_s(reuse_s)
        return reuse_s < kept_s and runtime.monotonic() - self.came < 2 * kept_s

    def _kept_s(self, reuse_s: float) -> float:
        if self.came is None:
            return reuse_s
        took_s = self.came - self.asked
        return host_states.kept_s(reuse_s, took_s, hosts=self.size, longest_s=LONGEST_S)


class Source:
    """Queries placement. Safe to use from several threads.

    reuse_s: seconds for which an answer is reused, see `host_states.kept_s`
    """

    def __init__(self, placement: placements.Placement, reuse_s: float) -> None:
        self.placement = placement
        self.reuse_s = reuse_s
        self._lock = runtime.Lock()
        self._answers: collections.OrderedDict[offers.Queries, _Answer] = collections.OrderedDict()

    def get(
        self,
        ctxt: context.RequestContext,
        queries: offers.Queries,
        *,
        version: host_states.Version | None = None,
        since: float | None = None,
    ) -> Candidates:
        """Return the Candidates for one or more queries together.

        queries: tuples of (key, value) pairs; version: answers of another version are not used
        since: monotonic seconds; queries sent before that time are not used
        Raises the errors of placement's client.
        """
        with self._lock:
            answer = self._answers.get(queries)
            if answer is not None and answer.serves(version, since, self.reuse_s):
                mine = False
                former = answer.former
                bridges = former is not None and former.may_bridge(version, self.reuse_s)
                if since is None and former is not None and bridges:
                    answer = former
            else:
                answer = self._expect(answer, version)
                self._answers[queries] = answer
                mine = True
            self._answers.move_to_end(queries)
            while len(self._answers) > SHAPES:
                self._answers.popitem(last=False)
        if mine:
            self._ask(ctxt, queries, answer)
        return answer.future.result()

    def _expect(self, known: _Answer | None, version: host_states.Version | None) -> _Answer:
        """Return a new answer, which is expected. known: the newest answer so far"""
        former = None
        if known is not None and known.may_bridge(version, self.reuse_s):
            former = known
            former.future.result().keep_notes()
        return _Answer(version, runtime.monotonic(), former)

    def _ask(self, ctxt: context.RequestContext, queries: offers.Queries, answer: _Answer) -> None:
        """Send the queries and fill in the answer, for which other threads may wait."""
        try:
            bodies = [self.placement.candidates(ctxt, pairs) for pairs in queries]
            found = Candidates(*bodies)
            if answer.former is not None:
                found.adopt(answer.former.future.result().end_notes())
            answer.size = len(found.offered)
            answer.came = runtime.monotonic()
            answer.former = None
            answer.future.set_result(found)
        except exception.NovaLiteError as error:
            answer.future.set_exception(error)
        finally:
            if answer.came is None:
                answer.future.cancel()
                with self._lock:
                    if self._answers.get(queries) is answer:
                        del self._answers[queries]

    def invalidate(self) -> None:
        """Drop all answers. An expected answer serves only the threads that already wait for it."""
        with self._lock:
            self._answers.clear()
