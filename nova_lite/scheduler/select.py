"""The decision: which host for which server, as a function of its arguments.

It reads and writes only its arguments; the one effect, the claim, is a callable. The same
arguments and the same generator give the same decision.
Source: reference/nova/scheduling 1, 5 to 8.
"""

import collections.abc
from collections.abc import Iterable
import dataclasses
import functools
import itertools
import logging
import typing

import os_resource_classes as orc
from oslo_log import log

from nova_lite import runtime
from nova_lite.clients import offers as shapes
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import pinning
from nova_lite.scheduler import candidates as offers
from nova_lite.scheduler import decisions
from nova_lite.scheduler import hosts as known
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base as filtering
from nova_lite.scheduler.weighers import base as weighing

HostState: typing.TypeAlias = known.HostState
Request: typing.TypeAlias = scheduling_request.Request
# The type of the claim: a function of a server, a host and an allocation request (None without
# placement) that returns whether the claim was made.
Claim: typing.TypeAlias = collections.abc.Callable[[str, HostState, typing.Any], bool]

LOG = log.getLogger(__name__)

# Number of the best hosts whose weights are stored and logged.
WEIGHED = 10
# Number of allocation requests with PCI devices that are tried on a host.
MOST_REQUESTS = 200


@dataclasses.dataclass(frozen=True)
class Rules:
    """The configured filters and weighers.

    alternates: number per server; subset: size of the subset of best hosts from which one is
        picked at random; shuffle: put hosts of equal weight in random order
    """

    filters: tuple[filtering.Filter, ...]
    weighers: tuple[weighing.Weigher, ...]
    alternates: int = 2
    subset: int = 1
    shuffle: bool = False


@dataclasses.dataclass(frozen=True)
class Choice:
    """A host for one server. request: the allocation request that was or would be claimed"""

    host: HostState
    request: shapes.AllocationRequest | None


@dataclasses.dataclass
class Outcome:
    """The result of a decision.

    chosen: {server uuid: Choice}; servers without a host are missing
    alternates: {server uuid: [Choice, ...]}
    weights: {server uuid: {host: {weigher: weight}}} of the best hosts for the server
    claim_refused: whether a host had no room for what placement had offered. A new answer may offer
        more: others have claimed since, or the answer was limited
    """

    chosen: dict[str, Choice] = dataclasses.field(default_factory=dict)
    alternates: dict[str, list[Choice]] = dataclasses.field(default_factory=dict)
    weights: decisions.Weights = dataclasses.field(default_factory=dict)
    refusals: decisions.Refusals = dataclasses.field(default_factory=decisions.Refusals)
    claim_refused: bool = False


def select(
    request: Request,
    hosts: list[HostState],
    candidates: offers.Candidates | None,
    rules: Rules,
    *,
    claim: Claim,
    rng: runtime.Random,
) -> Outcome:
    """Choose a host, and alternates, for each server of a request.

    hosts: [HostState, ...]; candidates: Candidates, or None to decide without placement
    claim: function of (server uuid, HostState, allocation request) that returns whether it claimed
    rng: random.Random
    Returns an Outcome. If it is incomplete, the caller must release the claims.
    """
    return _Selection(request, candidates, rules, claim=claim, rng=rng).run(hosts)


