"""Host aggregates.

Membership is mirrored to placement, where the scheduler's request filters look
for it. Source: reference/nova/api-surface 2.5, reference/nova/scheduling 10.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import aggregate_zones
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import times
from nova_lite.api.policies import aggregates as rules
from nova_lite.db import rows
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

ALL = '/os-aggregates'
ONE = '/os-aggregates/{aggregate_id}'
ACTION = '/os-aggregates/{aggregate_id}/action'
ZONE = aggregates.ZONE

# ---- schemas ----------------------------------------------------------------

ZONE_NAME = {
    **schema_parts.null_or({**schema_parts.NAME, 'pattern': r'^[^:]*$'}),
    schema.V2: schema.STRIP,
}
FIELDS = {'name': schema_parts.STRIPPED_NAME, 'availability_zone': ZONE_NAME}
CREATE = schema_parts.body('aggregate', schema_parts.whole(FIELDS, required=('name',)))
# A new name may have blanks at its ends, which are dropped.
CHANGES = {**FIELDS, 'name': {**schema_parts.NAME, 'format': 'name_to_strip'}}
UPDATE = schema_parts.body('aggregate', {**schema_parts.whole(CHANGES), 'minProperties': 1})
HOST = schema_parts.whole({'host': schema_parts.HOST}, required=('host',))
METADATA = {
    'type': 'object',
    'patternProperties': {
        schema_parts.METADATA_KEY: {'type': ['string', 'null'], 'maxLength': 255}
    },
    'additionalProperties': False,
}
SET_METADATA = schema_parts.whole({'metadata': METADATA}, required=('metadata',))


class UnknownHost(exception.NotFound):
    msg = 'Compute host %(host)s could not be found.'


# ---- operations -------------------------------------------------------------


@operation.operation('GET', ALL, policy=rules.LIST, faults=(403,))
def list_aggregates(req: request.Request) -> operation.Result:
    """List all aggregates."""
    found = req.app.api_db.read(aggregates.every)
    return {'aggregates': [_view(req, aggregate) for aggregate in found]}


@operation.operation('GET', ONE, policy=rules.SHOW, faults=(400, 403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one aggregate."""
    return _answer(req, _id(req))


@operation.operation('POST', ALL, policy=rules.CREATE, body={'2.1': CREATE}, faults=(400, 403, 409))
def create(req: request.Request) -> operation.Result:
    """Create an aggregate without hosts."""
    zone = (req.content.get('availability_zone') or '').strip()
    aggregate = req.app.api_db.write(
        aggregates.create,
        uuid=runtime.new_uuid(),
        name=req.content['name'].strip(),
        metadata={ZONE: zone} if zone else {},
    )
    shown = _view(req, aggregate)
    del shown['hosts'], shown['metadata']
    return {'aggregate': shown}


@operation.operation(
    'PUT', ONE, policy=rules.UPDATE, body={'2.1': UPDATE}, faults=(400, 403, 404, 409)
)
def update(req: request.Request) -> operation.Result:
    """Change name, zone or both."""
    aggregate_id, given = _id(req), req.content
    metadata = {ZONE: given[ZONE]} if ZONE in given else {}
    name = given['name'].strip() if 'name' in given else None
    _change_metadata(req, aggregate_id, metadata, action='update', name=name)
    return _answer(req, aggregate_id)


@operation.operation('DELETE', ONE, policy=rules.DELETE, faults=(400, 403, 404))
def delete(req: request.Request) -> None:
    """Delete an aggregate that has no hosts."""
    req.app.api_db.write(aggregates.destroy, _id(req))


@operation.operation(
    'POST',
    ACTION,
    action='set_metadata',
    policy=rules.SET_METADATA,
    body={'2.1': schema_parts.body('set_metadata', SET_METADATA)},
    faults=(400, 403, 404, 409),
)
def set_metadata(req: request.Request) -> operation.Result:
    """Add, replace or (with null) remove metadata."""
    aggregate_id = _id(req)
    _change_metadata(req, aggregate_id, req.content['metadata'], action='update metadata of')
    return _answer(req, aggregate_id)


