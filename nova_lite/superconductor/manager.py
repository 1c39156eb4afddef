"""The super-conductor: builds and sagas over all cells.

The manager delegates: `build` and the modules of sagas do the work. The sweeps find
builds and sagas whose cast was lost, at once if the queue may be lost with it.
Source: contributor/architecture, Sagas; reference/nova/create-server 4.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.api import build_requests
from nova_lite.db.api import sagas
from nova_lite.db.cell import services
from nova_lite.lifecycle import discovery
from nova_lite.lifecycle import searches
from nova_lite.moves import kinds
from nova_lite.moves import lanes
from nova_lite.saga import engine
from nova_lite.saga import journal
from nova_lite.superconductor import build
from nova_lite.superconductor import build_sweep
from nova_lite.superconductor import world as worlds
from nova_lite.superconductor.audits import auto_confirm
from nova_lite.superconductor.audits import auto_offload
from nova_lite.superconductor.audits import disposals
from nova_lite.superconductor.audits import guest_ports
from nova_lite.superconductor.audits import image_cache
from nova_lite.superconductor.audits import memberships
from nova_lite.superconductor.audits import orphans
from nova_lite.superconductor.audits import port_changes

LOG = log.getLogger(__name__)

BINARY, TOPIC = 'nova-conductor', 'conductor'
# Seconds that builds in progress have to end, before their messages count as lost with the queue;
# and between two attempts to find such builds.
GRACE_S, RETRY_S = 2.0, 1.0
# Seconds between two runs of each periodic task.
Periodic: typing.TypeAlias = tuple[float, Callable[[], None]]


class SuperConductor:
    """Implements SuperConductorAPI. name: unique among all super-conductors."""

    def __init__(self, conf: cfg.ConfigOpts, world: worlds.World, *, name: str) -> None:
        self.conf, self.world = conf, world
        self.engine = engine.Engine(
            sagas.Journal(world.api_db),
            self.make_saga,
            owner=name,
            lease_s=conf.conductor.lease_s,
            threads=conf.conductor.saga_threads,
            lanes=lanes.of,
        )
        world.engine = self.engine
        self._stopping = runtime.Event()
        self._caching = runtime.Lock()
        self._disposals = disposals.Disposals(world)
        self._orphans = orphans.Audit(world)
        self._memberships = memberships.Audit(world)
        self._port_changes = port_changes.Audit(world)
        self._guest_ports = guest_ports.Audit(world)
        self._build_sweep = build_sweep.BuildSweep(world)
        self._auto_confirm = auto_confirm.AutoConfirm(world, self.engine.submit)
        self._auto_offload = auto_offload.AutoOffload(world, self.engine.submit)

    def make_saga(self, record: journal.Record) -> saga.Saga:
        """Return the saga that a row of the journal stands for."""
        ctxt = context.RequestContext.from_wire(record.context)
        made: saga.Saga = kinds.of(record)(self.world, record, ctxt)
        return made

    def build_servers(self, ctxt: context.RequestContext, uuids: Sequence[str]) -> None:
        """Build the servers whose build requests were just accepted together.

        Builds that were taken over are skipped, even if this message comes late.
        """
        found, specs = self.world.api_db.read(build.accepted, uuids)
        fresh = [request for request in found if not request.epoch]
        build.Build(self.world, ctxt, fresh, specs).run()

    def run_saga(self, ctxt: context.RequestContext, saga_uuid: str) -> None:
        """Run a saga that was just stored or woken."""
        self.engine.submit(saga_uuid)

    def queues_renewed(self) -> None:
        """Search for builds and sagas whose messages may be lost with the former queue."""
        runtime.spawn(self._find_lost, name='lost-messages')

    def _find_lost(self) -> None:
        LOG.info('The queue was declared again. Searching for builds and sagas without a message.')
        with context.admin().bound():
            while not self._stopping.is_set():
                try:
                    self.world.api_db.write(build_requests.hurry, GRACE_S)
                    self.sweep_sagas()
                    runtime.wait(self._stopping, GRACE_S)
                    self.sweep_builds()
                    return
                except exception.Unavailable as error:
                    LOG.warning('Cannot search for them: %s. Retrying in %s s.', error, RETRY_S)
                runtime.wait(self._stopping, RETRY_S)

    def cache_images(
        self, ctxt: context.RequestContext, aggregate_id: int, image_ids: Sequence[str]
    ) -> None:
        """Cache images on the hosts of an aggregate, in a separate thread.

        The hosts are called one after the other, and the caller does not wait for them.
        """
        runtime.spawn(self._cache_images, ctxt, aggregate_id, image_ids, name='image-cache')

    def _cache_images(
        self, ctxt: context.RequestContext, aggregate_id: int, image_ids: Sequence[str]
    ) -> None:
        with self._caching, ctxt.bound():
            image_cache.run(self.world, ctxt, aggregate_id, image_ids, self._stopping)

    def sweep_builds(self) -> None:
        """Continue builds that were not finished in time."""
        self._build_sweep.run(self._stopping)

    def sweep_sagas(self) -> None:
        """Run due sagas without an owner."""
        self.engine.sweep()

    def sweep_deletions(self) -> None:
        """Finish deletions of servers without a host."""
        self._disposals.run()

    def confirm_resizes(self) -> None:
        """Confirm resizes that were left unconfirmed for too long."""
        self._auto_confirm.run()

    def follow_port_changes(self) -> None:
        """Follow changes of ports that happened while a task or saga worked at their servers."""
        self._port_changes.run()

    def heal_network_info(self) -> None:
        """Compare the recorded ports of servers with the network service."""
        self._port_changes.heal()
        self._guest_ports.run()

    def audit_allocations(self) -> None:
        """Delete allocations of servers and migrations that do not exist."""
        self._orphans.run()

    def audit_aggregates(self) -> None:
        """Correct the members of aggregates in placement."""
        self._memberships.run()

    def offload_shelved(self) -> None:
        """Offload servers that have been shelved for shelved_offload_time."""
        self._auto_offload.run()

    def beat(self) -> None:
        """Record this super-conductor's heartbeat in the API database."""
        self.world.cells.cell0.db.write(services.beat, [self.conf.host], BINARY, TOPIC)

    def discover_hosts(self) -> None:
        """Map new hosts. A cell that does not answer does not hold up the other cells."""

        def discover(cell: deployment.Cell) -> None:
            try:
                discovery.discover_hosts(self.world.cells, only=[cell])
            except db_exception.DBDuplicateEntry:
                LOG.info('Another super-conductor is mapping the hosts of cell %s', cell.name)

        searches.each(self.world.cells.every(cell0=False), discover, what='unmapped hosts')

    def periodics(self) -> list[Periodic]:
        """Return [(seconds, method)] of the periodic tasks."""
        interval = self.conf.conductor.sweep_interval_s
        tasks: list[Periodic] = [
            (interval, self.sweep_builds),
            (interval, self.sweep_sagas),
            (interval, self.confirm_resizes),
            (interval, self.follow_port_changes),
            (self.conf.conductor.audit_interval, self.sweep_deletions),
        ]
        if self.conf.heal_instance_info_cache_interval > 0:
            heal = (self.conf.heal_instance_info_cache_interval, self.heal_network_info)
            tasks.append(heal)
        if self.conf.conductor.allocation_audit_interval > 0:
            tasks.append((self.conf.conductor.allocation_audit_interval, self.audit_allocations))
        if self.conf.conductor.aggregate_audit_interval > 0:
            tasks.append((self.conf.conductor.aggregate_audit_interval, self.audit_aggregates))
        if self.conf.shelved_offload_time > 0:
            tasks.append((self.conf.shelved_poll_interval, self.offload_shelved))
        if self.conf.scheduler.discover_hosts_in_cells_interval > 0:
            tasks.append(
                (self.conf.scheduler.discover_hosts_in_cells_interval, self.discover_hosts)
            )
        return tasks

    def heartbeats(self) -> list[Periodic]:
        """Return [(seconds, method)] of the heartbeats of the super-conductor."""
        return [(self.conf.report_interval, self.beat)]

    def start(self) -> None:
        """Start the engine of sagas."""
        self.beat()
        self.engine.start()

    def stopping(self) -> None:
        """Stop taking over builds, which may wait long for a scheduler that does not answer."""
        self._stopping.set()

    def stop(self) -> None:
        """Wait for the running steps and builds.

        Other work continues elsewhere or after a restart.
        """
        self._build_sweep.wait()
        self.engine.stop()
