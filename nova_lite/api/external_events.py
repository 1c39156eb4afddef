"""Events that other services report about servers.

After an event about networks the ports are read again from the network service, see
`lifecycle.port_changes`. An event about power starts or stops the server. An event about an
extended volume is recorded as an action. Other events are only logged: simulated hosts have no
accelerators, and their volumes have no contents.
Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from oslo_log import log

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import system as rules
from nova_lite.api.servers import moves
from nova_lite.api.servers import power_update
from nova_lite.api.servers import volume_extended
from nova_lite.clients import plugging
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import reset_builds
from nova_lite.lifecycle import port_changes

Event: typing.TypeAlias = dict[str, typing.Any]
# {uuid: the server}
Servers: typing.TypeAlias = dict[str, server_access.Server]

LOG = log.getLogger(__name__)

PLUGGED, DELETED = plugging.EVENT, 'network-vif-deleted'
STATUS = (PLUGGED, 'network-vif-unplugged')
NETWORK = (*STATUS, 'network-changed', DELETED)
# Events after which nothing waits for a port any more.
SETTLED = (PLUGGED, DELETED)
TAGGED = frozenset((volume_extended.NAME, power_update.NAME, 'accelerator-request-bound'))
MULTI_STATUS = 207
COMPLETED = 'completed'


def _events(*names: str) -> schema.Source:
    event = schema_parts.whole(
        {
            'name': {'type': 'string', 'enum': [*NETWORK, *names]},
            'server_uuid': schema_parts.UUID,
            'status': {'type': 'string', 'enum': ['failed', COMPLETED, 'in-progress']},
            'tag': schema_parts.TEXT,
        },
        required=('name', 'server_uuid'),
    )
    return schema_parts.whole(
        {'events': {'type': 'array', 'minItems': 1, 'items': event}}, required=('events',)
    )


BODY = {
    '2.1': _events(),
    '2.51': _events('volume-extended'),
    '2.76': _events('volume-extended', 'power-update'),
    '2.82': _events('volume-extended', 'power-update', 'accelerator-request-bound'),
    '2.93': _events(
        'volume-extended', 'power-update', 'accelerator-request-bound', 'volume-reimaged'
    ),
}


@operation.operation(
    'POST',
    '/os-server-external-events',
    policy=rules.EXTERNAL_EVENTS,
    body=BODY,
    faults=(400, 403),
)
def create(req: request.Request) -> operation.Result:
    """Accept events. The response has the result of each."""
    events = req.body['events']
    servers = _servers(req, {event['server_uuid'] for event in events})
    judged = [(event, _code(event, servers)) for event in events]
    for uuid, lost in sorted(_changed(events, servers).items()):
        port_changes.follow(req.app, servers[uuid].cell, servers[uuid].row, lost)
    accepted = [event for event, code in judged if code == 200]
    _report_plugged(req, servers, [event for event in accepted if event['name'] in SETTLED])
    for event in accepted:
        if event['name'] == power_update.NAME:
            power_update.follow(req, servers[event['server_uuid']], event['tag'])
        elif event['name'] == volume_extended.NAME:
            volume_extended.follow(req, servers[event['server_uuid']])
    answers = [_answer(event, code) for event, code in judged]
    status = 200 if len(accepted) == len(answers) else MULTI_STATUS
    return operation.Answer({'events': answers}, status=status)


def _changed(events: Iterable[Event], servers: Servers) -> dict[str, set[str]]:
    """Return {uuid: ids of deleted ports} of the servers whose ports have changed.

    Those that are on no host have records as well, although their events are answered with 422.
    """
    changed: dict[str, set[str]] = {}
    for event in events:
        if _is_change(event, servers):
            lost = changed.setdefault(event['server_uuid'], set())
            if event['name'] == DELETED and event.get('tag'):
                lost.add(event['tag'])
    return changed


def _is_change(event: Event, servers: Servers) -> bool:
    """Return whether an event is about a change to follow.

    The status of ports is known at the end of a task without it.
    """
    if event['name'] not in NETWORK or event['server_uuid'] not in servers:
        return False
    row = servers[event['server_uuid']].row
    return event['name'] not in STATUS or row.task_state is None


def _servers(req: request.Request, uuids: Iterable[str]) -> Servers:
    """Return {uuid: server} of the servers that are in a cell."""
    by_cell: dict[int, dict[str, rows.Row]] = {}
    for mapping in req.app.api_db.read(instance_mappings.of, uuids):
        if mapping.cell_id is not None:
            by_cell.setdefault(mapping.cell_id, {})[mapping.instance_uuid] = mapping
    found = {}
    for cell_id, mapped in by_cell.items():
        cell = req.app.cells.by_id(cell_id)
        for row in cell.db.read(instances.of, list(mapped)):
            found[row.uuid] = server_access.Server(row, cell=cell, mapping=mapped[row.uuid])
    return found


def _answer(event: Event, code: int) -> Event:
    """Return an event with what became of it; a status that was sent is not repeated."""
    status = COMPLETED if code == 200 else 'failed'
    LOG.info(
        'Event %s %s of server %s: %s',
        event['name'],
        event.get('tag'),
        event['server_uuid'],
        code,
    )
    return {**event, 'status': status, 'code': code}


def _code(event: Event, servers: Servers) -> int:
    if event['server_uuid'] not in servers:
        return 404
    if event['name'] in TAGGED and not event.get('tag'):
        return 400
    return 200 if servers[event['server_uuid']].row.host else 422


def _report_plugged(req: request.Request, servers: Servers, events: Iterable[Event]) -> None:
    """Report events about ports to what waits for them: builds and moves.

    A port that was deleted need not be plugged.
    """
    by_server: dict[str, dict[str, str]] = {}
    for event in events:
        if event.get('tag'):
            status = event.get('status', COMPLETED)
            by_server.setdefault(event['server_uuid'], {})[event['tag']] = status
    for uuid, plugged in sorted(by_server.items()):
        cell, row = servers[uuid].cell, servers[uuid].row
        if reset_builds.is_building(row):
            _report_to_build(req, cell, row, plugged)
        elif row.task_state is not None:
            cell.db.write(live_migrations.note_plugged, uuid, plugged)
            saga = req.app.api_db.read(sagas.find_active, uuid)
            if saga is not None and req.app.api_db.write(sagas.wake, saga.uuid):
                moves.run_saga(req, saga.uuid)


def _report_to_build(
    req: request.Request, cell: cells.Cell, row: rows.Row, plugged: Mapping[str, str]
) -> None:
    events = [{'tag': port_id, 'status': status} for port_id, status in plugged.items()]
    try:
        req.app.compute(cell).external_instance_event(
            req.ctxt, host=row.host, instance_uuid=row.uuid, events=events
        )
    except exception.Unavailable as error:
        LOG.warning(
            'Cannot report events of server %s to host %s: %s. The build reads the status of the '
            'ports later.',
            row.uuid,
            row.host,
            error,
        )
