"""The manager of the scheduler. It delegates: `decide` makes the decisions."""

import collections
import collections.abc
import contextlib
import functools
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import metrics
from nova_lite import runtime
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.db.api import sagas
from nova_lite.db.cell import services
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import spec_payloads
from nova_lite.notify import watch
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.runtime import workers
from nova_lite.scheduler import candidates
from nova_lite.scheduler import decide
from nova_lite.scheduler import decisions
from nova_lite.scheduler import filters
from nova_lite.scheduler import host_states
from nova_lite.scheduler import joined_claims
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler import segments
from nova_lite.scheduler import select
from nova_lite.scheduler import weighers
from nova_lite.scheduler import why

LOG = log.getLogger(__name__)

# Decisions about the same server group are made one after the other. So many groups have a lock.
GROUP_LOCKS = 64
# Decisions of calls for several requests that are made at the same time.
THREADS = 20

BINARY, TOPIC = 'nova-scheduler', 'scheduler'


class SchedulerManager:
    """Implements SchedulerAPI.

    cells: cells.Cells; placement: clients.placement.Placement
    network: the network service's client, for routed networks only
    notices: notify.watch.Notices, to which decisions are reported
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        cells: deployment.Cells,
        placement: placements.Placement,
        network: networks.Network,
        *,
        notices: watch.Notices | None = None,
    ) -> None:
        self._notices = notices
        self.world = decide.World(
            conf=conf,
            cells=cells,
            placement=placement,
            joined=joined_claims.JoinedClaims(placement),
            states=host_states.HostStates(conf, cells),
            source=candidates.Source(placement, conf.scheduler.candidates_reuse_s),
            rules=rules(conf),
            segment_aggregates=segments.Segments(network, placement),
        )
        self.decisions = decisions.Decisions(conf.scheduler.remembered_decisions)
        self._threads = workers.Executor(THREADS)
        self._group_locks = [runtime.Lock() for _ in range(GROUP_LOCKS)]

    def start(self) -> None:
        """Add the service of this scheduler."""
        self.beat()

    def beat(self) -> None:
        """Record this scheduler's heartbeat in the API database."""
        world = self.world
        world.cells.cell0.db.write(services.beat, [world.conf.host], BINARY, TOPIC)

    def heartbeats(self) -> list[tuple[float, collections.abc.Callable[[], None]]]:
        """Return [(seconds, method)] of the heartbeats of the scheduler."""
        return [(self.world.conf.report_interval, self.beat)]

    def select_destinations(
        self,
        ctxt: context.RequestContext,
        spec: request_spec.RequestSpec,
        instance_uuids: collections.abc.Iterable[str],
        alternates: bool = True,
        beside: collections.abc.Iterable[str] = (),
        claims: bool = True,
        fresh: bool = False,
    ) -> list[list[selection.Selection]]:
        """Choose and claim a host for each server; see SchedulerAPI.

        A call for a saga that has a newer epoch claims nothing.
        """
        if ctxt.saga is not None:
            api_db = self.world.cells.api_db
            ctxt = ctxt.guarded(functools.partial(api_db.read, sagas.require_newest, ctxt))
        self._tell(ctxt, spec, 'start')
        decision = decide.Decision(
            self.world, ctxt, spec, instance_uuids, beside=beside, claims=claims, fresh=fresh
        )
        outcome = metrics.OK
        try:
            with self._one_at_a_time(spec.group_uuid):
                found = decision.run(alternates=alternates)
        except exception.NovaLiteError as error:
            outcome = type(error).__name__
            raise
        finally:
            self.decisions.add(decision.record)
            metrics.DECISIONS.labels(outcome=outcome).inc()
            self._log(decision)
            refusals = decision.record.refusals.of_host.values()
            for stage, count in collections.Counter(stage for stage, _reason in refusals).items():
                metrics.REFUSED.labels(filter=stage).inc(count)
        self._tell(ctxt, spec, 'end')
        return found

    def select_each(
        self, ctxt: context.RequestContext, requests: list[scheduler_rpc.Request]
    ) -> list[scheduler_rpc.Answer]:
        """Decide about several requests beside each other, so that their claims meet."""
        decisions = [self._threads.submit(self._answer, request) for request in requests]
        return [decision.result() for decision in decisions]

    def _answer(self, request: scheduler_rpc.Request) -> scheduler_rpc.Answer:
        ctxt = context.RequestContext.from_wire(request['context'])
        uuids, alternates = request['instance_uuids'], request['alternates']
        with ctxt.bound():
            try:
                found = self.select_destinations(ctxt, request['spec'], uuids, alternates)
            except exception.NovaLiteError as error:
                LOG.debug('No host for %s: %s', uuids, error)
                refusal = error
            except Exception as error:
                # A defect, for example of a plugin. The other requests have their own answers.
                LOG.exception('The decision about %s failed', uuids)
                refusal = exception.RemoteError(type=type(error).__name__, value=str(error))
            else:
                return {'selections': found, 'error': None}
        return {
            'selections': [],
            'error': (type(refusal).__name__, refusal.message, refusal.kwargs),
        }

    def _log(self, decision: decide.Decision) -> None:
        record = decision.record
        if LOG.isEnabledFor(log.DEBUG):
            LOG.debug(
                'Decision about %s: chosen %s; refused %s; not offered by placement %s; error %s',
                record.instance_uuids,
                record.chosen,
                record.refusals.of_host,
                decision.not_offered(),
                record.error,
            )

    def _tell(
        self, ctxt: context.RequestContext, spec: request_spec.RequestSpec, phase: str
    ) -> None:
        if self._notices is not None:
            self._notices.scheduling(ctxt, spec, phase, _parts_of)

    def why(
        self,
        ctxt: context.RequestContext,
        instance_uuid: str,
        host: str | None = None,
        scheduler: str | None = None,
    ) -> dict[str, typing.Any]:
        """Return the reasons for hosts in the last decision about a server; see SchedulerAPI."""
        record = self.decisions.get(instance_uuid)
        return why.describe(self.world, ctxt, record, instance_uuid, host)

    def invalidate(self) -> None:
        """Drop the cached hosts and answers of placement (SIGHUP, tests)."""
        self.world.source.invalidate()
        self.world.states.invalidate()

    def _one_at_a_time(
        self, group_uuid: str | None
    ) -> contextlib.AbstractContextManager[bool | None]:
        """Return a context in which no other request for the same group is decided."""
        if group_uuid is None:
            return contextlib.nullcontext()
        return self._group_locks[hash(group_uuid) % GROUP_LOCKS]


def _parts_of(spec: request_spec.RequestSpec) -> spec_payloads.Parts:
    return spec_parts.of(spec.instance_uuid, scheduling_request.guest_of(spec))


def rules(conf: cfg.ConfigOpts) -> select.Rules:
    """Return the Rules that the configuration names. Raise Invalid for unknown names."""
    options = conf.filter_scheduler
    try:
        return select.Rules(
            filters=tuple(filters.load(conf)),
            weighers=tuple(weighers.load(conf)),
            alternates=conf.scheduler.max_attempts - 1,
            subset=options.host_subset_size,
            shuffle=options.shuffle_best_same_weighed_hosts,
        )
    except ValueError as error:
        raise exception.Invalid(reason=error) from error
