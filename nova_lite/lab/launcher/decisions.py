"""Scheduling decisions that the schedulers of a cloud have in memory.

The schedulers of daemons in processes are asked over RPC, the scheduler of an embedded cloud over
HTTP, because its buses are inside its process.
"""

import json
import typing

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.daemons import local_endpoint
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import which_cloud
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler

BINARY = 'nova-scheduler'

# The end of the name of a file with a decision.
SUFFIX = '.json'

# The result of SchedulerAPI.why.
Decision: typing.TypeAlias = dict[str, typing.Any]

TEXT: schemas.Source = {'type': 'string'}
TEXT_OR_NULL: schemas.Source = {'type': ['string', 'null']}
HOST: dict[str, schemas.Source] = {
    'host': TEXT,
    'stage': TEXT,
    'reason': TEXT_OR_NULL,
    'weight': {'type': ['number', 'null']},
    'weights': {'type': 'object', 'additionalProperties': {'type': 'number'}},
}
DECISION: dict[str, schemas.Source] = {
    **dict.fromkeys(('instance_uuid', 'request_id', 'at'), TEXT),
    **dict.fromkeys(('chosen', 'error'), TEXT_OR_NULL),
    'request_filters': {
        'type': 'array',
        'items': {'type': 'array', 'items': TEXT, 'minItems': 2, 'maxItems': 2},
    },
    'queries': {'type': 'array', 'items': TEXT},
    'hosts': {'type': 'array', 'items': schema_parts.open_object(HOST, required=list(HOST))},
    'more': {'type': 'integer'},
}
SCHEMA = schemas.Schema(
    schema_parts.open_object(DECISION, required=list(DECISION)), place='decision'
)


class NotRead(exception.Invalid):
    msg = (
        '%(path)s has no decision: %(reason)s. Name a file that `nova-lite why SERVER --json` has '
        'written, or a server'
    )


def of(which: which_cloud.Cloud, given: str) -> Decision:
    """Return a decision that is given as a server of a cloud, or as the path of a JSON file.

    Raise NotRead, or as `find`.
    """
    return read(given) if given.endswith(SUFFIX) else find(which.conf(), given)


def read(path: str) -> Decision:
    """Return the decision that `nova-lite why --json` has written to a file. Raise NotRead."""
    try:
        with open(path, encoding='utf-8') as file:
            found: Decision = json.load(file)
        SCHEMA.check(found)
    except OSError as error:
        raise NotRead(path=path, reason=messages.cause(error)) from error
    except (ValueError, RecursionError) as error:
        raise NotRead(path=path, reason='it is not JSON') from error
    except exception.Invalid as error:
        raise NotRead(path=path, reason=str(error).rstrip('.')) from error
    return found


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
