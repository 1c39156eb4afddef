"""Server groups."""

from nova_lite.api.policies import base

LIST = 'os_compute_api:os-server-groups:index'
LIST_ALL = 'os_compute_api:os-server-groups:index:all_projects'
SHOW = 'os_compute_api:os-server-groups:show'
CREATE = 'os_compute_api:os-server-groups:create'
DELETE = 'os_compute_api:os-server-groups:delete'

_ONE = '/os-server-groups/{server_group_id}'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(LIST, base.READER, 'List server groups.', 'GET /os-server-groups'),
        base.rule(
            LIST_ALL,
            base.ADMIN,
            'List the server groups of all projects.',
            'GET /os-server-groups',
        ),
        base.rule(SHOW, base.READER, 'Show a server group.', f'GET {_ONE}'),
        base.rule(CREATE, base.MEMBER, 'Create a server group.', 'POST /os-server-groups'),
        base.rule(DELETE, base.MEMBER, 'Delete a server group.', f'DELETE {_ONE}'),
    ]
