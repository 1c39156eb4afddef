"""Hosts in the API up to 2.42, and the log of usage audits."""

from nova_lite.api.policies import base

_HOSTS = 'os_compute_api:os-hosts:'
_AUDITS = 'os_compute_api:os-instance-usage-audit-log:'
_ONE = '/os-hosts/{host_name}'
_LOG = '/os-instance_usage_audit_log'

HOSTS = base.rule(_HOSTS + 'list', base.ADMIN, 'List hosts.')
HOST_SHOW = base.rule(_HOSTS + 'show', base.ADMIN, 'Show the resources of a host.', f'GET {_ONE}')
HOST_UPDATE = base.rule(_HOSTS + 'update', base.ADMIN, 'Enable or disable a host.', f'PUT {_ONE}')
HOST_START = base.rule(_HOSTS + 'start', base.ADMIN, 'Start a host.', f'GET {_ONE}/startup')
HOST_SHUTDOWN = base.rule(_HOSTS + 'shutdown', base.ADMIN, 'Stop a host.', f'GET {_ONE}/shutdown')
HOST_REBOOT = base.rule(_HOSTS + 'reboot', base.ADMIN, 'Reboot a host.', f'GET {_ONE}/reboot')
AUDITS_LIST = base.rule(_AUDITS + 'list', base.ADMIN, 'List the most recent usage audits.')
AUDITS_SHOW = base.rule(
    _AUDITS + 'show',
    base.ADMIN,
    'List the usage audits before a given time.',
    f'GET {_LOG}/{{before_timestamp}}',
)
