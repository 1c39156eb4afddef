"""Decisions that are tried on a copy of a cloud, as the moves and the scheduler make them.

A server that gets a host is claimed in the placement of the copy, and counts in its host states and
records, until `undo`. No host builds anything.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import copy
import functools
import json
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import exchanges
from nova_lite.clients import holdings
from nova_lite.clients import network
from nova_lite.clients import placement as placements
from nova_lite.clients import resource_requests
from nova_lite.compute import live_dest
from nova_lite.db import rows
from nova_lite.db.api import server_groups
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import instances
from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import tracked_hosts
from nova_lite.lab.twin import departures
from nova_lite.lifecycle import placed_devices
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import live_checks
from nova_lite.objects import flavor as flavors
from nova_lite.objects import image as images
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.scheduler import decide as scheduler_decide
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.virt import topology
from nova_lite.virt.sim import facts

PROJECT = USER = 'twin'
# Stages after those of the scheduler: the hosts' checks of a live migration, and a host's claim.
CHECKS, CLAIM = 'checks of the hosts', 'claim of the host'
# An allocation ratio with which nothing exceeds a capacity.
WIDE = 1e6


class Wanted(typing.NamedTuple):
    """A request for further servers. image: None for servers without an image

    group: the row of their server group, or None
    """

    flavor: flavors.Flavor
    project_id: str = PROJECT
    image: images.ImageMeta | None = None
    group: rows.Row | None = None


class Trials:
    """Places servers without moving them. nodes: {host: uuid of its node}"""

    def __init__(
        self,
        world: scheduler_decide.World,
        tracked: tracked_hosts.TrackedHosts,
        net: network.Network,
        nodes: Mapping[str, str],
    ) -> None:
        self._world, self._placement, self._network = world, world.placement, net
        self._hosts, self._nodes = tracked, nodes
        self._ctxt = context.RequestContext(user_id=USER, project_id=PROJECT, overwrite=False)
        # What `undo` calls, the last first.
        self._undo: list[Callable[[], object]] = []

    def migrate(
        self,
        moved: departures.Server,
        how: plans.How,
        avoided: Collection[str],
        wanted: str | None = None,
    ) -> decider.Placing:
        """Decide where a server may go, live or cold. Its source stays claimed until `leave`.

        avoided: names of hosts; wanted: the only host
        """
        spec = self._spec_of(moved, avoided)
        spec.destination().host = wanted
        if how is plans.How.COLD:
            spec.flavor = flavors.Flavor(**moved.row.flavor)
        keep = self._kept_on(moved)
        owner = placements.Consumer(moved.uuid, spec.project_id, spec.user_id)
        handover = exchanges.Handover(_migration_of(moved), lambda: self._nodes[moved.host])

        def claim(chosen: selection.Selection) -> bool:
            request = json.loads(chosen.allocation_request or '{}')
            return exchanges.claim(
                *(self._placement, self._ctxt, owner, request),
                handover=handover,
                new=True,
                keep=keep,
            )

        def decide() -> decider.Placing:
            return decider.decided(self._world, self._ctxt, spec, claim=claim)

        return self._moved(moved, how, spec, decide)

    def evacuate(self, moved: departures.Server, lost: Collection[str]) -> decider.Placing:
        """Decide where a server is rebuilt that keeps what it holds. lost: names of hosts"""
        spec = self._spec_of(moved, lost)
        held = self._placement.holding(self._ctxt, moved.uuid)

        def decide() -> decider.Placing:
            return decider.decided(self._world, self._ctxt, spec, beside=held.allocations)

        return self._moved(moved, plans.How.EVACUATE, spec, decide)

    def _spec_of(
        self, moved: departures.Server, avoided: Collection[str]
    ) -> request_spec.RequestSpec:
        """Return the request that a move of a server makes. avoided: names of hosts"""
        spec, row = copy.deepcopy(moved.spec), moved.row
        choice.begin_move(spec, row, moved.cell_uuid, ignored=sorted(avoided))
        if row.network_info:
            resource_requests.put_in(spec, self._network.ports(self._ctxt, moved.uuid))
        return spec

    def _kept_on(self, moved: departures.Server) -> set[str]:
        """Return the nodes on which a server keeps allocations after evacuations."""
        cell = self._world.cells.get(moved.cell_uuid)
        found: set[str] = cell.db.read(evacuations.providers_held, moved.uuid)
        return found

    def _moved(
        self,
        moved: departures.Server,
        how: plans.How,
        spec: request_spec.RequestSpec,
        decide: Callable[[], decider.Placing],
    ) -> decider.Placing:
        former = self._placement.holding(self._ctxt, moved.uuid)
        placing = self._placed(
            spec,
            decide,
            refusal=functools.partial(self._refusal, moved, how),
            undo=functools.partial(self._take_back, moved, former),
        )
        if placing.host is not None:
            self._record(moved, placing.host)
        return placing

    def _placed(
        self,
        spec: request_spec.RequestSpec,
        decide: Callable[[], decider.Placing],
        *,
        refusal: Callable[[hosts.HostState], str | None],
        undo: Callable[[], None],
        most: int | None = None,
    ) -> decider.Placing:
        """Decide until the chosen host accepts the server.

        refusal: returns the stage in which a host, in its former state, refuses the server, or None
        undo: takes back the decision; most: number of hosts that are tried, None for any
        """
        refused: dict[str, int] = {}
        while True:
            before = dict(self._hosts.snapshot.hosts)
            placing = decide()
            if placing.host is None:
                break
            stage = refusal(before[self._nodes[placing.host]])
            if stage is None:
                self._undo.append(undo)
                return placing
            undo()
            refused[stage] = refused.get(stage, 0) + 1
            if sum(refused.values()) == most:
                return decider.Placing(None, stage, refused)
            spec.ignore_hosts = sorted({*spec.ignore_hosts, placing.host})
        if not refused:
            return placing
        return decider.Placing(None, next(reversed(refused)), {**placing.refused, **refused})

    def _take_back(self, moved: departures.Server, former: holdings.Holding) -> None:
        """Take back the decision about a server. former: what it held before"""
        placement, ctxt = self._placement, self._ctxt
        self._hosts.withdraw(moved.uuid)
        placement.delete_allocations(ctxt, _migration_of(moved), force=True)
        generation = placement.holding(ctxt, moved.uuid).generation
        owner = placements.Consumer(moved.uuid, moved.spec.project_id, moved.spec.user_id)
        wanted = holdings.as_request(former.allocations)
        put = functools.partial(placement.replace, ctxt, owner, wanted, generation)
        if put():
            return
        # Placement refuses what exceeds a capacity, even if the server held it before.
        inventories = {
            provider: placement.providers.inventories(ctxt, provider)[0] for provider in wanted
        }
        for provider, found in inventories.items():
            wide = {name: {**part, 'allocation_ratio': WIDE} for name, part in found.items()}
            placement.providers.set_inventories(ctxt, provider, wide)
        accepted = put()
        for provider, found in inventories.items():
            placement.providers.set_inventories(ctxt, provider, found)
        if not accepted:
            raise exception.AllocationConflict(consumer=moved.uuid)

    def _refusal(
        self, moved: departures.Server, how: plans.How, before: hosts.HostState
    ) -> str | None:
        """Return the stage in which a chosen host refuses a server; None if it does not.

        before: the state of the host before the decision
        """
        stage = self._refusal_of_claim(moved.uuid, before)
        if stage is not None:
            return stage
        if how is plans.How.LIVE and not self._agree(moved, before):
            return CHECKS
        return None

    def _refusal_of_claim(self, uuid: str, before: hosts.HostState) -> str | None:
        """Return CLAIM if a host has not the parts for a server, or None."""
        placed = self._hosts.pending([uuid])[uuid]
        if not placed.guest.has_parts:
            return None
        coming = hosts.Coming(placed.guest, placed.given)
        fits = isinstance(coming.fit(before.rooms(), before.ratios), topology.Held)
        return None if fits else CLAIM

    def _agree(self, moved: departures.Server, there: hosts.HostState) -> bool:
        """Return whether the checks of both hosts allow a live migration."""
        read = self._world.cells.get(moved.cell_uuid).db.read
        ends = self._nodes[moved.host], there.uuid
        (here,), (dest,) = (read(compute_nodes.every, uuid=node) for node in ends)
        source, target = (live_dest.facts_of(live_checks.facts_of(node)) for node in (here, dest))
        if facts.check_migration(source, target) is not None:
            return False
        types = live_checks.mdev_types(moved.uuid, here.numa)
        if not types:
            return True
        described = topology.Host.from_dict(dest.numa['host'])
        devices = [device for device in described.devices if device.is_placed]
        known = placed_devices.providers(there.uuid, devices)
        held = self._placement.holding(self._ctxt, moved.uuid).of(known)
        given = placed_devices.Given.of(there.uuid, devices, held) if held else None
        return placed_devices.mdev_types(devices, given).issuperset(types)

    def _record(self, moved: departures.Server, host: str) -> None:
        """Record the host of a server, since policies of groups and hints ask the records."""
        write = self._world.cells.get(moved.cell_uuid).db.write
        write(instances.force, moved.uuid, {'host': host})
        former = {'host': moved.host}
        self._undo.append(lambda: write(instances.force, moved.uuid, former))

    def leave(self, moved: departures.Server) -> None:
        """Free what a server held on its host before `migrate`, as the end of the move does."""
        placement, ctxt, holder = self._placement, self._ctxt, _migration_of(moved)
        placement.delete_allocations(ctxt, holder, force=True)
        before = self._hosts.snapshot.hosts[self._nodes[moved.host]]
        self._hosts.take(before, scheduling_request.Request(moved.spec, [moved.uuid]))
        self._undo.append(lambda: self._hosts.snapshot.replace(before))

    def add(self, wanted: Wanted, number: int) -> decider.Placing:
        """Decide where a further server may go. number: of the server"""
        uuid = runtime.uuid_of(decider.NAMESPACE, f'{wanted.flavor.name}/{number}')
        spec = request_spec.RequestSpec(
            instance_uuid=uuid,
            project_id=wanted.project_id,
            user_id=USER,
            flavor=wanted.flavor,
            image=wanted.image,
            group_uuid=wanted.group and wanted.group.uuid,
        )
        if wanted.group is not None:
            # Only members count for the policy. The copy keeps them, as they hold nothing.
            self._world.cells.api_db.write(server_groups.add_members, wanted.group, [uuid])

        def undo() -> None:
            self._hosts.withdraw(uuid)
            self._placement.delete_allocations(self._ctxt, uuid, force=True)

        return self._placed(
            spec,
            lambda: decider.decided(self._world, self._ctxt, spec),
            refusal=functools.partial(self._refusal_of_claim, uuid),
            undo=undo,
            # A build goes to alternates, and then gives up.
            most=self._world.conf.scheduler.max_attempts,
        )

    def held(self, servers: Iterable[departures.Server]) -> dict[str, holdings.Allocations]:
        """Return {uuid of a server: its allocations}."""
        placement, ctxt = self._placement, self._ctxt
        return {each.uuid: placement.holding(ctxt, each.uuid).allocations for each in servers}

    def undo(self) -> None:
        """Forget all decisions since the last `undo`."""
        while self._undo:
            self._undo.pop()()


def _migration_of(moved: departures.Server) -> str:
    """Return the consumer that holds the source's allocation of a server that migrates."""
    return runtime.uuid_of(decider.NAMESPACE, f'migration of {moved.uuid}')
