"""Flavors: create and delete flavors, read their extra specs, and change their access."""

from nova_lite.api.policies import base

_SPECS = '/flavors/{flavor_id}/os-extra_specs'

CREATE = base.rule('os_compute_api:os-flavor-manage:create', base.ADMIN, 'Create a flavor.')
UPDATE = base.rule(
    'os_compute_api:os-flavor-manage:update', base.ADMIN, 'Change the description of a flavor.'
)
DELETE = base.rule('os_compute_api:os-flavor-manage:delete', base.ADMIN, 'Delete a flavor.')
ACCESS = base.rule(
    'os_compute_api:os-flavor-access', base.ADMIN, 'List the projects that may use a flavor.'
)
ADD_ACCESS = base.rule(
    'os_compute_api:os-flavor-access:add_tenant_access',
    base.ADMIN,
    'Give a project access to a flavor.',
)
REMOVE_ACCESS = base.rule(
    'os_compute_api:os-flavor-access:remove_tenant_access',
    base.ADMIN,
    'Remove the access of a project to a flavor.',
)
SPECS_LIST = base.rule(
    'os_compute_api:os-flavor-extra-specs:index',
    base.READER,
    'List the extra specs of a flavor. Show them in flavors from 2.61 and in servers from 2.47.',
    f'GET {_SPECS}',
    'GET /flavors/detail',
    'GET /flavors/{flavor_id}',
    'GET /servers/detail',
    'GET /servers/{server_id}',
)
SPECS_SHOW = base.rule(
    'os_compute_api:os-flavor-extra-specs:show', base.READER, 'Show an extra spec of a flavor.'
)
SPECS_CREATE = base.rule(
    'os_compute_api:os-flavor-extra-specs:create', base.ADMIN, 'Set extra specs of a flavor.'
)
SPECS_UPDATE = base.rule(
    'os_compute_api:os-flavor-extra-specs:update', base.ADMIN, 'Set one extra spec of a flavor.'
)
SPECS_DELETE = base.rule(
    'os_compute_api:os-flavor-extra-specs:delete', base.ADMIN, 'Delete an extra spec of a flavor.'
)
