"""Operations for clients and other services."""

from nova_lite.api.policies import base

_ASSISTED = 'os_compute_api:os-assisted-volume-snapshots:'

EXTENSIONS = base.rule(
    'os_compute_api:extensions', base.ANYONE, 'List API extensions, or show one.'
)
EXTERNAL_EVENTS = base.rule(
    'os_compute_api:os-server-external-events:create',
    base.SERVICE,
    'Report an external event, such as a plugged port or an extended volume.',
)
CONSOLE_TOKENS = base.rule(
    'os_compute_api:os-console-auth-tokens',
    base.ADMIN,
    'Show the connection of a console token.',
    'GET /os-console-auth-tokens/{console_token}',
)
ASSISTED_CREATE = base.rule(
    _ASSISTED + 'create',
    base.SERVICE,
    'Have the host of a server take part in a snapshot of a volume.',
)
ASSISTED_DELETE = base.rule(
    _ASSISTED + 'delete',
    base.SERVICE,
    'Have the host of a server take part in deleting a snapshot of a volume.',
    'DELETE /os-assisted-volume-snapshots/{snapshot_id}',
)
