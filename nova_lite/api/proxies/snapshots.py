"""/os-snapshots up to 2.35: snapshots of volumes in the volume service.

Source: reference/nova/api-surface 2.6.
"""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import volumes as rules
from nova_lite.api.proxies import lists
from nova_lite.api.proxies import volumes
from nova_lite.clients import items
from nova_lite.clients import session

PATH = '/os-snapshots'
ONE = PATH + '/{id}'
_CONTENT = schema_parts.whole(
    {
        'volume_id': schema_parts.ANY_TEXT,
        'force': schema_parts.BOOLEAN,
        **dict.fromkeys(volumes.NAMES, schema_parts.ANY_TEXT),
    },
    required=['volume_id'],
)


def service(req: request.Request) -> items.Items:
    """Return a client for snapshots of the volume service, with the caller's token."""
    return items.Items(
        req.app.volume.service,
        '/snapshots',
        missing=(exception.SnapshotNotFound, 'snapshot_id'),
        as_user=True,
    )


@operation.operation(
    'GET',
    PATH,
    policy=rules.SNAPSHOTS_LIST,
    query=lists.QUERY,
    until=volumes.UNTIL,
    faults=(400, 403),
)
def index(req: request.Request) -> operation.Result:
    """List the snapshots of the project."""
    return _list(req)


@operation.operation(
    'GET',
    PATH + '/detail',
    policy=rules.SNAPSHOTS_DETAIL,
    query=lists.QUERY,
    until=volumes.UNTIL,
    faults=(400, 403),
)
def detail(req: request.Request) -> operation.Result:
    """List the snapshots of the project; compute shows all fields in both lists."""
    return _list(req)


@operation.operation(
    'GET', ONE, policy=rules.SNAPSHOTS_SHOW, until=volumes.UNTIL, faults=(403, 404)
)
def show(req: request.Request) -> operation.Result:
    """Show one snapshot of a volume."""
    found = service(req).call(req.ctxt, 'GET', req.args['id'])
    return {'snapshot': _view(found.json()['snapshot'])}


@operation.operation(
    'POST',
    PATH,
    policy=rules.SNAPSHOTS_CREATE,
    body={'2.1': schema_parts.body('snapshot', _CONTENT)},
    until=volumes.UNTIL,
    faults=(400, 403, 404),
)
def create(req: request.Request) -> operation.Result:
    """Create a snapshot of a volume; with `force`, even if a server uses the volume."""
    asked = req.content
    wanted = {
        'volume_id': asked['volume_id'],
        'force': schema_parts.is_true(asked.get('force', False)),
        **{name: asked[given] for given, name in volumes.NAMES.items() if asked.get(given)},
    }
    answer = req.app.volume.service.call(
        req.ctxt,
        'POST',
        '/snapshots',
        as_user=True,
        json={'snapshot': wanted},
        errors={
            400: exception.Invalid,
            404: volumes.service(req).missing(asked['volume_id']),
            413: session.verbatim(exception.OverQuota),
        },
    )
    return {'snapshot': _view(answer.json()['snapshot'])}


@operation.operation(
    'DELETE',
    ONE,
    policy=rules.SNAPSHOTS_DELETE,
    until=volumes.UNTIL,
    success=202,
    faults=(400, 403, 404),
)
def delete(req: request.Request) -> None:
    """Delete a snapshot of a volume."""
    service(req).call(req.ctxt, 'DELETE', req.args['id'], errors={400: exception.Invalid})


def _list(req: request.Request) -> operation.Body:
    found = req.app.volume.service.get(
        req.ctxt, '/snapshots/detail', as_user=True, params=lists.params(req)
    )
    return {'snapshots': [_view(each) for each in found['snapshots']]}


def _view(snapshot: session.Json) -> operation.Body:
    return {
        'id': snapshot['id'],
        'volumeId': snapshot['volume_id'],
        'status': snapshot['status'],
        'size': snapshot['size'],
        'createdAt': snapshot['created_at'],
        'displayName': snapshot['name'],
        'displayDescription': snapshot['description'],
    }
