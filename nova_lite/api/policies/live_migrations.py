"""Live migration and evacuation: start, show, abort and force a migration."""

from nova_lite.api.policies import base

_MIGRATIONS = 'os_compute_api:servers:migrations:'
_ACTION = 'POST /servers/{server_id}/action'
_ALL = '/servers/{server_id}/migrations'

MIGRATE_LIVE = base.rule(
    'os_compute_api:os-migrate-server:migrate_live',
    base.MANAGER,
    'Live migrate a server to a host that the scheduler selects.',
    f'{_ACTION} (os-migrateLive)',
)
MIGRATE_LIVE_HOST = base.rule(
    MIGRATE_LIVE + ':host',
    base.ADMIN,
    'Live migrate a server to a named host. Checked instead of migrate_live.',
    f'{_ACTION} (os-migrateLive)',
)
EVACUATE = base.rule(
    'os_compute_api:os-evacuate', base.ADMIN, 'Evacuate a server from a failed host.'
)
LIST = base.rule(_MIGRATIONS + 'index', base.MANAGER, 'List live migrations in progress.')
LIST_HOST = base.rule(
    LIST + ':host',
    base.ADMIN,
    'Show the source and destination hosts of live migrations in progress.',
    f'GET {_ALL}',
)
SHOW = base.rule(_MIGRATIONS + 'show', base.ADMIN, 'Show a live migration in progress.')
FORCE_COMPLETE = base.rule(
    _MIGRATIONS + 'force_complete', base.MANAGER, 'Force a live migration to complete.'
)
DELETE = base.rule(_MIGRATIONS + 'delete', base.MANAGER, 'Abort a live migration.')
