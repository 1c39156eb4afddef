"""Services: listed, enabled, disabled, forced down, deleted.

Source: reference/nova/api-surface 2.5, reference/nova/cells-and-rpc 3.
"""

import typing

from nova_lite import exception
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import service_changes
from nova_lite.api import service_records
from nova_lite.api import service_removal
from nova_lite.api import times
from nova_lite.api.policies import hosts as rules
from nova_lite.db.cell import services

# Columns to change, and fields of the answer.
Change: typing.TypeAlias = tuple[dict[str, typing.Any], operation.Body]

ALL = '/os-services'
ONE = '/os-services/{service_id}'

# ---- schemas ----------------------------------------------------------------

LIST = {'host': schema_parts.multi(), 'binary': schema_parts.multi()}
LIST_QUERY = {'2.1': schema_parts.query(LIST), '2.75': schema_parts.query(LIST, strict=True)}
REASON = {'type': 'string', 'minLength': 1, 'maxLength': 255}
NAMED = {
    'host': schema_parts.HOST,
    'binary': {'type': 'string', 'minLength': 1, 'maxLength': 255},
    'disabled_reason': REASON,
}
UPDATE_NAMED = {
    '2.1': schema_parts.whole(NAMED, required=('host', 'binary')),
    '2.11': schema_parts.whole(
        {**NAMED, 'forced_down': schema_parts.BOOLEAN}, required=('host', 'binary')
    ),
}
UPDATE = {
    '2.53': schema_parts.whole(
        {
            'status': {'type': 'string', 'enum': ['enabled', 'disabled']},
            'disabled_reason': REASON,
            'forced_down': schema_parts.BOOLEAN,
        }
    )
}


class NotUnique(exception.Invalid):
    msg = 'Service id %(service_id)s refers to multiple services.'


class NoSuchBinary(exception.NotFound):
    msg = 'Could not find binary %(binary)s on host %(host)s.'


class UnknownAction(exception.NotFound):
    msg = 'Unknown action'


# ---- reading ----------------------------------------------------------------


@operation.operation('GET', ALL, policy=rules.SERVICES, query=LIST_QUERY, faults=(400, 403))
def list_services(req: request.Request) -> operation.Result:
    """List the services of all cells; from 2.69 on, those of a silent cell as unknown."""
    where = {name: req.param(name) for name in ('host', 'binary') if req.param(name)}
    found = service_records.every(req, **where)
    shown = [_view(req, record) for record in found.records]
    if req.minor >= 69 and where.get('binary', services.COMPUTE) == services.COMPUTE:
        shown += [
            {'binary': services.COMPUTE, 'host': host, 'status': 'UNKNOWN'}
            for host in service_records.hosts_of(req, found.down)
            if where.get('host', host) == host
        ]
    return {'services': shown}


def _view(req: request.Request, record: service_records.Record) -> operation.Body:
    row = record.row
    shown = {
        'id': row.uuid if req.minor >= 53 else row.id,
        'binary': row.binary,
        'host': row.host,
        'zone': record.zone,
        'status': 'disabled' if row.disabled else 'enabled',
        'state': 'up' if services.is_up(row, req.conf.service_down_time) else 'down',
        'updated_at': times.naive(row.last_seen_up or row.updated_at),
        'disabled_reason': row.disabled_reason,
    }
    if req.minor >= 11:
        shown['forced_down'] = row.forced_down
    return shown


# ---- changing, before 2.53 ----------------------------------------------------


@operation.operation(
    'PUT',
    ONE,
    until='2.52',
    policy=rules.SERVICE_UPDATE,
    body=UPDATE_NAMED,
    faults=(400, 403, 404),
)
def update_named(req: request.Request) -> operation.Result:
    """Change the service of a host and binary, as in the path."""
    action = _ACTIONS.get(req.args['service_id'])
    if action is None or (action is _force_down and req.minor < 11):
        raise UnknownAction()
    host, binary = req.body['host'], req.body['binary']
    _require_compute(binary)
    values, shown = action(req.body)
    cell = req.app.cells.of_host(host)
    row = cell.db.read(services.find, host, binary)
    if row is None:
        raise NoSuchBinary(binary=binary, host=host)
    service_changes.apply(req, cell, row, values)
    return {'service': {'host': host, 'binary': binary, **shown}}


