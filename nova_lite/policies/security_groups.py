"""Security groups of servers."""

from nova_lite.policies import base

_P = 'os_compute_api:os-security-groups:'
LIST = _P + 'list'
ADD = _P + 'add'
REMOVE = _P + 'remove'

_ACTION = 'POST /servers/{server_id}/action'


def list_rules():
    """The defaults."""
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
