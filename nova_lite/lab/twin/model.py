"""A copy of a cloud on which decisions are tried: the real scheduler, placement and records.

The copy has the servers of the cloud in its databases.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import dataclasses
import os
import signal
import tempfile

from nova_lite import exception
from nova_lite.api.servers import create_flavor
from nova_lite.clients import auth
from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement as placements
from nova_lite.daemons.wsgi import server
from nova_lite.lab.console import interrupts
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout
from nova_lite.lab.replay import cluster
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import tracked_hosts
from nova_lite.lab.twin import departures
from nova_lite.lab.twin import known_names
from nova_lite.lab.twin import trials
from nova_lite.objects import flavor as flavors
from nova_lite.scheduler import candidates
from nova_lite.scheduler import hosts

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
class Memory:
    """The memory of a host in MiB, with the allocation ratio applied, and what servers have."""

    capacity: float
    used: float

    @property
    def share(self) -> float:
        """Return the share that is allocated."""
        return self.used / self.capacity if self.capacity else 1.0


class Model:
    """The copy. profile: source of the profile of the hosts; trials: decisions about servers"""

    def __init__(self, copied: cluster.Cluster) -> None:
        self.profile = copied.places.settings.profile
        conf = copied.conf({})
        credentials = auth.Credentials(conf)
        placement = placements.Placement(credentials)
        self._hosts = tracked_hosts.TrackedHosts(
            conf, copied.cells, copied.states, copied.aggregates
        )
        self._world = decider.world(
            conf,
            copied.cells,
            placement=placement,
            states=self._hosts,
            # Each decision asks placement.
            source=candidates.Source(placement, 0.0),
        )
        self._images = image.Image(credentials)
        # The decisions change no node.
        nodes = {state.host: state.uuid for state in copied.states}
        self.trials = trials.Trials(self._world, self._hosts, network.Network(credentials), nodes)
        # {host: its servers, those with the most memory first}
        self._servers = {
            state.host: departures.read(copied.cells, state.cell_uuid, state.host)
            for state in copied.states
        }

    def hosts_of(self, zone: str | None = None) -> list[str]:
        """Return the names of the hosts, of all zones or of one."""
        found = {state.host: self._zone_of(state) for state in self.states}
        return [host for host, its in found.items() if zone in (None, its)]

    def zones(self) -> list[str]:
        """Return the names of all availability zones that have hosts."""
        return sorted(set(map(self._zone_of, self.states)))

    def _zone_of(self, state: hosts.HostState) -> str:
        return hosts.zone_of(state) or self._world.conf.default_availability_zone

    def wanted(
        self, flavor: str, project_id: str, image_name: str | None, group: str | None
    ) -> trials.Wanted:
        """Return a request for further servers. flavor, image_name, group: names or ids

        Raise UnknownName, or Invalid for a flavor whose PCI alias is not defined.
        """
        api_db = self._world.cells.api_db
        found = known_names.find_flavor(api_db, flavor)
        return trials.Wanted(
            flavors.Flavor(**create_flavor.resolved(found, self._world.conf.pci.alias)),
            project_id,
            None if image_name is None else known_names.find_image(self._images, image_name),
            None if group is None else known_names.find_group(api_db, group),
        )

    @property
    def states(self) -> list[hosts.HostState]:
        """Return the states of all hosts, by name."""
        return tracked_hosts.in_order(self._hosts.snapshot.hosts.values())

    def on(self, host: str) -> list[departures.Server]:
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
