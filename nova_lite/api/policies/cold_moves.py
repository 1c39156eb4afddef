"""Resize, cold migrate, confirm and revert, and the list of all migrations."""

from nova_lite.api.policies import base

_SERVERS = 'os_compute_api:servers:'
_ACTION = 'POST /servers/{server_id}/action'
_LIST = 'GET /os-migrations'

RESIZE = base.rule(_SERVERS + 'resize', base.MEMBER, 'Resize a server.', f'{_ACTION} (resize)')
CONFIRM_RESIZE = base.rule(
    _SERVERS + 'confirm_resize', base.MEMBER, 'Confirm a resize.', f'{_ACTION} (confirmResize)'
)
REVERT_RESIZE = base.rule(
    _SERVERS + 'revert_resize', base.MEMBER, 'Revert a resize.', f'{_ACTION} (revertResize)'
)
MIGRATE = base.rule(
    'os_compute_api:os-migrate-server:migrate',
    base.MANAGER,
    'Cold migrate a server to a host that the scheduler selects.',
    f'{_ACTION} (migrate)',
)
MIGRATE_HOST = base.rule(
    MIGRATE + ':host',
    base.ADMIN,
    'Cold migrate a server to a named host. Checked instead of os-migrate-server:migrate.',
    f'{_ACTION} (migrate)',
)
CROSS_CELL = base.rule(
    'compute:servers:resize:cross_cell',
    base.NOBODY,
    'Allow a resize or a cold migration to move a server to another cell.',
    f'{_ACTION} (resize)',
    f'{_ACTION} (migrate)',
)
MIGRATIONS = base.rule('os_compute_api:os-migrations:index', base.MANAGER, 'List migrations.')
MIGRATIONS_ALL = base.rule(
    MIGRATIONS + ':all_projects', base.ADMIN, 'List migrations of other projects.', _LIST
)
MIGRATIONS_HOST = base.rule(
    MIGRATIONS + ':host',
    base.ADMIN,
    'Show the source and destination hosts in the list of migrations.',
    _LIST,
)