class _Selection:
    """One run of `select`."""

    def __init__(
        self,
        request: Request,
        candidates: offers.Candidates | None,
        rules: Rules,
        *,
        claim: Claim,
        rng: runtime.Random,
    ) -> None:
        self.request, self.candidates, self.rules = request, candidates, rules
        self.claim, self.rng = claim, rng
        self.outcome = Outcome()
        self.refusals = self.outcome.refusals

    def run(self, hosts: list[HostState]) -> Outcome:
        hosts = self._admit(hosts)
        if not self.request.is_forced:
            hosts = self._filter(hosts, once=True)
        ranked: list[HostState] = []
        for uuid in self.request.instance_uuids:
            ranked = self._rank(uuid, hosts)
            choice = self._take(uuid, ranked)
            if choice is None:
                return self.outcome
            self.outcome.chosen[uuid] = choice
            after = self._consume(choice)
            hosts = [after if host.uuid == after.uuid else host for host in hosts]
        self._choose_alternates(ranked)
        return self.outcome

    # ---- the suitable hosts ----

    def _admit(self, hosts: list[HostState]) -> list[HostState]:
        """Return the hosts that placement offers and whose names the request allows."""
        admitted = []
        if self.candidates is not None:
            offered = self.candidates.offered
            hosts = [host for host in hosts if host.uuid in offered]
        if self.request.is_unbound and all(host.mapped for host in hosts):
            return hosts
        for host in hosts:
            refusal = self._rule_out(host)
            if refusal is None:
                admitted.append(host)
            else:
                self.refusals.add(*refusal)
        return admitted

    def _rule_out(self, host: HostState) -> tuple[str, str, str] | None:
        request, wanted = self.request, self.request.destination
        if not host.mapped:
            return (
                'discovery',
                host.host,
                'not mapped to a cell; run nova-lite-manage cell_v2 discover_hosts',
            )
        if request.missing_device is not None:
            return 'devices', host.host, request.missing_device
        if host.host.lower() in request.ignore_hosts:
            return 'ignore_hosts', host.host, 'excluded by the request'
        if request.force_hosts and host.host.lower() not in request.force_hosts:
            return 'forced host', host.host, 'another host was requested'
        if request.force_nodes and host.node not in request.force_nodes:
            return 'forced host', host.host, 'another node was requested'
        if wanted is None:
            return None
        if wanted.host is not None and host.host != wanted.host:
            return 'requested host', host.host, f'host {wanted.host} was requested'
        if wanted.node is not None and host.node != wanted.node:
            return 'requested host', host.host, f'node {wanted.node} was requested'
        if (cell := wanted.only_cell) and host.cell_uuid != cell:
            return 'cell', host.host, 'in another cell than the server'
        return None

    def _filter(self, hosts: list[HostState], *, once: bool) -> list[HostState]:
        """Return the hosts that pass the filters with this value of `once`."""
        for rule_filter in self.rules.filters:
            if rule_filter.once is not once:
                continue
            if self.request.is_rebuild and not rule_filter.on_rebuild:
                continue
            refuse = rule_filter.rule(self.request)
            if refuse is not None and hosts:
                hosts = self._apply(rule_filter.name, refuse, hosts)
        return hosts

    def _apply(
        self, name: str, refuse: filtering.Refuse, hosts: list[HostState]
    ) -> list[HostState]:
        passed, refused = [], {}
        for host in hosts:
            reason = refuse(host)
            if reason is None:
                passed.append(host)
            else:
                refused[host.host] = reason
                self.refusals.add(name, host.host, reason)
        LOG.debug('%s passes %s of %s hosts, refuses %s', name, len(passed), len(hosts), refused)
        return passed

    # ---- the best host ----

    def _rank(self, uuid: str, hosts: list[HostState]) -> list[HostState]:
        """Return the hosts for the next server, the best first."""
        self.refusals.clear(host.host for host in hosts)
        if not self.request.is_forced:
            hosts = self._filter(hosts, once=False)
        weights = weighing.weigh(hosts, self.rules.weighers, self.request)
        order = list(range(len(hosts)))
        if self.rules.shuffle:
            self.rng.shuffle(order)
        order.sort(key=weights.sums.__getitem__, reverse=True)
        best = order[:WEIGHED]
        self.outcome.weights[uuid] = {hosts[index].host: weights.of(index) for index in best}
        if LOG.isEnabledFor(logging.DEBUG):
            named = [f'{hosts[index]} {weights.sums[index]:.3f}' for index in best]
            LOG.debug('The best of %s hosts: %s', len(hosts), ', '.join(named))
        return self._draw([hosts[index] for index in order])

    def _draw(self, ranked: list[HostState]) -> list[HostState]:
        """Put one of the best hosts, picked at random, first."""
        if self.rules.subset < 2 or len(ranked) < 2:
            return ranked
        index = self.rng.randrange(min(self.rules.subset, len(ranked)))
        if not index:
            return ranked
        return [ranked[index], *ranked[:index], *ranked[index + 1 :]]

    def _take(self, uuid: str, ranked: list[HostState]) -> Choice | None:
        """Claim on the hosts in order until a claim succeeds. Return the Choice, or None."""
        for host in ranked:
            for wanted in self._wanted(host):
                if self.claim(uuid, host, wanted):
                    LOG.debug('Server %s goes to %s', uuid, host)
                    return Choice(host, wanted)
            self.outcome.claim_refused = True
            self.refusals.add('claim', host.host, 'not enough resources left')
        return None

    def _wanted(self, host: HostState) -> Iterable[shapes.AllocationRequest | None]:
        """Return the allocation requests to try on a host: the first, or those with fit devices.

        On a host that the request forces, the others are tried after these.
        """
        if self.candidates is None:
            return (None,)
        offered = self.candidates.of(host.uuid)
        if self._needs_dedicated(host):
            offered = [each for each in offered if _counts_dedicated(each)]
        if not self.request.has_placed_devices:
            return offered[:1]
        fit = functools.partial(self._has_fit_devices, host)
        if not self.request.is_forced:
            return filter(fit, itertools.islice(offered, MOST_REQUESTS))
        tried = offered[:MOST_REQUESTS]
        return itertools.chain(filter(fit, tried), itertools.filterfalse(fit, tried))

    def _needs_dedicated(self, host: HostState) -> bool:
        """Return whether a host must count the dedicated CPUs of the guest as such.

        The second query of a pinned guest has them as shared CPUs, for hosts without dedicated
        ones. Hosts with threads that hold whole cores for a guest are found by it alone.
        """
        guest = self.request.guest
        if not (guest.dedicated and host.has_dedicated_cpus):
            return False
        return guest.cpu_thread_policy != pinning.ISOLATE or not host.has_threads

    def _has_fit_devices(self, host: HostState, wanted: shapes.AllocationRequest) -> bool:
        """Return whether the guest fits into a host with devices of an allocation request."""
        coming = known.Coming(self.request.guest, self.request.given(host.uuid, wanted))
        return not isinstance(coming.fit(host.rooms(), host.ratios), fitting.Misfit)

    def _consume(self, choice: Choice) -> HostState:
        """Return a copy of the host with the server on it. Count it in the server's group."""
        request, host = self.request, choice.host
        if request.group is not None:
            request.group.members_on[host.host] += 1
        given = request.given(host.uuid, choice.request)
        return host.with_server(request.size, request.image_properties, request.guest, given=given)

    # ---- alternates ----

    def _choose_alternates(self, ranked: list[HostState]) -> None:
        """Return alternates in the chosen host's cell, the best first.

        Nothing is claimed on them.
        """
        taken = {choice.host.uuid for choice in self.outcome.chosen.values()}
        free = [host for host in ranked if host.uuid not in taken]
        for uuid, choice in self.outcome.chosen.items():
            suitable = (
                Choice(host, wanted)
                for host in free
                if host.cell_uuid == choice.host.cell_uuid
                for wanted in itertools.islice(self._wanted(host), 1)
            )
            self.outcome.alternates[uuid] = [*itertools.islice(suitable, self.rules.alternates)]


def _counts_dedicated(wanted: shapes.AllocationRequest) -> bool:
    """Return whether an allocation request has dedicated CPUs."""
    return any(orc.PCPU in part['resources'] for part in wanted['allocations'].values())
