"""Hosts in the API up to 2.42, and the log of usage audits."""

from nova_lite.api.policies import base

_HOSTS = 'os_compute_api:os-hosts:'
HOSTS = _HOSTS + 'list'
HOST_SHOW = _HOSTS + 'show'
HOST_UPDATE = _HOSTS + 'update'
HOST_START = _HOSTS + 'start'
HOST_SHUTDOWN = _HOSTS + 'shutdown'
HOST_REBOOT = _HOSTS + 'reboot'
_AUDITS = 'os_compute_api:os-instance-usage-audit-log:'
AUDITS_LIST = _AUDITS + 'list'
AUDITS_SHOW = _AUDITS + 'show'

_ONE = '/os-hosts/{host_name}'
_LOG = '/os-instance_usage_audit_log'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(HOSTS, base.ADMIN, 'List hosts.', 'GET /os-hosts'),
        base.rule(HOST_SHOW, base.ADMIN, 'Show the resources of a host.', f'GET {_ONE}'),
        base.rule(HOST_UPDATE, base.ADMIN, 'Enable or disable a host.', f'PUT {_ONE}'),
        base.rule(HOST_START, base.ADMIN, 'Start a host.', f'GET {_ONE}/startup'),
        base.rule(HOST_SHUTDOWN, base.ADMIN, 'Stop a host.', f'GET {_ONE}/shutdown'),
        base.rule(HOST_REBOOT, base.ADMIN, 'Reboot a host.', f'GET {_ONE}/reboot'),
        base.rule(AUDITS_LIST, base.ADMIN, 'List the most recent usage audits.', f'GET {_LOG}'),
        base.rule(
            AUDITS_SHOW,
            base.ADMIN,
            'List the usage audits before a given time.',
            f'GET {_LOG}/{{before_timestamp}}',
        ),
    ]