def _require_compute(binary: str) -> None:
    if binary != services.COMPUTE:
        raise exception.Invalid(
            f'Updating a {binary} service is not supported. Only {services.COMPUTE} services can '
            'be updated.'
        )


def _enable(_body: operation.Body) -> Change:
    return service_changes.ENABLED, {'status': 'enabled'}


def _disable(_body: operation.Body) -> Change:
    return {'disabled': True, 'disabled_reason': None}, {'status': 'disabled'}


def _disable_with_reason(body: operation.Body) -> Change:
    if 'disabled_reason' not in body:
        raise exception.Invalid('Missing disabled_reason field')
    reason = body['disabled_reason']
    return (
        {'disabled': True, 'disabled_reason': reason},
        {'status': 'disabled', 'disabled_reason': reason},
    )


def _force_down(body: operation.Body) -> Change:
    if 'forced_down' not in body:
        raise exception.Invalid('Missing forced_down field')
    forced = schema_parts.is_true(body['forced_down'])
    return {'forced_down': forced}, {'forced_down': forced}


_ACTIONS = {
    'enable': _enable,
    'disable': _disable,
    'disable-log-reason': _disable_with_reason,
    'force-down': _force_down,
}


# ---- changing, from 2.53 ------------------------------------------------------


@operation.operation(
    'PUT',
    ONE,
    since='2.53',
    policy=rules.SERVICE_UPDATE,
    body=UPDATE,
    faults=(400, 403, 404),
)
def update(req: request.Request) -> operation.Result:
    """Change status, reason or forced_down of a compute service."""
    record = _by_uuid(req, identifiers.uuid(req.args['service_id']))
    _require_compute(record.row.binary)
    service_changes.apply(req, record.cell, record.row, _changes(req.body))
    return {'service': _view(req, _by_uuid(req, record.row.uuid))}


def _changes(body: operation.Body) -> dict[str, typing.Any]:
    status, reason = body.get('status'), body.get('disabled_reason')
    values = {}
    if status == 'enabled':
        if reason is not None:
            raise exception.Invalid(
                "Specifying 'disabled_reason' when status is 'enabled' is invalid."
            )
        values.update(service_changes.ENABLED)
    elif status == 'disabled':
        values.update(disabled=True, disabled_reason=reason)
    if 'forced_down' in body:
        values['forced_down'] = schema_parts.is_true(body['forced_down'])
    if not values:
        raise exception.Invalid(
            "No updates were requested. Fields 'status' or 'forced_down' should be specified."
        )
    return values


# ---- deleting ---------------------------------------------------------------


@operation.operation(
    'DELETE',
    ONE,
    policy=rules.SERVICE_DELETE,
    success=204,
    faults=(400, 403, 404, 409),
)
def delete(req: request.Request) -> None:
    """Delete a service. With a compute service its nodes and its host mapping are deleted."""
    given = req.args['service_id']
    if req.minor >= 53:
        record = _by_uuid(req, identifiers.uuid(given))
    else:
        record = _by_number(req, identifiers.number(given, 'service id'))
    service_removal.remove(req, record.cell, record.row)


def _by_uuid(req: request.Request, uuid: str) -> service_records.Record:
    return _found(service_records.every(req, uuid=uuid), uuid)[0]


def _by_number(req: request.Request, number: int) -> service_records.Record:
    records = _found(service_records.every(req, id=number), number)
    if len(records) > 1:
        raise NotUnique(service_id=number)
    return records[0]


def _found(found: service_records.Found, key: str | int) -> list[service_records.Record]:
    """Return records. Raise ServiceNotFound, or CellTimeout if a cell that is down may have it."""
    if found.records:
        return found.records
    if found.down:
        raise exception.CellTimeout(service='A cell', reason='no answer', cell=found.down[0].name)
    raise exception.ServiceNotFound(service_id=key)
