"""World: the databases, clients and joint calls that the builds and sagas of a process use."""

from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import exception
from nova_lite.clients import neighbours
from nova_lite.db import transactions
from nova_lite.db.api import sagas
from nova_lite.notify import watch
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.saga import engine
from nova_lite.superconductor import build_writes
from nova_lite.superconductor import joined_casts
from nova_lite.superconductor import joined_selections

LOG = log.getLogger(__name__)


class World:
    """The databases and clients that builds and sagas use.

    clients: object with the attributes placement, image, network, volume and share
    engine: the saga engine; None until it is created
    notices: notify.watch.Notices, for notifications without a record; or None
    builds, selections, casts: write the builds of this process, choose their hosts, and call them
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        api_db: transactions.Database,
        cells: deployment.Cells,
        scheduler: scheduler_rpc.SchedulerAPI,
        clients: neighbours.Neighbours,
        notices: watch.Notices | None = None,
    ) -> None:
        self.conf, self.notices = conf, notices
        self.api_db, self.cells = api_db, cells
        self.scheduler, self.placement = scheduler, clients.placement
        self.image, self.network, self.volume = clients.image, clients.network, clients.volume
        self.share = clients.share
        self.engine: engine.Engine | None = None
        self.builds = build_writes.JoinedWrites(api_db)
        self.selections = joined_selections.JoinedSelections(scheduler)
        self._compute = deployment.Clients(
            lambda cell: compute_rpc.ComputeAPI(cell.bus, cell.oldest_compute)
        )
        self._conductor = deployment.Clients(lambda cell: conductor_rpc.ConductorAPI(cell.bus))
        self.casts = joined_casts.JoinedCasts(lambda cell: self.compute(cell))

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI:
        """Return a client of the computes of a cell."""
        return self._compute.of(cell)

    def conductor(self, cell: deployment.Cell) -> conductor_rpc.ConductorAPI:
        """Return a client of a cell's conductor."""
        return self._conductor.of(cell)

    def wake(self, uuid: str) -> None:
        """Wake a parked saga. It would otherwise continue at its next alarm."""
        try:
            waits = self.api_db.write(sagas.wake, uuid)
        except exception.Unavailable as error:
            LOG.info('Cannot wake saga %s: %s. It continues at its next alarm.', uuid, error)
            return
        if waits and self.engine is not None:
            self.engine.submit(uuid)
