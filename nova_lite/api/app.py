"""App: the databases and clients of all operations of the API, which its process creates."""

import collections
from collections.abc import Callable
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite.api import joined_deletions
from nova_lite.api import policies
from nova_lite.api import request_log
from nova_lite.api import waiting
from nova_lite.clients import neighbours
from nova_lite.db import joined
from nova_lite.db import transactions
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import super_conductor as super_rpc

# A function from a cell to a ComputeAPI client.
Compute: typing.TypeAlias = Callable[[deployment.Cell], compute_rpc.ComputeAPI]


class App:
    """The databases and clients that handlers use.

    api_db: Database; cells: Cells; policy: Enforcer
    accepts: transactions of the API database that store accepted servers, to be joined by project
    deletions: the deletions that it accepts
    image, network, volume, share, placement: clients of the neighbours
    identity: the client of Keystone; None with noauth
    keystone_limits: the client of its limits; None unless [quota]driver names them
    super_conductor: SuperConductorAPI on the top bus
    zones: (availability zones, end of their validity), see `zones`
    waiters: limits the requests that wait for other processes
    request_log: RequestLog, None without [api]request_log
    undeclared: (operation, code) of error answers that the declaration lacks
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        api_db: transactions.Database,
        cells: deployment.Cells,
        clients: neighbours.Neighbours,
        super_conductor: super_rpc.SuperConductorAPI,
        compute: Compute | None = None,
    ) -> None:
        self.conf = conf
        self.api_db = api_db
        self.accepts = joined.JoinedTransactions(api_db)
        self.deletions = joined_deletions.JoinedDeletions(
            conf, api_db, lambda cell: self.compute(cell)
        )
        self.cells = cells
        self.image, self.network = clients.image, clients.network
        self.volume, self.placement = clients.volume, clients.placement
        self.share = clients.share
        self.identity, self.keystone_limits = clients.identity, clients.limits
        self.super_conductor = super_conductor
        self.policy = policies.Enforcer(conf)
        self.zones: tuple[frozenset[str], float] = (frozenset(), 0)
        self.waiters = waiting.Waiters(conf.api)
        self.request_log = request_log.of(conf)
        self.undeclared: collections.deque[tuple[str, int]] = collections.deque(maxlen=100)
        self._compute = deployment.Clients(compute or _compute_client)

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI:
        """Return the ComputeAPI client on a cell's bus."""
        return self._compute.of(cell)


def _compute_client(cell: deployment.Cell) -> compute_rpc.ComputeAPI:
    return compute_rpc.ComputeAPI(cell.bus, cell.oldest_compute)
