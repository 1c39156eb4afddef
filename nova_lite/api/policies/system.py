"""Operations for clients and other services."""

from nova_lite.api.policies import base

EXTENSIONS = 'os_compute_api:extensions'
EXTERNAL_EVENTS = 'os_compute_api:os-server-external-events:create'
CONSOLE_TOKENS = 'os_compute_api:os-console-auth-tokens'
_ASSISTED = 'os_compute_api:os-assisted-volume-snapshots:'
ASSISTED_CREATE = _ASSISTED + 'create'
ASSISTED_DELETE = _ASSISTED + 'delete'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(
            EXTENSIONS,
            base.ANYONE,
            'List API extensions, or show one.',
            'GET /extensions',
            'GET /extensions/{alias}',
        ),
        base.rule(
            EXTERNAL_EVENTS,
            base.SERVICE,
            'Report an external event, such as a plugged port or an extended volume.',
            'POST /os-server-external-events',
        ),
        base.rule(
            CONSOLE_TOKENS,
            base.ADMIN,
            'Show the connection of a console token.',
            'GET /os-console-auth-tokens/{console_token}',
        ),
        base.rule(
            ASSISTED_CREATE,
            base.SERVICE,
            'Have the host of a server take part in a snapshot of a volume.',
            'POST /os-assisted-volume-snapshots',
        ),
        base.rule(
            ASSISTED_DELETE,
            base.SERVICE,
            'Have the host of a server take part in deleting a snapshot of a volume.',
            'DELETE /os-assisted-volume-snapshots/{snapshot_id}',
        ),
    ]
