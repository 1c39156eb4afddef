"""Actions on servers that nova keeps in modules of their own."""

from nova_lite.api.policies import base

_ACTION = 'POST /servers/{server_id}/action'
RESET_STATE = 'os_compute_api:os-admin-actions:reset_state'
INJECT_NETWORK_INFO = 'os_compute_api:os-admin-actions:inject_network_info'
LOCK = 'os_compute_api:os-lock-server:lock'
UNLOCK = 'os_compute_api:os-lock-server:unlock'
UNLOCK_OVERRIDE = 'os_compute_api:os-lock-server:unlock:unlock_override'
PAUSE = 'os_compute_api:os-pause-server:pause'
UNPAUSE = 'os_compute_api:os-pause-server:unpause'
SUSPEND = 'os_compute_api:os-suspend-server:suspend'
RESUME = 'os_compute_api:os-suspend-server:resume'
RESTORE = 'os_compute_api:os-deferred-delete:restore'
FORCE_DELETE = 'os_compute_api:os-deferred-delete:force'
CREATE_BACKUP = 'os_compute_api:os-create-backup'
CONSOLE_OUTPUT = 'os_compute_api:os-console-output'
RESCUE = 'os_compute_api:os-rescue'
UNRESCUE = 'os_compute_api:os-unrescue'
SHELVE = 'os_compute_api:os-shelve:shelve'
SHELVE_OFFLOAD = 'os_compute_api:os-shelve:shelve_offload'
UNSHELVE = 'os_compute_api:os-shelve:unshelve'
UNSHELVE_TO_HOST = 'os_compute_api:os-shelve:unshelve_to_host'
REMOTE_CONSOLES = 'os_compute_api:os-remote-consoles'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        *_administering(),
        base.rule(LOCK, base.MEMBER, 'Lock a server.', f'{_ACTION} (lock)'),
        base.rule(UNLOCK, base.MEMBER, 'Unlock a server.', f'{_ACTION} (unlock)'),
        base.rule(
            UNLOCK_OVERRIDE,
            base.ADMIN,
            'Unlock a server that another user locked.',
            f'{_ACTION} (unlock)',
        ),
        base.rule(PAUSE, base.MEMBER, 'Pause a server.', f'{_ACTION} (pause)'),
        base.rule(UNPAUSE, base.MEMBER, 'Unpause a server.', f'{_ACTION} (unpause)'),
        base.rule(SUSPEND, base.MEMBER, 'Suspend a server.', f'{_ACTION} (suspend)'),
        base.rule(RESUME, base.MEMBER, 'Resume a server.', f'{_ACTION} (resume)'),
        base.rule(RESTORE, base.MEMBER, 'Restore a soft-deleted server.', f'{_ACTION} (restore)'),
        base.rule(
            FORCE_DELETE,
            base.MEMBER,
            'Delete a server, or a soft-deleted server, immediately.',
            f'{_ACTION} (forceDelete)',
        ),
        base.rule(
            CREATE_BACKUP,
            base.MEMBER,
            'Create a backup image of a server.',
            f'{_ACTION} (createBackup)',
        ),
        base.rule(RESCUE, base.MEMBER, 'Rescue a server.', f'{_ACTION} (rescue)'),
        base.rule(UNRESCUE, base.MEMBER, 'Unrescue a server.', f'{_ACTION} (unrescue)'),
        *_shelving(),
        base.rule(
            CONSOLE_OUTPUT,
            base.MEMBER,
            'Show the console output of a server.',
            f'{_ACTION} (os-getConsoleOutput)',
        ),
        base.rule(
            REMOTE_CONSOLES,
            base.MEMBER,
            'Create a remote console of a server.',
            'POST /servers/{server_id}/remote-consoles',
            f'{_ACTION} (os-getVNCConsole)',
            f'{_ACTION} (os-getSPICEConsole)',
            f'{_ACTION} (os-getSerialConsole)',
        ),
    ]


def _administering() -> base.Rules:
    return [
        base.rule(
            RESET_STATE, base.ADMIN, 'Set the state of a server.', f'{_ACTION} (os-resetState)'
        ),
        base.rule(
            INJECT_NETWORK_INFO,
            base.ADMIN,
            'Read the network information of a server again.',
            f'{_ACTION} (injectNetworkInfo)',
        ),
    ]


def _shelving() -> base.Rules:
    return [
        base.rule(SHELVE, base.MEMBER, 'Shelve a server.', f'{_ACTION} (shelve)'),
        base.rule(
            SHELVE_OFFLOAD,
            base.ADMIN,
            'Offload a shelved server from its host.',
            f'{_ACTION} (shelveOffload)',
        ),
        base.rule(UNSHELVE, base.MEMBER, 'Unshelve a server.', f'{_ACTION} (unshelve)'),
        base.rule(
            UNSHELVE_TO_HOST,
            base.ADMIN,
            'Unshelve a server to a named host.',
            f'{_ACTION} (unshelve)',
        ),
    ]
