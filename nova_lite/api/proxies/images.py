"""/images up to 2.35: the images of the image service, in the format of the compute API.

Source: reference/nova/api-surface 2.6.
"""

from collections.abc import Callable

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.clients import session

PATH = '/images'
ONE = PATH + '/{id}'
UNTIL = '2.35'
STATUSES = {
    'active': 'ACTIVE',
    'queued': 'SAVING',
    'saving': 'SAVING',
    'importing': 'SAVING',
    'deleted': 'DELETED',
    'pending_delete': 'DELETED',
    'killed': 'ERROR',
}
PROGRESS = {'queued': 25, 'saving': 50, 'importing': 50, 'active': 100}
# {query parameter: attribute of images with which it is compared}
FILTERS = {
    'name': 'name',
    'type': 'image_type',
    'minRam': 'min_ram',
    'minDisk': 'min_disk',
}
PROPERTY = 'property-'
MEDIA = 'application/vnd.openstack.image'
QUERY = {
    '2.1': {
        'type': 'object',
        'properties': {
            'limit': schema_parts.multi(schema_parts.POSITIVE_NUMBER),
            'marker': schema_parts.multi(),
            **dict.fromkeys((*FILTERS, 'status', 'server'), schema_parts.multi()),
            'changes-since': schema_parts.multi(),
        },
        'patternProperties': {f'^{PROPERTY}': schema_parts.multi()},
        'additionalProperties': True,
    }
}


@operation.operation('GET', PATH, query=QUERY, until=UNTIL, faults=(400, 403))
def index(req: request.Request) -> operation.Result:
    """List the ids, names and links of images."""
    return _list(req, lambda image: _brief(req, image))


@operation.operation('GET', PATH + '/detail', query=QUERY, until=UNTIL, faults=(400, 403))
def detail(req: request.Request) -> operation.Result:
    """List images with all their fields."""
    return _list(req, lambda image: _full(req, image))


@operation.operation('GET', ONE, until=UNTIL, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one image."""
    return {'image': _full(req, req.app.image.get(req.ctxt, req.args['id']))}


@operation.operation('DELETE', ONE, until=UNTIL, success=204, faults=(403, 404, 409))
def delete(req: request.Request) -> None:
    """Delete an image."""
    req.app.image.delete(req.ctxt, req.args['id'])


def _list(req: request.Request, view: Callable[[session.Json], operation.Body]) -> operation.Body:
    found = req.app.image.list(req.ctxt, **{**_filters(req), 'limit': paging.limit_of(req)})
    full = paging.is_full(req, found, paging.limit_of(req))
    marker = found[-1]['id'] if full else None
    return paging.with_next(req, 'images', [view(image) for image in found], marker)


def _filters(req: request.Request) -> dict[str, str]:
    """Return the query parameters in the format of the image service."""
    given = {name: values[-1] for name, values in req.params.items() if values}
    chosen = {name: given[key] for key, name in FILTERS.items() if key in given}
    for key, value in given.items():
        if key.startswith(PROPERTY):
            chosen[key.removeprefix(PROPERTY)] = value
    if given.get('marker'):
        chosen['marker'] = given['marker']
    if 'changes-since' in given:
        chosen['updated_at'] = f'gte:{given["changes-since"]}'
    if given.get('server'):
        # Clients may name a server by the link to it.
        chosen['instance_uuid'] = given['server'].rstrip('/').rpartition('/')[2]
    if given.get('status'):
        wanted = given['status'].upper()
        known = [name for name, shown in STATUSES.items() if shown == wanted]
        if not known:
            raise exception.Invalid(f'status: {wanted} is not the status of an image')
        chosen['status'] = f'in:{",".join(known)}'
    return chosen


def _brief(req: request.Request, image: session.Json) -> operation.Body:
    own = links.resource(req, 'images', image['id'])
    alternate = {'rel': 'alternate', 'type': MEDIA, 'href': req.app.image.url_of(image['id'])}
    return {'id': image['id'], 'name': image['name'], 'links': [*own, alternate]}


def _full(req: request.Request, image: session.Json) -> operation.Body:
    properties = image['properties']
    shown = {
        **_brief(req, image),
        'minRam': image['min_ram'],
        'minDisk': image['min_disk'],
        'metadata': properties,
        'created': image['created_at'],
        'updated': image['updated_at'],
        'status': STATUSES.get(image['status'], 'UNKNOWN'),
        'progress': PROGRESS.get(image['status'], 0),
        'OS-EXT-IMG-SIZE:size': image['size'] or 0,
    }
    server = properties.get('instance_uuid')
    if server is not None and formats.is_uuid(server):
        shown['server'] = {'id': server, 'links': links.resource(req, 'servers', server)}
    if 'auto_disk_config' in properties:
        shown['OS-DCF:diskConfig'] = (
            'AUTO' if schema_parts.is_true(properties['auto_disk_config']) else 'MANUAL'
        )
    return shown
