"""Live migration and evacuation: start, show, abort and force a migration."""

from nova_lite.api.policies import base

MIGRATE_LIVE = 'os_compute_api:os-migrate-server:migrate_live'
MIGRATE_LIVE_HOST = MIGRATE_LIVE + ':host'
EVACUATE = 'os_compute_api:os-evacuate'
_MIGRATIONS = 'os_compute_api:servers:migrations:'
LIST = _MIGRATIONS + 'index'
LIST_HOST = LIST + ':host'
SHOW = _MIGRATIONS + 'show'
FORCE_COMPLETE = _MIGRATIONS + 'force_complete'
DELETE = _MIGRATIONS + 'delete'

_ACTION = 'POST /servers/{server_id}/action'
_ALL = '/servers/{server_id}/migrations'
_ONE = _ALL + '/{migration_id}'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(
            MIGRATE_LIVE,
            base.MANAGER,
            'Live migrate a server to a host that the scheduler selects.',
            f'{_ACTION} (os-migrateLive)',
        ),
        base.rule(
            MIGRATE_LIVE_HOST,
            base.ADMIN,
            'Live migrate a server to a named host. Checked instead of migrate_live.',
            f'{_ACTION} (os-migrateLive)',
        ),
        base.rule(
            EVACUATE,
            base.ADMIN,
            'Evacuate a server from a failed host.',
            f'{_ACTION} (evacuate)',
        ),
        base.rule(LIST, base.MANAGER, 'List live migrations in progress.', f'GET {_ALL}'),
        base.rule(
            LIST_HOST,
            base.ADMIN,
            'Show the source and destination hosts of live migrations in progress.',
            f'GET {_ALL}',
        ),
        base.rule(SHOW, base.ADMIN, 'Show a live migration in progress.', f'GET {_ONE}'),
        base.rule(
            FORCE_COMPLETE,
            base.MANAGER,
            'Force a live migration to complete.',
            f'POST {_ONE}/action (force_complete)',
        ),
        base.rule(DELETE, base.MANAGER, 'Abort a live migration.', f'DELETE {_ONE}'),
    ]
