"""/os-volumes up to 2.35: volumes of the volume service, in the format of the compute API.

Source: reference/nova/api-surface 2.6.
"""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import volumes as rules
from nova_lite.api.proxies import lists
from nova_lite.clients import items
from nova_lite.clients import session

PATH = '/os-volumes'
ONE = PATH + '/{id}'
UNTIL = '2.35'
# {field of the request: field of the volume service}
NAMES = {'display_name': 'name', 'display_description': 'description'}
KEPT = ('metadata', 'snapshot_id', 'volume_type', 'availability_zone')
_CONTENT = schema_parts.whole(
    {
        'size': schema_parts.UNBOUNDED_POSITIVE,
        'metadata': {'type': 'object'},
        **dict.fromkeys(('snapshot_id', 'volume_type', 'availability_zone'), schema_parts.ANY_TEXT),
        **dict.fromkeys(NAMES, schema_parts.ANY_TEXT),
    },
    required=['size'],
)


def service(req: request.Request) -> items.Items:
    """Return a client for volumes of the volume service, with the caller's token."""
    return items.Items(
        req.app.volume.service,
        '/volumes',
        missing=(exception.VolumeNotFound, 'volume_id'),
        as_user=True,
    )


@operation.operation(
    'GET', PATH, policy=rules.LIST, query=lists.QUERY, until=UNTIL, faults=(400, 403)
)
def index(req: request.Request) -> operation.Result:
    """List the volumes of the project."""
    return _list(req)


@operation.operation(
    'GET', PATH + '/detail', policy=rules.DETAIL, query=lists.QUERY, until=UNTIL, faults=(400, 403)
)
def detail(req: request.Request) -> operation.Result:
    """List the volumes of the project; compute shows all fields in both lists."""
    return _list(req)


@operation.operation('GET', ONE, policy=rules.SHOW, until=UNTIL, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one volume."""
    return {'volume': _view(service(req).call(req.ctxt, 'GET', req.args['id']).json()['volume'])}


@operation.operation(
    'POST',
    PATH,
    policy=rules.CREATE,
    body={'2.1': schema_parts.body('volume', _CONTENT)},
    until=UNTIL,
    faults=(400, 403, 404),
)
def create(req: request.Request) -> operation.Result:
    """Create a volume, empty or from a snapshot."""
    asked = req.content
    wanted = {'size': int(asked['size'])}
    wanted |= {name: asked[name] for name in KEPT if asked.get(name)}
    wanted |= {name: asked[given] for given, name in NAMES.items() if asked.get(given)}
    answer = req.app.volume.service.call(
        req.ctxt,
        'POST',
        '/volumes',
        as_user=True,
        json={'volume': wanted},
        errors={
            400: exception.Invalid,
            404: session.verbatim(exception.NotFound),
            413: session.verbatim(exception.OverQuota),
        },
    )
    view = _view(answer.json()['volume'])
    location = f'{req.root}{req.path}/{view["id"]}'
    return operation.Answer({'volume': view}, headers={'Location': location})


@operation.operation(
    'DELETE', ONE, policy=rules.DELETE, until=UNTIL, success=202, faults=(400, 403, 404)
)
def delete(req: request.Request) -> None:
    """Delete a volume, which no server may use."""
    service(req).call(req.ctxt, 'DELETE', req.args['id'], errors={400: exception.Invalid})


def _list(req: request.Request) -> operation.Body:
    found = req.app.volume.service.get(
        req.ctxt, '/volumes/detail', as_user=True, params=lists.params(req)
    )
    return {'volumes': [_view(each) for each in found['volumes']]}


def _view(volume: session.Json) -> operation.Body:
    attachments = [
        {
            'id': volume['id'],
            'volumeId': volume['id'],
            'serverId': each['server_id'],
            'device': each['device'],
        }
        for each in volume['attachments']
    ]
    return {
        'id': volume['id'],
        'status': volume['status'],
        'size': volume['size'],
        'availabilityZone': volume['availability_zone'],
        'createdAt': volume['created_at'],
        'displayName': volume['name'],
        'displayDescription': volume['description'],
        'volumeType': volume['volume_type'],
        'snapshotId': volume['snapshot_id'],
        'metadata': volume['metadata'],
        # Clients know an empty attachment as that of a volume without any.
        'attachments': attachments or [{}],
    }
