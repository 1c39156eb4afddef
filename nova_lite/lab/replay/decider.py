"""Decisions of the real scheduler about machines of a trace, which no host builds."""

from collections.abc import Callable
from collections.abc import Iterable
import copy
import dataclasses
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import network
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.lab.replay import figures
from nova_lite.lab.replay import streamed_claims
from nova_lite.lab.replay import tracked_candidates
from nova_lite.lab.replay import tracked_hosts
from nova_lite.objects import flavor as flavors
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.scheduler import candidates
from nova_lite.scheduler import decide
from nova_lite.scheduler import decisions
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from nova_lite.scheduler import joined_claims
from nova_lite.scheduler import manager
from nova_lite.scheduler import segments

# Ids of servers and requests are drawn below this number, so that they depend on the seed alone.
NAMESPACE = '5f0c4a3e-9d2b-4c57-9a61-6f5c0a5b7d11'
PROJECT = USER = 'replay'
# A query that matches each host with a free vCPU.
EVERY_HOST = (('resources', 'VCPU:1'),)

# A function that claims the resources of a Selection, and returns whether placement accepts that.
Claim: typing.TypeAlias = Callable[[selection.Selection], bool]

# Stage of a decision that failed because a host lacks a metric that is required.
METRICS = 'metrics'


@dataclasses.dataclass(frozen=True)
class Placing:
    """The result of a decision. host: name, or None if the request was rejected

    stage: filter or other stage that refused the last hosts, '' if a host was chosen
    refused: {stage: number of hosts that it refused}
    """

    host: str | None
    stage: str = ''
    refused: dict[str, int] = dataclasses.field(default_factory=dict)


class Decider:
    """Places machines by the scheduler's decisions, and removes them.

    hosts: the TrackedHosts; seed: of the choice between hosts that the options leave open
    asks_always: whether to ask placement for candidates at each decision, which is slow
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        cells: deployment.Cells,
        states: list[hosts.HostState],
        *,
        aggregates: hosts.Aggregates,
        seed: int,
        asks_always: bool = False,
    ) -> None:
        self._placement = streamed_claims.StreamedPlacement(auth.Credentials(conf))
        self._source = tracked_candidates.TrackedSource(self._placement, asks_always=asks_always)
        self._placement.claimed = self._source.changed
        self.hosts = tracked_hosts.TrackedHosts(conf, cells, states, aggregates)
        self._seed = seed
        self._ctxt = context.RequestContext(user_id=USER, project_id=PROJECT, overwrite=False)
        self._world = world(
            conf, cells, placement=self._placement, states=self.hosts, source=self._source
        )

    def check(self) -> None:
        """Read the resources of all hosts. Raise Miscounted if the count is wrong."""
        self._source.usage.learn(self._placement.candidates(self._ctxt, EVERY_HOST))

    def figures(self) -> list[figures.Host]:
        """Return the resources and the number of servers of each host."""
        usage = self._source.usage
        return [
            figures.Host(usage.capacity.get(uuid, {}), usage.used.get(uuid, {}), host.num_instances)
            for uuid, host in self.hosts.snapshot.hosts.items()
        ]

    @property
    def asked(self) -> int:
        """Return the number of queries for allocation candidates so far."""
        return self._source.asked

    def uuid_of(self, name: str) -> str:
        """Return the id of a machine's server."""
        return runtime.uuid_of(NAMESPACE, f'{self._seed}/{name}')

    def place(self, name: str, flavor: flavors.Flavor) -> Placing:
        """Choose a host for a machine, and claim its resources. Raise the errors of placement."""
        uuid = self.uuid_of(name)
        spec = request_spec.RequestSpec(
            instance_uuid=uuid, project_id=PROJECT, user_id=USER, flavor=flavor
        )
        return decided(self._world, self._ctxt, spec)

    def remove(self, name: str) -> None:
        """Release the resources of a machine."""
        uuid = self.uuid_of(name)
        self._source.release(self._placement.leave(placements.Consumer(uuid, PROJECT, USER)))
        self.hosts.withdraw(uuid)

    def advance_to(self, at_s: float) -> None:
        """Do nothing: decisions take no time."""

    def finish(self) -> None:
        """Send the claims and releases that are queued."""
        self._placement.flush()

    # ---- to continue later ----

    def held(self, name: str) -> tuple[host_states.Placed, offers.AllocationRequest]:
        """Return the placing and the claim of a machine."""
        uuid = self.uuid_of(name)
        return self.hosts.pending([uuid])[uuid], self._placement.held[uuid]

    def restore(
        self, name: str, placed: host_states.Placed, claim: offers.AllocationRequest
    ) -> None:
        """Add a machine whose claim is in placement already."""
        uuid = self.uuid_of(name)
        self.hosts.put(uuid, placed)
        self._placement.held[uuid] = claim


def world(
    conf: cfg.ConfigOpts,
    cells: deployment.Cells,
    *,
    placement: placements.Placement,
    states: host_states.HostStates,
    source: candidates.Source,
) -> decide.World:
    """Return the World of decisions, as the manager of the scheduler makes it."""
    return decide.World(
        conf=conf,
        cells=cells,
        placement=placement,
        joined=joined_claims.JoinedClaims(placement),
        states=states,
        source=source,
        rules=manager.rules(conf),
        segment_aggregates=segments.Segments(network.Network(auth.Credentials(conf)), placement),
    )


def decided(
    world: decide.World,
    ctxt: context.RequestContext,
    spec: request_spec.RequestSpec,
    *,
    beside: Iterable[str] = (),
    claim: Claim | None = None,
) -> Placing:
    """Decide about the server of a spec, and claim its resources. Raise the errors of placement.

    beside: providers on which it has allocations already
    claim: function that claims a Selection and returns whether placement has accepted that; None:
        the scheduler claims
    """
    ctxt = copy.copy(ctxt)
    ctxt.request_id = f'req-{spec.instance_uuid}'
    decision = decide.Decision(
        world, ctxt, spec, [spec.instance_uuid], beside=beside, claims=claim is None
    )
    try:
        ((chosen,),) = decision.run(alternates=False)
    except exception.NoValidHost:
        return rejected(decision.record, len(decision.not_offered()))
    except exception.ComputeHostMetricNotFound:
        return Placing(None, METRICS, {})
    except exception.Invalid:
        return Placing(None, decisions.REQUEST_FILTER, {})
    if claim is not None and not claim(chosen):
        world.states.withdraw(spec.instance_uuid)
        return Placing(None, decisions.PLACEMENT, {decisions.PLACEMENT: 1})
    return Placing(chosen.service_host)


def rejected(record: decisions.Record, not_offered: int) -> Placing:
    """Return the result of a decision without a host. not_offered: hosts that placement left out"""
    refusals = record.refusals.of_host
    refused: dict[str, int] = {}
    for stage, _reason in refusals.values():
        refused[stage] = refused.get(stage, 0) + 1
    if not_offered:
        refused[decisions.PLACEMENT] = not_offered
    if record.filtered:
        stage = decisions.REQUEST_FILTER
    else:
        stage = next(reversed(refusals.values()))[0] if refusals else decisions.PLACEMENT
    return Placing(None, stage, refused)
