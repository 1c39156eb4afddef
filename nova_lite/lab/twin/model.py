"""A copy of a cloud on which decisions are tried: the real scheduler, placement and records.

The copy has the servers of the cloud in its databases. A server that is placed is claimed in the
placement of the copy, and counts in its host states, until `undo`. No host builds anything.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import copy
import dataclasses
import functools
import os
import signal
import tempfile

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api.servers import create_flavor
from nova_lite.clients import auth
from nova_lite.clients import holdings
from nova_lite.clients import placement as placements
from nova_lite.daemons.wsgi import server
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.lab.console import interrupts
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout
from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.replay import cluster
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import tracked_hosts
from nova_lite.lab.twin import known_names
from nova_lite.objects import flavor as flavors
from nova_lite.objects import request_spec
from nova_lite.scheduler import candidates
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request

PROJECT = USER = 'twin'

# Groups of options that make a cloud use services outside of it.
OUTSIDE = (
    *('placement', 'glance', 'neutron', 'cinder', 'manila', 'cyborg', 'keystone'),
    *('service_user', 'keystone_authtoken'),
)


class UsesOthers(exception.Invalid):
    msg = (
        'The cloud has options of services outside of it ([%(groups)s]), in which a copy would write. '
        'Only clouds with services of their own can be copied.'
    )


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of the cloud. spec: its stored request; vm_state: a states.VmState

    label: the name in its metadata, which `import --names` writes, or else its own
    """

    uuid: str
    name: str
    label: str
    cell_uuid: str
    host: str
    spec: request_spec.RequestSpec
    memory_mb: int
    vm_state: str

    @property
    def how(self) -> plans.How:
        """Return how the server can leave its host: LIVE, COLD or STAYS."""
        if self.vm_state in plans.LIVE_STATES:
            return plans.How.LIVE
        return plans.How.COLD if self.vm_state in plans.COLD_STATES else plans.How.STAYS

    def described(self) -> str:
        """Return a text for people about the server."""
        return self.name if self.label == self.name else f'{self.label} ({self.name})'


@dataclasses.dataclass(frozen=True)
class Memory:
    """The memory of a host in MiB, with the allocation ratio applied, and what servers have."""

    capacity: float
    used: float

    @property
    def share(self) -> float:
        """Return the share that is allocated."""
        return self.used / self.capacity if self.capacity else 1.0


