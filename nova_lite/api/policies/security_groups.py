"""Security groups of servers, and below 2.36 those of projects."""

from nova_lite.api.policies import base

_P = 'os_compute_api:os-security-groups:'
_GROUPS, _RULES = '/os-security-groups', '/os-security-group-rules'
_OF_PROJECTS_ONE = f'{_GROUPS}/{{security_group_id}}'

LIST = base.rule(_P + 'list', base.READER, 'List the security groups of a server.')
ADD = base.rule(_P + 'add', base.MEMBER, 'Add a security group to a server.')
REMOVE = base.rule(_P + 'remove', base.MEMBER, 'Remove a security group from a server.')
GET = base.rule(_P + 'get', base.READER, 'List security groups.')
SHOW = base.rule(_P + 'show', base.READER, 'Show a security group.', f'GET {_OF_PROJECTS_ONE}')
CREATE = base.rule(_P + 'create', base.MEMBER, 'Create a security group.')
UPDATE = base.rule(
    _P + 'update', base.MEMBER, 'Change a security group.', f'PUT {_OF_PROJECTS_ONE}'
)
DELETE = base.rule(
    _P + 'delete', base.MEMBER, 'Delete a security group.', f'DELETE {_OF_PROJECTS_ONE}'
)
RULE_CREATE = base.rule(_P + 'rule:create', base.MEMBER, 'Add a rule to a security group.')
RULE_DELETE = base.rule(
    _P + 'rule:delete',
    base.MEMBER,
    'Remove a rule from a security group.',
    f'DELETE {_RULES}/{{security_group_rule_id}}',
)
