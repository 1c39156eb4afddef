"""/images/{id}/metadata up to 2.38: the properties of images.

Source: reference/nova/api-surface 2.6.
"""

from collections.abc import Mapping

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.clients import session

PATH = '/images/{id}/metadata'
ONE = PATH + '/{key}'
UNTIL = '2.38'
FAULTS = (400, 403, 404, 409)
BODY = schema_parts.body('metadata', schema_parts.METADATA)
BODY_ONE = schema_parts.body(
    'meta', {**schema_parts.METADATA, 'minProperties': 1, 'maxProperties': 1}
)


@operation.operation('GET', PATH, until=UNTIL, faults=(403, 404))
def index(req: request.Request) -> operation.Result:
    """List all properties of an image."""
    return {'metadata': _properties(req)}


@operation.operation('GET', ONE, until=UNTIL, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one property of an image."""
    key = req.args['key']
    return {'meta': {key: _of_key(_properties(req), key)}}


@operation.operation('POST', PATH, body={'2.1': BODY}, until=UNTIL, faults=FAULTS)
def create(req: request.Request) -> operation.Result:
    """Set some properties of an image, and keep all other properties."""
    before = _properties(req)
    return {'metadata': _change(req, before, {**before, **req.content})}


@operation.operation('PUT', PATH, body={'2.1': BODY}, until=UNTIL, faults=FAULTS)
def replace(req: request.Request) -> operation.Result:
    """Replace all properties of an image."""
    return {'metadata': _change(req, _properties(req), req.content)}


@operation.operation('PUT', ONE, body={'2.1': BODY_ONE}, until=UNTIL, faults=FAULTS)
def update(req: request.Request) -> operation.Result:
    """Set one property of an image."""
    if req.args['key'] not in req.content:
        raise exception.Invalid('Request body and URI mismatch')
    before = _properties(req)
    _change(req, before, {**before, **req.content})
    return {'meta': req.content}


@operation.operation('DELETE', ONE, until=UNTIL, success=204, faults=FAULTS)
def delete(req: request.Request) -> None:
    """Remove one property of an image."""
    before, key = _properties(req), req.args['key']
    _of_key(before, key)
    _change(req, before, {name: value for name, value in before.items() if name != key})


def _properties(req: request.Request) -> session.Json:
    found: session.Json = req.app.image.get(req.ctxt, req.args['id'])['properties']
    return found


def _of_key(properties: Mapping[str, str], key: str) -> str:
    if key not in properties:
        raise exception.NotFound('Metadata item was not found')
    return properties[key]


def _change(req: request.Request, before: session.Json, wanted: session.Json) -> session.Json:
    """Replace the properties `before` of an image by `wanted`. Return the new properties."""
    quota.rules(req).require(quota.own_limits(req), 'metadata_items', len(wanted))
    changed = {name: value for name, value in wanted.items() if before.get(name) != value}
    image = req.app.image.update(
        req.ctxt, req.args['id'], values=changed, remove=sorted(set(before) - set(wanted))
    )
    found: session.Json = image['properties']
    return found
