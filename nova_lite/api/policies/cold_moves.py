"""Resize, cold migrate, confirm and revert, and the list of all migrations."""

from nova_lite.api.policies import base

_SERVERS = 'os_compute_api:servers:'
RESIZE = _SERVERS + 'resize'
CONFIRM_RESIZE = _SERVERS + 'confirm_resize'
REVERT_RESIZE = _SERVERS + 'revert_resize'
MIGRATE = 'os_compute_api:os-migrate-server:migrate'
MIGRATE_HOST = MIGRATE + ':host'
CROSS_CELL = 'compute:servers:resize:cross_cell'
MIGRATIONS = 'os_compute_api:os-migrations:index'
MIGRATIONS_ALL = MIGRATIONS + ':all_projects'
MIGRATIONS_HOST = MIGRATIONS + ':host'

_ACTION = 'POST /servers/{server_id}/action'
_LIST = 'GET /os-migrations'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(RESIZE, base.MEMBER, 'Resize a server.', f'{_ACTION} (resize)'),
        base.rule(CONFIRM_RESIZE, base.MEMBER, 'Confirm a resize.', f'{_ACTION} (confirmResize)'),
        base.rule(REVERT_RESIZE, base.MEMBER, 'Revert a resize.', f'{_ACTION} (revertResize)'),
        base.rule(
            MIGRATE,
            base.MANAGER,
            'Cold migrate a server to a host that the scheduler selects.',
            f'{_ACTION} (migrate)',
        ),
        base.rule(
            MIGRATE_HOST,
            base.ADMIN,
            'Cold migrate a server to a named host. Checked instead of os-migrate-server:migrate.',
            f'{_ACTION} (migrate)',
        ),
        base.rule(
            CROSS_CELL,
            base.NOBODY,
            'Allow a resize or a cold migration to move a server to another cell.',
            f'{_ACTION} (resize)',
            f'{_ACTION} (migrate)',
        ),
        base.rule(MIGRATIONS, base.MANAGER, 'List migrations.', _LIST),
        base.rule(MIGRATIONS_ALL, base.ADMIN, 'List migrations of other projects.', _LIST),
        base.rule(
            MIGRATIONS_HOST,
            base.ADMIN,
            'Show the source and destination hosts in the list of migrations.',
            _LIST,
        ),
    ]
