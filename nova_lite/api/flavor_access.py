"""The projects that may use a flavor that is not public.

Source: reference/nova/api-surface 2.2.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import flavors as flavors_api
from nova_lite.api import operation
from nova_lite.api import projects
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import flavors as rules
from nova_lite.db import rows
from nova_lite.db.api import flavors

ACTION = '/flavors/{flavor_id}/action'
PROJECT = schema_parts.whole(
    {'tenant': {'type': 'string', 'minLength': 1, 'maxLength': 255}}, required=('tenant',)
)


class NoAccessList(exception.NotFound):
    msg = 'Access list not available for public flavors.'


@operation.operation(
    'GET', '/flavors/{flavor_id}/os-flavor-access', policy=rules.ACCESS, faults=(403, 404)
)
def list_access(req: request.Request) -> operation.Result:
    """List the projects that may use the flavor."""
    row = flavors_api.visible(req)
    if row.is_public:
        raise NoAccessList()
    return _answer(row, req.app.api_db.read(flavors.projects, row))


@operation.operation(
    'POST',
    ACTION,
    action='addTenantAccess',
    policy=rules.ADD_ACCESS,
    body={'2.1': schema_parts.body('addTenantAccess', PROJECT)},
    faults=(400, 403, 404, 409),
)
def add_access(req: request.Request) -> operation.Result:
    """Give a project access to the flavor."""
    projects.require(req, req.content['tenant'])
    row = flavors_api.visible(req)
    if req.minor >= 7 and row.is_public:
        raise exception.Conflict('Can not add access to a public flavor.')
    return _answer(row, req.app.api_db.write(_add, row, req.content['tenant']))


@operation.operation(
    'POST',
    ACTION,
    action='removeTenantAccess',
    policy=rules.REMOVE_ACCESS,
    body={'2.1': schema_parts.body('removeTenantAccess', PROJECT)},
    faults=(400, 403, 404),
)
def remove_access(req: request.Request) -> operation.Result:
    """End the right of a project to use the flavor. The project may have been deleted."""
    row = flavors_api.visible(req)
    return _answer(row, req.app.api_db.write(_remove, row, req.content['tenant']))


def _add(connection: sa.Connection, row: rows.Row, project_id: str) -> list[str]:
    flavors.allow(connection, row, project_id)
    return flavors.projects(connection, row)


def _remove(connection: sa.Connection, row: rows.Row, project_id: str) -> list[str]:
    flavors.disallow(connection, row, project_id)
    return flavors.projects(connection, row)


def _answer(row: rows.Row, project_ids: Iterable[str]) -> operation.Body:
    return {
        'flavor_access': [
            {'flavor_id': row.flavorid, 'tenant_id': project_id} for project_id in project_ids
        ]
    }
