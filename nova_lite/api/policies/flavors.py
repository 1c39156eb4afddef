"""Flavors: create and delete flavors, read their extra specs, and change their access."""

from nova_lite.api.policies import base

CREATE = 'os_compute_api:os-flavor-manage:create'
UPDATE = 'os_compute_api:os-flavor-manage:update'
DELETE = 'os_compute_api:os-flavor-manage:delete'
ACCESS = 'os_compute_api:os-flavor-access'
ADD_ACCESS = 'os_compute_api:os-flavor-access:add_tenant_access'
REMOVE_ACCESS = 'os_compute_api:os-flavor-access:remove_tenant_access'
SPECS_LIST = 'os_compute_api:os-flavor-extra-specs:index'
SPECS_SHOW = 'os_compute_api:os-flavor-extra-specs:show'
SPECS_CREATE = 'os_compute_api:os-flavor-extra-specs:create'
SPECS_UPDATE = 'os_compute_api:os-flavor-extra-specs:update'
SPECS_DELETE = 'os_compute_api:os-flavor-extra-specs:delete'

_ACTION = 'POST /flavors/{flavor_id}/action'
_SPECS = '/flavors/{flavor_id}/os-extra_specs'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_flavors(), *_extra_specs()]


def _flavors() -> base.Rules:
    return [
        base.rule(CREATE, base.ADMIN, 'Create a flavor.', 'POST /flavors'),
        base.rule(
            UPDATE, base.ADMIN, 'Change the description of a flavor.', 'PUT /flavors/{flavor_id}'
        ),
        base.rule(DELETE, base.ADMIN, 'Delete a flavor.', 'DELETE /flavors/{flavor_id}'),
        base.rule(
            ACCESS,
            base.ADMIN,
            'List the projects that may use a flavor.',
            'GET /flavors/{flavor_id}/os-flavor-access',
        ),
        base.rule(
            ADD_ACCESS,
            base.ADMIN,
            'Give a project access to a flavor.',
            f'{_ACTION} (addTenantAccess)',
        ),
        base.rule(
            REMOVE_ACCESS,
            base.ADMIN,
            'Remove the access of a project to a flavor.',
            f'{_ACTION} (removeTenantAccess)',
        ),
    ]


def _extra_specs() -> base.Rules:
    return [
        base.rule(
            SPECS_LIST,
            base.READER,
            'List the extra specs of a flavor. Show them in flavors from 2.61 and in '
            'servers from 2.47.',
            f'GET {_SPECS}',
            'GET /flavors/detail',
            'GET /flavors/{flavor_id}',
            'GET /servers/detail',
            'GET /servers/{server_id}',
        ),
        base.rule(
            SPECS_SHOW, base.READER, 'Show an extra spec of a flavor.', f'GET {_SPECS}/{{key}}'
        ),
        base.rule(SPECS_CREATE, base.ADMIN, 'Set extra specs of a flavor.', f'POST {_SPECS}'),
        base.rule(
            SPECS_UPDATE, base.ADMIN, 'Set one extra spec of a flavor.', f'PUT {_SPECS}/{{key}}'
        ),
        base.rule(
            SPECS_DELETE,
            base.ADMIN,
            'Delete an extra spec of a flavor.',
            f'DELETE {_SPECS}/{{key}}',
        ),
    ]