@operation.operation(
    'POST',
    ACTION,
    action='add_host',
    policy=rules.ADD_HOST,
    body={'2.1': schema_parts.body('add_host', HOST)},
    faults=(400, 403, 404, 409),
)
def add_host(req: request.Request) -> operation.Result:
    """Put a host into the aggregate, here and then in placement."""
    aggregate_id, host = _id(req), req.content['host']
    nodes = _nodes(req, host)

    def change(aggregate: aggregates.Aggregate) -> aggregates.Aggregate:
        return dataclasses.replace(aggregate, hosts=(*aggregate.hosts, host))

    plan = aggregate_zones.Plan(aggregate_id, change, action='add host to')
    plan.admit(req)
    try:
        req.app.api_db.write(_add_host, plan, host)
    except exception.Unavailable as error:
        # The connection may have been lost after the transaction had been committed.
        lost = error.kwargs.get('may_have_committed')
        if not (lost and _is_member(req, aggregate_id, host)):
            raise
    aggregate = req.app.api_db.read(aggregates.get, aggregate_id)
    _settle(req, nodes, aggregate, host, is_in=True)
    # Once more: placement may have been asked before it knew of the membership.
    req.app.api_db.write(stamps.bump, stamps.AGGREGATES)
    return {'aggregate': _view(req, aggregate)}


@operation.operation(
    'POST',
    ACTION,
    action='remove_host',
    policy=rules.REMOVE_HOST,
    body={'2.1': schema_parts.body('remove_host', HOST)},
    faults=(400, 403, 404, 409),
)
def remove_host(req: request.Request) -> operation.Result:
    """Take a host out of the aggregate, in placement first."""
    aggregate_id, host = _id(req), req.content['host']
    aggregate = req.app.api_db.read(aggregates.get, aggregate_id)
    if host not in aggregate.hosts:
        raise exception.AggregateHostNotFound(aggregate_id=aggregate_id, host=host)

    def change(aggregate: aggregates.Aggregate) -> aggregates.Aggregate:
        left = tuple(name for name in aggregate.hosts if name != host)
        return dataclasses.replace(aggregate, hosts=left)

    aggregate_zones.Plan(aggregate_id, change, action='remove host from').admit(req)
    nodes = _nodes(req, host)
    try:
        for node in nodes:
            _unmirror(req, node, aggregate)
        req.app.api_db.write(aggregates.remove_host, aggregate_id, host)
    except exception.NovaLiteError as error:
        if _is_member(req, aggregate_id, host):
            # Nodes may have left the aggregate in placement already.
            _settle(req, nodes, aggregate, host, is_in=True)
            req.app.api_db.write(stamps.bump, stamps.AGGREGATES)
            raise
        if not error.kwargs.get('may_have_committed'):
            raise
    # A request that added the host may have written to placement between these two.
    _settle(req, nodes, aggregate, host, is_in=False)
    return _answer(req, aggregate_id)


# ---- parts ------------------------------------------------------------------


def _id(req: request.Request) -> int:
    """Return the number in the path. Raise Invalid, or AggregateNotFound for a negative one."""
    text = req.args['aggregate_id']
    number = identifiers.number(text.removeprefix('-'), 'aggregate_id')
    if text.startswith('-'):
        raise exception.AggregateNotFound(aggregate_id=text)
    return number


def _answer(req: request.Request, aggregate_id: int) -> operation.Body:
    return {'aggregate': _view(req, req.app.api_db.read(aggregates.get, aggregate_id))}


def _view(req: request.Request, aggregate: aggregates.Aggregate) -> operation.Body:
    shown = {
        'id': aggregate.id,
        'name': aggregate.name,
        'availability_zone': aggregate.availability_zone,
        'hosts': list(aggregate.hosts),
        'metadata': aggregate.metadata,
        'created_at': times.naive(aggregate.created_at),
        'updated_at': times.naive(aggregate.updated_at),
        'deleted': False,
        'deleted_at': None,
    }
    if req.minor >= 41:
        shown['uuid'] = aggregate.uuid
    return shown


