"""What serves clients, other services and audits rather than users."""

from nova_lite.policies import base

EXTENSIONS = 'os_compute_api:extensions'
EXTERNAL_EVENTS = 'os_compute_api:os-server-external-events:create'
CONSOLE_TOKENS = 'os_compute_api:os-console-auth-tokens'
AUDIT_LIST = 'os_compute_api:os-instance-usage-audit-log:list'
AUDIT_SHOW = 'os_compute_api:os-instance-usage-audit-log:show'

_AUDIT = 'GET /os-instance_usage_audit_log'


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
        base.rule(AUDIT_LIST, base.ADMIN, 'Usage audits of all hosts.', _AUDIT),
        base.rule(
            AUDIT_SHOW, base.ADMIN, 'Usage audits before a time.', f'{_AUDIT}/{{before_timestamp}}'
        ),
    ]
