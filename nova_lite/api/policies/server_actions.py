"""Actions on servers that nova keeps in modules of their own."""

from nova_lite.api.policies import base

_ACTION = 'POST /servers/{server_id}/action'

RESET_STATE = base.rule(
    'os_compute_api:os-admin-actions:reset_state', base.ADMIN, 'Set the state of a server.'
)
INJECT_NETWORK_INFO = base.rule(
    'os_compute_api:os-admin-actions:inject_network_info',
    base.ADMIN,
    'Read the network information of a server again.',
)
LOCK = base.rule('os_compute_api:os-lock-server:lock', base.MEMBER, 'Lock a server.')
UNLOCK = base.rule('os_compute_api:os-lock-server:unlock', base.MEMBER, 'Unlock a server.')
UNLOCK_OVERRIDE = base.rule(
    'os_compute_api:os-lock-server:unlock:unlock_override',
    base.ADMIN,
    'Unlock a server that another user locked.',
    f'{_ACTION} (unlock)',
)
PAUSE = base.rule('os_compute_api:os-pause-server:pause', base.MEMBER, 'Pause a server.')
UNPAUSE = base.rule('os_compute_api:os-pause-server:unpause', base.MEMBER, 'Unpause a server.')
SUSPEND = base.rule('os_compute_api:os-suspend-server:suspend', base.MEMBER, 'Suspend a server.')
RESUME = base.rule('os_compute_api:os-suspend-server:resume', base.MEMBER, 'Resume a server.')
RESTORE = base.rule(
    'os_compute_api:os-deferred-delete:restore', base.MEMBER, 'Restore a soft-deleted server.'
)
FORCE_DELETE = base.rule(
    'os_compute_api:os-deferred-delete:force',
    base.MEMBER,
    'Delete a server, or a soft-deleted server, immediately.',
)
CREATE_BACKUP = base.rule(
    'os_compute_api:os-create-backup', base.MEMBER, 'Create a backup image of a server.'
)
RESCUE = base.rule('os_compute_api:os-rescue', base.MEMBER, 'Rescue a server.')
UNRESCUE = base.rule('os_compute_api:os-unrescue', base.MEMBER, 'Unrescue a server.')
SHELVE = base.rule('os_compute_api:os-shelve:shelve', base.MEMBER, 'Shelve a server.')
SHELVE_OFFLOAD = base.rule(
    'os_compute_api:os-shelve:shelve_offload', base.ADMIN, 'Offload a shelved server from its host.'
)
UNSHELVE = base.rule('os_compute_api:os-shelve:unshelve', base.MEMBER, 'Unshelve a server.')
UNSHELVE_TO_HOST = base.rule(
    'os_compute_api:os-shelve:unshelve_to_host',
    base.ADMIN,
    'Unshelve a server to a named host.',
    f'{_ACTION} (unshelve)',
)
CONSOLE_OUTPUT = base.rule(
    'os_compute_api:os-console-output', base.MEMBER, 'Show the console output of a server.'
)
REMOTE_CONSOLES = base.rule(
    'os_compute_api:os-remote-consoles', base.MEMBER, 'Create a remote console of a server.'
)