def _change_metadata(
    req: request.Request,
    aggregate_id: int,
    metadata: Mapping[str, str | None],
    *,
    action: str,
    name: str | None = None,
) -> None:
    def change(aggregate: aggregates.Aggregate) -> aggregates.Aggregate:
        merged: dict[str, str | None] = {**aggregate.metadata, **metadata}
        left = {key: value for key, value in merged.items() if value is not None}
        return dataclasses.replace(aggregate, metadata=left)

    current = req.app.api_db.read(aggregates.get, aggregate_id)
    plan = None
    if ZONE in metadata:
        plan = aggregate_zones.Plan(
            aggregate_id, change, action=action, refusal=aggregate_zones.ChangeRefused
        )
        if not metadata[ZONE]:
            raise plan.refuse(
                f'Aggregate {current.name} does not support empty named availability zone'
            )
        plan.admit(req)
    req.app.api_db.write(_update, aggregate_id, metadata, name=name, plan=plan)


def _update(
    connection: sa.Connection,
    aggregate_id: int,
    metadata: Mapping[str, str | None],
    *,
    name: str | None,
    plan: aggregate_zones.Plan | None,
) -> None:
    if plan is not None:
        plan.recheck(connection)
    if name is not None:
        aggregates.rename(connection, aggregate_id, name)
    if metadata:
        aggregates.set_metadata(connection, aggregate_id, metadata)


def _add_host(connection: sa.Connection, plan: aggregate_zones.Plan, host: str) -> None:
    plan.recheck(connection)
    aggregates.add_host(connection, plan.aggregate_id, host)


def _nodes(req: request.Request, host: str) -> Sequence[rows.Row]:
    """Return the nodes of a compute host. Raise HostMappingNotFound, UnknownHost."""
    cell = req.app.cells.of_host(host)
    service, nodes = cell.db.read(_service_and_nodes, host)
    if service is None:
        raise UnknownHost(host=host)
    return nodes


def _service_and_nodes(
    connection: sa.Connection, host: str
) -> tuple[rows.Row | None, Sequence[rows.Row]]:
    return services.find(connection, host), compute_nodes.every(connection, host=host)


def _settle(
    req: request.Request,
    nodes: Sequence[rows.Row],
    aggregate: aggregates.Aggregate,
    host: str,
    *,
    is_in: bool,
) -> None:
    """Write the membership of the host to placement until it agrees with the records.

    Hosts may be added and removed at the same time. The request that comes last to
    placement must not leave there what no longer holds. A failure is logged and left to
    the super-conductor's audit.
    """
    while True:
        for node in nodes:
            _mirror(req, node, aggregate, is_in=is_in)
        if _is_member(req, aggregate.id, host) == is_in:
            return
        is_in = not is_in


def _is_member(req: request.Request, aggregate_id: int, host: str) -> bool:
    found = req.app.api_db.read(aggregates.of_host, host)
    return aggregate_id in {each.id for each in found}


def _mirror(
    req: request.Request, node: rows.Row, aggregate: aggregates.Aggregate, *, is_in: bool
) -> None:
    try:
        if is_in:
            req.app.placement.providers.add_to_aggregate(req.ctxt, node.uuid, aggregate.uuid)
        else:
            _unmirror(req, node, aggregate)
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot %s provider %s %s aggregate %s in placement: %s. The next audit of the '
            'super-conductor ([conductor]aggregate_audit_interval) repairs it; '
            '`nova-lite-manage placement sync_aggregates` repairs it at once.',
            'add' if is_in else 'remove',
            node.uuid,
            'to' if is_in else 'from',
            aggregate.uuid,
            error,
        )


def _unmirror(req: request.Request, node: rows.Row, aggregate: aggregates.Aggregate) -> None:
    try:
        req.app.placement.providers.remove_from_aggregate(req.ctxt, node.uuid, aggregate.uuid)
    except exception.ResourceProviderNotFound:
        LOG.info(
            'Node %s has no resource provider; nothing to remove from the aggregate', node.uuid
        )
