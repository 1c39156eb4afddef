"""Absolute limits of a project and its usage.

Source: reference/nova/api-surface 2.1.
"""

import typing

import sqlalchemy as sa

from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import quota_rules
from nova_lite.api import quota_sets
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import quotas as rules

# {name in the answer: (limit, microversion from which it is gone)}
Table: typing.TypeAlias = dict[str, tuple[str, int | None]]

PARAMS = {'tenant_id': schema_parts.multi()}
QUERY = {
    '2.1': schema_parts.query(PARAMS),
    '2.75': schema_parts.query(PARAMS, strict=True),
}

# name in the answer -> limit, and the microversion from which it is gone
LIMITS: Table = {
    'maxTotalInstances': ('instances', None),
    'maxTotalCores': ('cores', None),
    'maxTotalRAMSize': ('ram', None),
    'maxTotalKeypairs': ('key_pairs', None),
    'maxServerMeta': ('metadata_items', None),
    'maxServerGroups': ('server_groups', None),
    'maxServerGroupMembers': ('server_group_members', None),
    'maxTotalFloatingIps': ('floating_ips', 36),
    'maxSecurityGroups': ('security_groups', 36),
    'maxSecurityGroupRules': ('security_group_rules', 36),
    'maxImageMeta': ('metadata_items', 39),
    'maxPersonality': ('injected_files', 57),
    'maxPersonalitySize': ('injected_file_content_bytes', 57),
}
USED: Table = {
    'totalInstancesUsed': ('instances', None),
    'totalCoresUsed': ('cores', None),
    'totalRAMUsed': ('ram', None),
    'totalServerGroupsUsed': ('server_groups', None),
    'totalFloatingIpsUsed': ('floating_ips', 36),
    'totalSecurityGroupsUsed': ('security_groups', 36),
}


@operation.operation('GET', '/limits', policy=rules.LIMITS, query=QUERY, faults=(400, 403))
def show(req: request.Request) -> operation.Result:
    """Limits of the caller's project, or for administrators of another."""
    project_id = req.ctxt.project_id or ''
    if 'tenant_id' in req.params:
        project_id = req.params['tenant_id'][-1]
        req.authorize(rules.LIMITS_OF_OTHERS, {'project_id': project_id})
    limits, used = req.app.api_db.read(_read, quota.rules(req, project_id), project_id)
    absolute = {
        **{name: limits.get(key, -1) for name, key in _names(LIMITS, req.minor)},
        **{name: used.get(key, 0) for name, key in _names(USED, req.minor)},
    }
    return {'limits': {'rate': [], 'absolute': absolute}}


def _names(table: Table, minor: int) -> list[tuple[str, str]]:
    return [(name, key) for name, (key, gone) in table.items() if gone is None or minor < gone]


def _read(
    connection: sa.Connection, by: quota_rules.Rules, project_id: str
) -> tuple[dict[str, int], dict[str, int]]:
    return (
        quota_sets.stored_limits(connection, by, project_id),
        quota_sets.usage(connection, project_id),
    )
