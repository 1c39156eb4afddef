"""World: the databases, buses and clients that requests and sagas use."""

import typing

from nova_lite import cells as deployment
from nova_lite.clients import client_set
from nova_lite.db import transactions
from nova_lite.rpc.methods import compute as compute_rpc


class World(client_set.Clients, typing.Protocol):
    """Databases, buses and services. compute: a ComputeAPI client onto a cell's bus"""

    @property
    def api_db(self) -> transactions.Database: ...

    @property
    def cells(self) -> deployment.Cells: ...

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI: ...
