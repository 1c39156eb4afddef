"""Flavors: listed, shown, made, described, deleted.

Source: reference/nova/api-surface 2.2.
"""

from collections.abc import Sequence

from oslo_utils import strutils

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api.policies import flavors as rules
from nova_lite.db import rows
from nova_lite.db.api import flavors

FLAVORS = '/flavors'
FLAVOR = '/flavors/{flavor_id}'
SORT_KEYS = {
    'created_at': 'created_at',
    'description': 'description',
    'disabled': 'disabled',
    'ephemeral_gb': 'ephemeral_gb',
    'flavorid': 'flavorid',
    'id': 'id',
    'is_public': 'is_public',
    'memory_mb': 'memory_mb',
    'name': 'name',
    'root_gb': 'root_gb',
    'rxtx_factor': 'rxtx_factor',
    'swap': 'swap',
    'updated_at': 'updated_at',
    'vcpu_weight': 'id',  # no flavor has one, so all are equal
    'vcpus': 'vcpus',
}

# ---- schemas ----------------------------------------------------------------

LIST = {
    **schema_parts.PAGE,
    'is_public': schema_parts.multi(),
    'minRam': schema_parts.multi(),
    'minDisk': schema_parts.multi(),
    'sort_key': schema_parts.multi({'type': 'string', 'enum': list(SORT_KEYS)}),
    'sort_dir': schema_parts.multi({'type': 'string', 'enum': ['asc', 'desc']}),
}
_V102_SORT = schema_parts.multi(
    {'type': 'string', 'enum': [key for key in SORT_KEYS if key != 'rxtx_factor']}
)
LIST_QUERY = {
    '2.1': schema_parts.query(LIST),
    '2.75': schema_parts.query(LIST, strict=True),
    '2.102': schema_parts.query(
        {
            **LIST,
            'sort_key': _V102_SORT,
            'name': schema_parts.multi({'type': 'string', 'format': 'regex'}),
        },
        strict=True,
    ),
}
DESCRIPTION = {'type': ['string', 'null'], 'maxLength': 65535, 'format': 'printable'}
CREATE_V1 = schema_parts.whole(
    {
        'name': schema_parts.STRIPPED_NAME,
        'id': {
            'type': ['string', 'number', 'null'],
            'maxLength': 255,
            'pattern': r'^(?! )[a-zA-Z0-9. _-]+(?<! )$',
        },
        'ram': schema_parts.POSITIVE,
        'vcpus': schema_parts.POSITIVE,
        'disk': schema_parts.NON_NEGATIVE,
        'OS-FLV-EXT-DATA:ephemeral': schema_parts.NON_NEGATIVE,
        'swap': schema_parts.NON_NEGATIVE,
        'rxtx_factor': {
            'type': ['number', 'string'],
            'pattern': r'^(?=.*[1-9])[0-9]{1,30}(\.[0-9]{1,30})?$',
            'exclusiveMinimum': 0,
            'maximum': 3.40282e38,
        },
        'os-flavor-access:is_public': schema_parts.BOOLEAN,
    },
    required=('name', 'ram', 'vcpus', 'disk'),
)
CREATE_V55 = schema.extended(CREATE_V1, description=DESCRIPTION)
CREATE_V102 = schema.extended(CREATE_V55, rxtx_factor=None)
UPDATE = schema_parts.whole({'description': DESCRIPTION}, required=('description',))


# ---- operations -------------------------------------------------------------


@operation.operation('GET', FLAVORS, query=LIST_QUERY, faults=(400,))
def list_flavors(req: request.Request) -> operation.Result:
    """Names and ids of the flavors the caller may use."""
    chosen = _page(req)
    shown = [_brief(req, row) for row in chosen]
    return paging.with_next(req, 'flavors', shown, _next_marker(req, chosen))


@operation.operation('GET', f'{FLAVORS}/detail', query=LIST_QUERY, faults=(400,))
def list_in_detail(req: request.Request) -> operation.Result:
    """List the flavors that the caller may use."""
    chosen = _page(req)
    shown = [view(req, row) for row in chosen]
    return paging.with_next(req, 'flavors', shown, _next_marker(req, chosen))


@operation.operation('GET', FLAVOR, faults=(404,))
def show(req: request.Request) -> operation.Result:
    """Show one flavor."""
    return {'flavor': view(req, visible(req))}


