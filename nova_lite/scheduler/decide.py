"""One scheduling request from start to end: ask, select, claim, remember.

Source: reference/nova/scheduling 1.
"""

import collections.abc
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import placement as client
from nova_lite.clients import placement as placements
from nova_lite.db.cell import services
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.scheduler import allocation_claims
from nova_lite.scheduler import candidates
from nova_lite.scheduler import decisions
from nova_lite.scheduler import device_groups
from nova_lite.scheduler import features
from nova_lite.scheduler import groups
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from nova_lite.scheduler import joined_claims
from nova_lite.scheduler import query
from nova_lite.scheduler import request_filters
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler import select
from nova_lite.scheduler.filters import host_load

LOG = log.getLogger(__name__)

# The version of placement's API in which an allocation request is sent back.
REQUEST_VERSION = client.MICROVERSION.split()[-1]
NOT_ENOUGH = 'There are not enough hosts available.'


class World(typing.NamedTuple):
    """The databases and clients that decisions use; created once by the manager.

    joined: claims for new servers, those that wait together as one request
    segment_aggregates: see request_filters.Deployment
    """

    conf: cfg.ConfigOpts
    cells: deployment.Cells
    placement: placements.Placement
    joined: joined_claims.JoinedClaims
    states: host_states.HostStates
    source: candidates.Source
    rules: select.Rules
    segment_aggregates: collections.abc.Callable[
        [context.RequestContext, str | None, str | None], set[str] | None
    ]


