"""Scheduling decisions that the schedulers of a cloud have in memory.

All schedulers are asked over RPC. An embedded cloud is asked over a local HTTP connection,
since its buses are private.
"""

from nova_lite import context
from nova_lite import exception
from nova_lite.daemons import local_endpoint
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler

BINARY = 'nova-scheduler'


def find(conf, server, host=None):
    """Return what SchedulerAPI.why returns, the newest if several schedulers have a decision.

    conf: of a control daemon. Raise InstanceNotFound or NoUniqueMatch for a name; DecisionNotFound
    or Invalid if no scheduler has a decision.
    """
    with server_names.cells_of(conf) as cells:
        uuid = server_names.uuid_of(cells, server)
        if conf.transport_url.startswith(transport.EMBEDDED):
            return local_endpoint.ask(conf.state_path, uuid, host)
        return ask_all(conf, cells, uuid, host)


def ask_all(conf, cells, uuid, host):
    """Return what SchedulerAPI.why returns, from all schedulers that are up.

    Only the one that decided has the decision in memory.
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
                continue  # another one's
            except exception.Unavailable:
                silent.append(name)
    finally:
        bus.cleanup()
    if not answers and silent:
        raise exception.Unavailable(service=f'Scheduler {", ".join(silent)}', reason='no answer')
    if not answers:
        raise exception.DecisionNotFound(uuid=uuid)
    return max(answers, key=lambda answer: answer['at'])