@operation.operation(
    'POST',
    FLAVORS,
    policy=rules.CREATE,
    body={
        '2.1': schema_parts.body('flavor', CREATE_V1),
        '2.55': schema_parts.body('flavor', CREATE_V55),
        '2.102': schema_parts.body('flavor', CREATE_V102),
    },
    faults=(400, 403, 409),
)
def create(req: request.Request) -> operation.Result:
    """Create a flavor."""
    given = req.content
    flavorid = given.get('id')
    values = {
        'flavorid': runtime.new_uuid() if flavorid in (None, '') else str(flavorid),
        'name': given['name'].strip(),
        'memory_mb': int(given['ram']),
        'vcpus': int(given['vcpus']),
        'root_gb': int(given['disk']),
        'ephemeral_gb': int(given.get('OS-FLV-EXT-DATA:ephemeral', 0)),
        'swap': int(given.get('swap', 0)),
        'rxtx_factor': float(given.get('rxtx_factor', 1.0)),
        'is_public': schema_parts.is_true(given.get('os-flavor-access:is_public', True)),
        'description': given.get('description'),
    }
    return {'flavor': view(req, req.app.api_db.write(flavors.create, values))}


@operation.operation(
    'PUT',
    FLAVOR,
    since='2.55',
    policy=rules.UPDATE,
    body={'2.55': schema_parts.body('flavor', UPDATE)},
    faults=(400, 403, 404),
)
def update(req: request.Request) -> operation.Result:
    """Change the description."""
    row = req.app.api_db.write(flavors.describe, req.args['flavor_id'], req.content['description'])
    return {'flavor': view(req, row)}


@operation.operation('DELETE', FLAVOR, policy=rules.DELETE, success=202, faults=(403, 404))
def delete(req: request.Request) -> None:
    """Delete a flavor; servers keep their copy."""
    req.app.api_db.write(flavors.destroy, req.args['flavor_id'])


# ---- views ------------------------------------------------------------------


def visible(req: request.Request) -> rows.Row:
    """Return the flavor the URL names, if the caller may see it. Raise FlavorNotFound."""
    return req.app.api_db.read(flavors.get, req.args['flavor_id'], restriction(req.ctxt))


def restriction(ctxt: context.RequestContext) -> str | None:
    """Return the project whose flavors the caller is limited to; None for administrators."""
    return None if ctxt.is_admin else ctxt.project_id or ''


def _brief(req: request.Request, row: rows.Row) -> operation.Body:
    shown = {
        'id': row.flavorid,
        'name': row.name,
        'links': links.resource(req, 'flavors', row.flavorid),
    }
    if req.minor >= 55:
        shown['description'] = row.description
    return shown


def view(req: request.Request, row: rows.Row) -> operation.Body:
    """Return the whole of a flavor, as the request's version has it."""
    shown = {
        **_brief(req, row),
        'ram': row.memory_mb,
        'disk': row.root_gb,
        'swap': row.swap if req.minor >= 75 else row.swap or '',
        'vcpus': row.vcpus,
        'OS-FLV-EXT-DATA:ephemeral': row.ephemeral_gb,
        'os-flavor-access:is_public': row.is_public,
    }
    if req.minor < 102:
        shown['OS-FLV-DISABLED:disabled'] = row.disabled
        shown['rxtx_factor'] = row.rxtx_factor
    if req.minor >= 61 and req.allows(rules.SPECS_LIST):
        shown['extra_specs'] = row.extra_specs
    return shown


# ---- lists ------------------------------------------------------------------


def _page(req: request.Request) -> Sequence[rows.Row]:
    sort = (
        SORT_KEYS[req.param('sort_key') or 'flavorid'],
        req.param('sort_dir') or 'asc',
    )
    return req.app.api_db.read(
        flavors.page,
        _conditions(req),
        sort=sort,
        limit=paging.limit_of(req),
        marker=req.param('marker'),
    )


def _conditions(req: request.Request) -> list[rows.Condition]:
    min_memory_mb, min_root_gb = _number(req, 'minRam'), _number(req, 'minDisk')
    is_admin = req.ctxt.is_admin
    conditions = flavors.matching(
        project_id=req.ctxt.project_id,
        min_memory_mb=min_memory_mb,
        min_root_gb=min_root_gb,
        is_public=_is_public(req) if is_admin else True,
        disabled=None if is_admin else False,
    )
    name = req.param('name')
    return [*conditions, flavors.named(name)] if name else conditions


def _is_public(req: request.Request) -> bool | None:
    """Return the filter by visibility of an administrator: None for both kinds."""
    text = req.param('is_public')
    if text is None:
        return True
    if text.lower() == 'none':
        return None
    try:
        return strutils.bool_from_string(text, strict=True)
    except ValueError:
        raise exception.Invalid(f'Invalid is_public filter [{text}]') from None


def _number(req: request.Request, name: str) -> int | None:
    text = req.param(name)
    if text is None:
        return None
    try:
        return max(-1, min(int(text), 2**31 - 1))
    except ValueError:
        raise exception.Invalid(f'Invalid {name} filter [{text}]') from None


def _next_marker(req: request.Request, chosen: Sequence[rows.Row]) -> str | None:
    return chosen[-1].flavorid if paging.is_full(req, chosen, paging.limit_of(req)) else None
