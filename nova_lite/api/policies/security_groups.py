"""Security groups of servers, and below 2.36 those of projects."""

from nova_lite.api.policies import base

_P = 'os_compute_api:os-security-groups:'
LIST = _P + 'list'
ADD = _P + 'add'
REMOVE = _P + 'remove'
GET = _P + 'get'
SHOW = _P + 'show'
CREATE = _P + 'create'
UPDATE = _P + 'update'
DELETE = _P + 'delete'
RULE_CREATE = _P + 'rule:create'
RULE_DELETE = _P + 'rule:delete'

_ACTION = 'POST /servers/{server_id}/action'
_GROUPS, _RULES = '/os-security-groups', '/os-security-group-rules'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_of_servers(), *_of_projects()]


def _of_projects() -> base.Rules:
    one = f'{_GROUPS}/{{security_group_id}}'
    return [
        base.rule(GET, base.READER, 'List security groups.', f'GET {_GROUPS}'),
        base.rule(SHOW, base.READER, 'Show a security group.', f'GET {one}'),
        base.rule(CREATE, base.MEMBER, 'Create a security group.', f'POST {_GROUPS}'),
        base.rule(UPDATE, base.MEMBER, 'Change a security group.', f'PUT {one}'),
        base.rule(DELETE, base.MEMBER, 'Delete a security group.', f'DELETE {one}'),
        base.rule(RULE_CREATE, base.MEMBER, 'Add a rule to a security group.', f'POST {_RULES}'),
        base.rule(
            RULE_DELETE,
            base.MEMBER,
            'Remove a rule from a security group.',
            f'DELETE {_RULES}/{{security_group_rule_id}}',
        ),
    ]


def _of_servers() -> base.Rules:
    return [
        base.rule(
            LIST,
            base.READER,
            'List the security groups of a server.',
            'GET /servers/{server_id}/os-security-groups',
        ),
        base.rule(
            ADD, base.MEMBER, 'Add a security group to a server.', f'{_ACTION} (addSecurityGroup)'
        ),
        base.rule(
            REMOVE,
            base.MEMBER,
            'Remove a security group from a server.',
            f'{_ACTION} (removeSecurityGroup)',
        ),
    ]
