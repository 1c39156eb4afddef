"""Server groups."""

from nova_lite.api.policies import base

_ONE = '/os-server-groups/{server_group_id}'

LIST = base.rule(
    'os_compute_api:os-server-groups:index',
    base.READER,
    'List server groups.',
    'GET /os-server-groups',
)
LIST_ALL = base.rule(
    'os_compute_api:os-server-groups:index:all_projects',
    base.ADMIN,
    'List the server groups of all projects.',
    'GET /os-server-groups',
)
SHOW = base.rule(
    'os_compute_api:os-server-groups:show', base.READER, 'Show a server group.', f'GET {_ONE}'
)
CREATE = base.rule('os_compute_api:os-server-groups:create', base.MEMBER, 'Create a server group.')
DELETE = base.rule(
    'os_compute_api:os-server-groups:delete',
    base.MEMBER,
    'Delete a server group.',
    f'DELETE {_ONE}',
)
