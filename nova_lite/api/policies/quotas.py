"""Quotas, limits and usage."""

from nova_lite.api.policies import base

_SET = '/os-quota-sets/{project_id}'
_USAGE = 'GET /os-simple-tenant-usage'

SHOW = base.rule(
    'os_compute_api:os-quota-sets:show', base.READER, 'Show the limits of a project.', f'GET {_SET}'
)
DETAIL = base.rule(
    'os_compute_api:os-quota-sets:detail',
    base.READER,
    'Show the limits and the usage of a project.',
    f'GET {_SET}/detail',
)
DEFAULTS = base.rule(
    'os_compute_api:os-quota-sets:defaults',
    base.ANYONE,
    'Show default limits.',
    f'GET {_SET}/defaults',
)
UPDATE = base.rule(
    'os_compute_api:os-quota-sets:update', base.ADMIN, 'Set the limits of a project.', f'PUT {_SET}'
)
DELETE = base.rule(
    'os_compute_api:os-quota-sets:delete',
    base.ADMIN,
    'Reset the limits of a project to the defaults.',
    f'DELETE {_SET}',
)
CLASS_SHOW = base.rule('os_compute_api:os-quota-class-sets:show', base.ADMIN, 'Show a quota class.')
CLASS_UPDATE = base.rule(
    'os_compute_api:os-quota-class-sets:update', base.ADMIN, 'Set the limits of a quota class.'
)
LIMITS = base.rule(
    'os_compute_api:limits', base.ANYONE, 'Show the limits and the usage of the own project.'
)
LIMITS_OF_OTHERS = base.rule(
    'os_compute_api:limits:other_project',
    base.ADMIN,
    'Show the limits and the usage of another project.',
    'GET /limits',
)
USAGE = base.rule(
    'os_compute_api:os-simple-tenant-usage:show',
    base.READER,
    'Show the usage of a project.',
    f'{_USAGE}/{{project_id}}',
)
USAGE_LIST = base.rule(
    'os_compute_api:os-simple-tenant-usage:list', base.ADMIN, 'List the usage of all projects.'
)
