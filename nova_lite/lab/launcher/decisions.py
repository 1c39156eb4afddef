"""Scheduling decisions that the schedulers of a cloud have in memory.

The schedulers of daemons in processes are asked over RPC, the scheduler of an embedded cloud over
HTTP, because its buses are inside its process.
"""

import typing

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite.daemons import local_endpoint
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler

BINARY = 'nova-scheduler'

# The result of SchedulerAPI.why.
Decision: typing.TypeAlias = dict[str, typing.Any]


def find(conf: cfg.ConfigOpts, server: str, host: str | None = None) -> Decision:
    """Return the newest decision about a server.

    host: see SchedulerAPI.why; conf: of a control daemon. Raise InstanceNotFound or NoUniqueMatch
    for the name of a server, DecisionNotFound or Invalid if no scheduler has a decision.
    """
    with server_names.cells_of(conf) as cells:
        uuid = server_names.uuid_of(cells, server)
        if conf.transport_url.startswith(transport.EMBEDDED):
            return local_endpoint.ask(conf.state_path, uuid, host)
        return ask_all(conf, cells, uuid, host)


def ask_all(
    conf: cfg.ConfigOpts, cells: cells_module.Cells, uuid: str, host: str | None
) -> Decision:
    """Ask all schedulers that are up over RPC. Return the newest decision.

    Only the scheduler that decided has the decision in memory. Raise as `find`.
    """
    rows = cells.cell0.db.read(services.every, binary=BINARY)
    names = [row.host for row in rows if services.is_up(row, conf.service_down_time)]
    bus = transport.open_bus(conf, conf.transport_url)
    answers, silent = [], []
    try:
        caller = scheduler.SchedulerAPI(bus)
        for name in names:
            try:
                answers.append(caller.why(context.admin(), uuid, host, scheduler=name))
            except exception.DecisionNotFound:
                continue  # another scheduler has decided
            except exception.Unavailable:
                silent.append(name)
    finally:
        bus.cleanup()
    if not answers and silent:
        raise exception.Unavailable(service=f'Scheduler {", ".join(silent)}', reason='no answer')
    if not answers:
        raise exception.DecisionNotFound(uuid=uuid)
    return max(answers, key=lambda answer: answer['at'])