class Model:
    """Places servers without moving them.

    hosts: the TrackedHosts; profile: source of the profile of the hosts
    """

    def __init__(self, copied: cluster.Cluster) -> None:
        self.profile = copied.places.settings.profile
        conf = copied.conf({})
        self._placement = placements.Placement(auth.Credentials(conf))
        self.hosts = tracked_hosts.TrackedHosts(
            conf, copied.cells, copied.states, copied.aggregates
        )
        self._ctxt = context.RequestContext(user_id=USER, project_id=PROJECT, overwrite=False)
        self._world = decider.world(
            conf,
            copied.cells,
            placement=self._placement,
            states=self.hosts,
            # Each decision asks placement.
            source=candidates.Source(self._placement, 0.0),
        )
        # {host: uuid of its node}; the decisions change no host.
        self._nodes = {state.host: state.uuid for state in copied.states}
        # {server: providers on which it had allocations before its last decision}
        self._former: dict[str, frozenset[str]] = {}
        # {host: its servers, those with the most memory first}
        self._servers = {state.host: _servers(copied.cells, state) for state in copied.states}
        # What `undo` calls, the last first.
        self._undo: list[Callable[[], object]] = []

    def hosts_of(self, zone: str | None = None) -> list[str]:
        """Return the names of the hosts, of all zones or of one."""
        found = {state.host: self._zone_of(state) for state in self.states}
        return [host for host, its in found.items() if zone in (None, its)]

    def zones(self) -> list[str]:
        """Return the names of all availability zones that have hosts."""
        return sorted(set(map(self._zone_of, self.states)))

    def _zone_of(self, state: hosts.HostState) -> str:
        return hosts.zone_of(state) or self._world.conf.default_availability_zone

    def flavor(self, name: str) -> flavors.Flavor:
        """Return a flavor by its name or id, with its devices. Raise UnknownName or Invalid."""
        found = known_names.find_flavor(self._world.cells.api_db, name)
        return flavors.Flavor(**create_flavor.resolved(found, self._world.conf.pci.alias))

    @property
    def states(self) -> list[hosts.HostState]:
        """Return the states of all hosts, by name."""
        return tracked_hosts.in_order(self.hosts.snapshot.hosts.values())

    def on(self, host: str) -> list[Server]:
        """Return the servers of a host, those with the most memory first."""
        return self._servers[host]

    def memory_shares(self) -> dict[str, Memory]:
        """Return {name: Memory} of the hosts whose compute service is enabled and up."""
        return {
            state.host: Memory(
                (state.memory_mb - state.reserved_memory_mb) * state.ram_allocation_ratio,
                state.memory_mb_used,
            )
            for state in self.states
            if state.up and not state.disabled
        }

    @property
    def copies_per_host(self) -> int:
        """Return how many live migrations a host sends at the same time; 0 for any number."""
        found: int = self._world.conf.max_concurrent_live_migrations
        return found

    # ---- decisions ----

    def move(
        self, moved: Server, avoided: Collection[str], wanted: str | None = None
    ) -> decider.Placing:
        """Decide where a server may go. avoided: names of hosts; wanted: the only host"""
        spec = copy.deepcopy(moved.spec)
        spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
        spec.ignore_hosts = sorted(avoided)
        spec.current_host, spec.current_cell = moved.host, moved.cell_uuid
        destination = spec.destination()
        destination.cell, destination.host = moved.cell_uuid, wanted
        held = self._placement.holding(self._ctxt, moved.uuid)
        self._former[moved.uuid] = frozenset(held.allocations)
        placing = self._decide(spec, held.allocations)
        if placing.host is not None:
            # Policies of server groups and hints are judged by the records.
            self._record(moved, placing.host)
            self._undo.append(lambda: self._record(moved, moved.host))
        return placing

    def _record(self, moved: Server, host: str) -> None:
        cell = self._world.cells.get(moved.cell_uuid)
        cell.db.write(instances.force, moved.uuid, {'host': host})

    def add(
        self, wanted: flavors.Flavor, number: int, project_id: str = PROJECT
    ) -> decider.Placing:
        """Decide where a further server of a flavor and a project may go. number: of the server"""
        uuid = runtime.uuid_of(decider.NAMESPACE, f'{wanted.name}/{number}')
        spec = request_spec.RequestSpec(
            instance_uuid=uuid, project_id=project_id, user_id=USER, flavor=wanted
        )
        return self._decide(spec, ())

    def _decide(self, spec: request_spec.RequestSpec, beside: Collection[str]) -> decider.Placing:
        """Decide about a server. beside: providers on which it has allocations already"""
        placing = decider.decided(self._world, self._ctxt, spec, beside=beside)
        if placing.host is not None:
            self._undo.append(functools.partial(self._withdraw, spec, placing.host, beside))
        return placing

    def _withdraw(self, spec: request_spec.RequestSpec, host: str, beside: Collection[str]) -> None:
        """Take back a decision. beside: providers whose allocations stay"""
        self.hosts.withdraw(spec.instance_uuid)
        self._keep(spec.instance_uuid, lambda held: held.of(beside))

    def _keep(self, uuid: str, kept: Callable[[holdings.Holding], holdings.Allocations]) -> None:
        """Release what a server holds in placement, but for a part."""
        held = self._placement.holding(self._ctxt, uuid)
        consumer = placements.Consumer(uuid, held.project_id, held.user_id)
        wanted = holdings.as_request(kept(held))
        self._placement.replace(self._ctxt, consumer, wanted, held.generation)

    def leave(self, moved: Server) -> None:
        """Free what a server held on its host before `move`."""
        former = self._former[moved.uuid]
        self._keep(moved.uuid, lambda held: held.besides(former))
        request = scheduling_request.Request(moved.spec, [moved.uuid])
        self.hosts.take(self.hosts.snapshot.hosts[self._nodes[moved.host]], request)

    def undo(self) -> None:
        """Forget all decisions since the last `undo`."""
        while self._undo:
            self._undo.pop()()


def _servers(cells: deployment.Cells, state: hosts.HostState) -> list[Server]:
    """Return the servers of a host, those with the most memory first."""
    cell = cells.get(state.cell_uuid)
    found = cell.db.read(instances.on_host, state.host)
    specs = cells.api_db.read(request_specs.stored, [row.uuid for row in found])
    servers = [
        Server(
            uuid=row.uuid,
            name=row.display_name,
            label=row.metadata.get('name', row.display_name),
            cell_uuid=cell.uuid,
            host=row.host,
            spec=request_spec.RequestSpec.restore(specs[row.uuid]),
            memory_mb=row.memory_mb,
            vm_state=row.vm_state,
        )
        for row in found
    ]
    return sorted(servers, key=lambda each: (-each.memory_mb, each.uuid))


def require_own(groups: Iterable[str]) -> None:
    """Raise UsesOthers if options of some groups let a cloud use services outside of it."""
    found = sorted(name for name in groups if name in OUTSIDE)
    if found:
        raise UsesOthers(groups='], ['.join(found))


@contextlib.contextmanager
def of(state_dir: str) -> Iterator[Model]:
    """Copy the cloud that runs in a state directory, and return its Model for the block.

    The copy is deleted at the end of the block, also after SIGTERM. Raise NotRunning,
    KeyboardInterrupt and the errors of snapshots.
    """
    ended = interrupts.handled(signal.default_int_handler)
    with ended, tempfile.TemporaryDirectory(prefix='nova-lite-twin-') as directory:
        path = os.path.join(directory, 'twin.snapshot')
        client = control_client.Client(state_dir, timeout_s=control_client.SNAPSHOT_S)
        client.post('snapshot', file=path)
        snapshot = cloud_snapshots.read(path)
        require_own(snapshot.manifest.settings['options'])
        place = os.path.join(directory, 'cloud')
        given = continuing.settings_of(snapshot.manifest, place, {'port': server.free_port()})
        wanted = cluster.Wanted(layout.Settings(**given), snapshot=snapshot)
        with cluster.started(wanted) as copied:
            yield Model(copied)
