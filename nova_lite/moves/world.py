"""World: the databases, clients and options that sagas and builds use."""

import typing

from oslo_config import cfg

from nova_lite.lifecycle import world
from nova_lite.rpc.methods import scheduler as scheduler_rpc


class World(world.World, typing.Protocol):
    """The World of requests, with the options and the scheduler. wake: starts a saga"""

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def scheduler(self) -> scheduler_rpc.SchedulerAPI: ...

    def wake(self, uuid: str) -> None: ...
