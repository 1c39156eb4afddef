"""What serves clients and other services rather than users."""

from nova_lite.policies import base

EXTENSIONS = 'os_compute_api:extensions'
EXTERNAL_EVENTS = 'os_compute_api:os-server-external-events:create'
CONSOLE_TOKENS = 'os_compute_api:os-console-auth-tokens'


def list_rules():
    """The defaults."""
    return [
        base.rule(
            EXTENSIONS,
            base.ANYONE,
            'List the fixed set of extensions.',
            'GET /extensions',
            'GET /extensions/{alias}',
        ),
        base.rule(
            EXTERNAL_EVENTS,
            base.SERVICE,
            'Tell what happened to a port or volume of a server.',
            'POST /os-server-external-events',
        ),
        base.rule(
            CONSOLE_TOKENS,
            base.ADMIN,
            'Where the console of a token is.',
            'GET /os-console-auth-tokens/{console_token}',
        ),
    ]
