"""World: the databases, clients and options that sagas and builds use."""

import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import share as shares
from nova_lite.clients import volume as volumes
from nova_lite.db import transactions
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import scheduler as scheduler_rpc


class World(typing.Protocol):
    """Databases, buses and services. compute: a ComputeAPI client onto a cell's bus"""

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def api_db(self) -> transactions.Database: ...

    @property
    def cells(self) -> deployment.Cells: ...

    @property
    def placement(self) -> placements.Placement: ...

    @property
    def network(self) -> networks.Network: ...

    @property
    def volume(self) -> volumes.Volume: ...

    @property
    def share(self) -> shares.Share: ...

    @property
    def image(self) -> images.Image: ...

    @property
    def scheduler(self) -> scheduler_rpc.SchedulerAPI: ...

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI: ...

    def wake(self, uuid: str) -> None: ...