class Decision:
    """A decision about a batch of equal servers. `record` describes it afterwards."""

    def __init__(
        self,
        world: World,
        ctxt: context.RequestContext,
        spec: request_spec.RequestSpec,
        instance_uuids: collections.abc.Iterable[str],
        *,
        beside: collections.abc.Iterable[str] = (),
        claims: bool = True,
        fresh: bool = False,
    ) -> None:
        self.world, self.ctxt, self.spec = world, ctxt, spec
        self.beside, self._claims, self._fresh = tuple(beside), claims, fresh
        self.uuids = list(instance_uuids)
        self.record = decisions.Record(ctxt.request_id, tuple(self.uuids))
        self.group: scheduling_request.Group | None = None
        self.hosts_of: scheduling_request.HostsOf = {}
        # Both are set after the hosts were read.
        self.snapshot: hosts.Snapshot
        self.request: scheduling_request.Request

    def run(self, *, alternates: bool = True) -> list[list[selection.Selection]]:
        """Decide and claim.

        Return [[Selection, *alternates], ...], one list per server, in order.
        """
        try:
            outcome = self._rebuild() if self._is_rebuild() else self._decide()
        except exception.NovaLiteError as error:
            self.record.error = error.message
            self.record.filtered = isinstance(error, exception.RequestFilterFailed)
            if isinstance(error, exception.Invalid):
                # Other daemons do not know the classes of refusals of flavors and images.
                raise exception.Invalid(error.message) from error
            raise
        self.record.chosen = {uuid: choice.host.host for uuid, choice in outcome.chosen.items()}
        self.record.alternates = {
            uuid: [choice.host.host for choice in found]
            for uuid, found in outcome.alternates.items()
        }
        return [
            [
                self._selection(choice)
                for choice in (
                    outcome.chosen[uuid],
                    *(outcome.alternates.get(uuid, ()) if alternates else ()),
                )
            ]
            for uuid in self.uuids
        ]

    def _decide(self) -> select.Outcome:
        """Try with reused data, unless told not to. If that fails, read them again and retry.

        Data that were read since the decision began are new enough, unless a claim was refused.
        """
        started = runtime.monotonic()
        version = self.world.states.version()
        self._read(version)
        outcome = self._attempt(version, started if self._fresh else None)
        if len(outcome.chosen) < len(self.uuids):
            # A former move of a server may have been undone before any record showed it.
            for uuid in self.uuids:
                self.world.states.withdraw(uuid)
            since = runtime.monotonic() if outcome.claim_refused else started
            outcome = self._attempt(version, since)
        if len(outcome.chosen) == len(self.uuids):
            return outcome
        raise exception.NoValidHost(reason=self._explain(), silent=self._silent())

    def _silent(self) -> str | None:
        """Return `silent` of a NoValidHost: why a host cannot be used that may be used soon."""
        found = self._silence_of_hosts()
        if self.snapshot.missing and self._wants_missing():
            found.add(services.UNREACHABLE)
        for silent in (services.UNHEARD, services.UNREACHABLE, services.SILENT):
            if silent in found:
                return silent
        return None

    def _wants_missing(self) -> bool:
        """Return whether a host may fit that is in no cell which has answered."""
        cell = self.request.destination and self.request.destination.only_cell
        if cell and cell not in self.snapshot.missing:
            return False
        if self.record.wanted is None:
            return self._named() == []
        return not self.snapshot.hosts.keys() >= set(self.record.offered)

    def _silence_of_hosts(self) -> set[str | None]:
        """Return `silent` of the hosts that are refused for want of heartbeats alone."""
        refused, by = self.record.refusals.of_host, host_load.ComputeFilter.__name__
        awaited = [
            host
            for host in self.snapshot.hosts.values()
            if host.silent is not None and refused.get(host.host, ('',))[0] == by
        ]
        # The filters after ComputeFilter have not checked these hosts.
        for rule_filter in self.world.rules.filters:
            refuse = None if rule_filter.name == by else rule_filter.rule(self.request)
            if refuse is not None:
                awaited = [host for host in awaited if refuse(host) is None]
        return {host.silent for host in awaited}

    def _read(self, version: host_states.Version) -> None:
        """Apply the request filters to the spec, and read the hosts of its group's members."""
        self.snapshot = self.world.states.get(version)
        self.record.notes = request_filters.apply(
            self.spec,
            request_filters.Deployment(
                self.world.conf.scheduler,
                aggregates=self.snapshot.aggregates,
                oldest_compute=self.snapshot.minimum_version,
                segment_aggregates=lambda *asked: self.world.segment_aggregates(self.ctxt, *asked),
            ),
        )
        rules = self.world.rules
        known = {one.name for one in rules.filters} | {one.name for one in rules.weighers}
        self.group, self.hosts_of = groups.read(
            self.world.cells, self.world.states, self.spec, known, own=self.uuids
        )

    def _make_request(self) -> scheduling_request.Request:
        group = self.group.copy() if self.group else None
        return scheduling_request.Request(
            self.spec,
            self.uuids,
            group=group,
            hosts_of=self.hosts_of,
            placed_devices=self.world.conf.filter_scheduler.pci_in_placement,
        )

    def _attempt(self, version: host_states.Version, since: float | None) -> select.Outcome:
        self.snapshot = self.world.states.get(version, since=since)
        self.request = self._make_request()
        wanted = self._query()
        if wanted is None:
            return select.Outcome()
        answer = self._ask(wanted, version, since)
        world = self.world
        held = allocation_claims.Claims(
            world.placement,
            world.joined,
            world.states,
            self.ctxt,
            request=self.request,
            candidates=answer,
            beside=self.beside if self._claims else None,
        )
        together = len(self.uuids) > 1 and self.spec.current_host is None and since is None
        return self._claim(answer, held, together=together)

    def _claim(
        self, answer: candidates.Candidates, held: allocation_claims.Claims, *, together: bool
    ) -> select.Outcome:
        """Select hosts, and claim one by one or all together. Release incomplete claims."""
        complete = False
        try:
            outcome = self._select(answer, held.plan if together else held.claim)
            complete = len(outcome.chosen) == len(self.uuids)
            if complete and together and not held.carry_out():
                LOG.info('Placement refused a batch of claims; trying them one by one')
                complete, outcome.claim_refused = False, True
        finally:
            if not complete:
                held.give_back()
        if complete:
            return outcome
        return select.Outcome(refusals=outcome.refusals, claim_refused=outcome.claim_refused)

    def _select(self, answer: candidates.Candidates | None, claim: select.Claim) -> select.Outcome:
        if answer is None:
            states = self._current()
        else:
            states = answer.among(self.snapshot)
        outcome = select.select(
            self.request,
            states,
            answer,
            self.world.rules,
            claim=claim,
            rng=runtime.seeded_random(self.ctxt.request_id),
        )
        self.record.refusals, self.record.weights = outcome.refusals, outcome.weights
        return outcome

    # ---- placement ----

    def _query(self) -> query.ResourceRequest | None:
        """Return the resource request; None if the requested host is unknown."""
        limit = self.world.conf.scheduler.max_placement_results
        named = self._named()
        if named is None:
            return self._build(limit=limit)
        if not named:
            return None
        if len(named) > 1:
            return self._build()
        destination = self.spec.requested_destination
        if destination is not None and (destination.host or destination.node):
            destination.host, destination.node = named[0].host, named[0].node
        return self._build(limit=limit, in_tree=named[0].uuid)

    def _build(
        self, *, limit: int | None = None, in_tree: str | None = None, pinned: bool = True
    ) -> query.ResourceRequest:
        """Return the resource request of the spec, see `query.build`."""
        placed = self.request.has_placed_devices
        devices = list(device_groups.of(self.spec)) if placed else []
        return query.build(self.spec, limit=limit, in_tree=in_tree, pinned=pinned, devices=devices)

    def _named(self) -> list[hosts.HostState] | None:
        """Return nodes of the requested host; None without one."""
        spec, destination = self.spec, self.spec.requested_destination
        if destination is not None and (destination.host or destination.node):
            return self.snapshot.named(destination.host, destination.node, destination.only_cell)
        if len(spec.force_hosts) > 1 or len(spec.force_nodes) > 1:
            return None
        if spec.force_hosts or spec.force_nodes:
            wanted = self.request
            return [
                host
                for host in self.snapshot.hosts.values()
                if (not wanted.force_hosts or host.host.lower() in wanted.force_hosts)
                and (not wanted.force_nodes or host.node in wanted.force_nodes)
            ]
        return None

    def _ask(
        self, wanted: query.ResourceRequest, version: host_states.Version, since: float | None
    ) -> candidates.Candidates:
        queries = [wanted.pairs()]
        if features.is_pinned(features.asked(self.spec)) and not (
            self.world.conf.workarounds.disable_fallback_pcpu_query
        ):
            tree = wanted.group().in_tree
            unpinned = self._build(limit=wanted.limit, in_tree=tree, pinned=False)
            queries.append(unpinned.pairs())
        self.record.queries, self.record.wanted = tuple(queries), wanted
        try:
            answer = self.world.source.get(self.ctxt, tuple(queries), version=version, since=since)
        except exception.Invalid as error:
            raise exception.NoValidHost(
                reason=f'Request to placement failed: {error.message}'
            ) from error
        self.record.offered = answer.offered
        LOG.debug('Placement offers %s providers for %s', len(answer.offered), queries)
        return answer

    # ---- rebuild with another image: may the server stay on its host? ----

    def _is_rebuild(self) -> bool:
        return self.spec.check_type == 'rebuild'

    def _current(self) -> list[hosts.HostState]:
        """Return the server's node, or all nodes of its host if the request does not name it."""
        destination = self.spec.requested_destination
        node = None if destination is None else destination.node
        return self.snapshot.named(self.spec.current_host, node)

    def _rebuild(self) -> select.Outcome:
        self.snapshot = self.world.states.get(self.world.states.version())
        self.request = self._make_request()
        outcome = self._select(None, lambda *_: True)
        if len(outcome.chosen) < len(self.uuids):
            raise exception.NoValidHost(reason=f'{NOT_ENOUGH} {self._first_refusal()}')
        self._require_traits()
        return outcome

    def _require_traits(self) -> None:
        """Raise NoValidHost if the host lacks a trait that a feature of the new image requires.

        A new server would not come to such a host. Nova does not ask; its hosts fail to start the
        guest, or start one without the feature.
        """
        wanted = request_filters.traits_of_guest(self.spec)
        for host in self._current() if wanted else ():
            missing = wanted - self.world.placement.providers.traits(self.ctxt, host.uuid)[0]
            if missing:
                reason = f'{host.host} lacks traits that the server requires: {sorted(missing)}.'
                raise exception.NoValidHost(reason=f'{NOT_ENOUGH} {reason}')

    # ---- the record and the reason ----

    def _selection(self, choice: select.Choice) -> selection.Selection:
        host = choice.host
        return selection.Selection(
            service_host=host.host,
            nodename=host.node,
            compute_node_uuid=host.uuid,
            cell_uuid=host.cell_uuid,
            availability_zone=hosts.zone_of(host, self.world.conf.default_availability_zone),
            allocation_request=allocation_claims.as_text(choice.request),
            allocation_request_version=REQUEST_VERSION if choice.request else None,
        )

    def not_offered(self) -> list[str]:
        """Return names of the hosts that were not among placement's candidates."""
        if self.record.wanted is None:
            return []  # placement was not queried
        return sorted(
            host.host
            for uuid, host in self.snapshot.hosts.items()
            if uuid not in self.record.offered
        )

    def _explain(self) -> str:
        """Return the reason of a NoValidHost, for the server's fault."""
        destination = self.spec.requested_destination
        if self.record.wanted is None and self._named() == []:
            names = [destination.host, destination.node] if destination else []
            names = names or [*self.spec.force_hosts, *self.spec.force_nodes]
            return f'No such host - {", ".join(str(name) for name in names if name)}'
        known = self.snapshot.hosts
        offered = sum(1 for uuid in self.record.offered if uuid in known)
        parts = [NOT_ENOUGH, self.record.refusals.summary(len(known), offered)]
        if len(self.record.refusals.of_host) == 1:
            parts.append(self._first_refusal())
        if self.snapshot.missing:
            parts.append(f'No answer from {", ".join(self.snapshot.missing.values())}.')
        return ' '.join(part for part in parts if part)

    def _first_refusal(self) -> str:
        for host, (stage, reason) in self.record.refusals.of_host.items():
            return f'{host}: {stage}: {reason}.'
        return ''
