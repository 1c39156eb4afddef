"""/os-security-groups up to 2.35: the groups of the caller's project in the network service.

Source: reference/nova/api-surface 2.6.
"""

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import security_group_views as views
from nova_lite.api.policies import security_groups as rules
from nova_lite.api.proxies import lists
from nova_lite.clients import items
from nova_lite.clients import session

PATH = '/os-security-groups'
ONE = PATH + '/{id}'
UNTIL = '2.35'
FAULTS = (400, 403, 404)
QUERY = {'2.1': schema_parts.query({**lists.PARAMETERS, 'all_tenants': schema_parts.multi()})}
_CONTENT = schema_parts.open_object(
    {
        'name': schema_parts.TEXT,
        'description': schema_parts.TEXT,
    },
    required=['name', 'description'],
)
BODY = {'2.1': schema_parts.open_object({'security_group': _CONTENT}, required=['security_group'])}


def service(req: request.Request) -> items.Items:
    """Return a client for security groups of the network service, with the caller's token."""
    return items.Items(
        req.app.network.service,
        '/security-groups',
        missing=(exception.SecurityGroupNotFound, 'group'),
        as_user=True,
    )


def get(req: request.Request, group_id: str) -> session.Json:
    """Return a security group of the network service. Raise SecurityGroupNotFound."""
    found: session.Json = service(req).call(req.ctxt, 'GET', group_id).json()['security_group']
    return found


def _shown(req: request.Request, group: session.Json) -> operation.Body:
    (found,) = views.groups(req, [group])
    return {'security_group': found}


@operation.operation('GET', PATH, policy=rules.GET, query=QUERY, until=UNTIL, faults=(400, 403))
def index(req: request.Request) -> operation.Result:
    """List the groups of the project; on request of an administrator, of all projects."""
    filters = {'tenant_id': req.ctxt.project_id}
    if req.ctxt.is_admin and 'all_tenants' in req.params:
        filters = {}
    found = req.app.network.list(req.ctxt, 'security-groups', as_user=True, **filters)
    return {'security_groups': lists.page(req, views.groups(req, found))}


@operation.operation('GET', ONE, policy=rules.SHOW, until=UNTIL, faults=FAULTS)
def show(req: request.Request) -> operation.Result:
    """Show one security group."""
    return _shown(req, get(req, uuid_of(req)))


@operation.operation('POST', PATH, policy=rules.CREATE, body=BODY, until=UNTIL, faults=(400, 403))
def create(req: request.Request) -> operation.Result:
    """Create a security group."""
    answer = req.app.network.service.call(
        req.ctxt,
        'POST',
        '/security-groups',
        as_user=True,
        json={'security_group': _values(req)},
        errors={400: exception.Invalid, 409: session.verbatim(exception.OverQuota)},
    )
    return _shown(req, answer.json()['security_group'])


@operation.operation('PUT', ONE, policy=rules.UPDATE, body=BODY, until=UNTIL, faults=FAULTS)
def update(req: request.Request) -> operation.Result:
    """Change the name and the description of a security group."""
    answer = service(req).call(
        req.ctxt,
        'PUT',
        uuid_of(req),
        json={'security_group': _values(req)},
        errors={400: exception.Invalid, 409: exception.Invalid},
    )
    return _shown(req, answer.json()['security_group'])


@operation.operation('DELETE', ONE, policy=rules.DELETE, until=UNTIL, success=202, faults=FAULTS)
def delete(req: request.Request) -> None:
    """Delete a security group, which no port may use."""
    service(req).call(req.ctxt, 'DELETE', uuid_of(req), errors={409: exception.Invalid})


def uuid_of(req: request.Request) -> str:
    """Return the id of a group or rule in the URL. Raise Invalid if it cannot be an id."""
    found = req.args['id']
    if not formats.is_uuid(found):
        raise exception.Invalid(f"id should be uuid, not '{found}'")
    return found


def _values(req: request.Request) -> dict[str, str]:
    return {'name': req.content['name'], 'description': req.content['description'] or ''}
