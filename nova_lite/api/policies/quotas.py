"""Quotas, limits and usage."""

from nova_lite.api.policies import base

SHOW = 'os_compute_api:os-quota-sets:show'
DETAIL = 'os_compute_api:os-quota-sets:detail'
DEFAULTS = 'os_compute_api:os-quota-sets:defaults'
UPDATE = 'os_compute_api:os-quota-sets:update'
DELETE = 'os_compute_api:os-quota-sets:delete'
CLASS_SHOW = 'os_compute_api:os-quota-class-sets:show'
CLASS_UPDATE = 'os_compute_api:os-quota-class-sets:update'
LIMITS = 'os_compute_api:limits'
LIMITS_OF_OTHERS = 'os_compute_api:limits:other_project'
USAGE = 'os_compute_api:os-simple-tenant-usage:show'
USAGE_LIST = 'os_compute_api:os-simple-tenant-usage:list'

_SET = '/os-quota-sets/{project_id}'
_CLASS = '/os-quota-class-sets/{quota_class}'
_USAGE = 'GET /os-simple-tenant-usage'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(SHOW, base.READER, 'Show the limits of a project.', f'GET {_SET}'),
        base.rule(
            DETAIL, base.READER, 'Show the limits and the usage of a project.', f'GET {_SET}/detail'
        ),
        base.rule(DEFAULTS, base.ANYONE, 'Show default limits.', f'GET {_SET}/defaults'),
        base.rule(UPDATE, base.ADMIN, 'Set the limits of a project.', f'PUT {_SET}'),
        base.rule(
            DELETE, base.ADMIN, 'Reset the limits of a project to the defaults.', f'DELETE {_SET}'
        ),
        base.rule(CLASS_SHOW, base.ADMIN, 'Show a quota class.', f'GET {_CLASS}'),
        base.rule(CLASS_UPDATE, base.ADMIN, 'Set the limits of a quota class.', f'PUT {_CLASS}'),
        base.rule(
            LIMITS, base.ANYONE, 'Show the limits and the usage of the own project.', 'GET /limits'
        ),
        base.rule(
            LIMITS_OF_OTHERS,
            base.ADMIN,
            'Show the limits and the usage of another project.',
            'GET /limits',
        ),
        base.rule(USAGE, base.READER, 'Show the usage of a project.', f'{_USAGE}/{{project_id}}'),
        base.rule(USAGE_LIST, base.ADMIN, 'List the usage of all projects.', _USAGE),
    ]
