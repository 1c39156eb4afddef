"""Metadata, tags, addresses and recorded actions of servers."""

from nova_lite.api.policies import base

_META = 'os_compute_api:server-metadata:'
_TAGS = 'os_compute_api:os-server-tags:'
_ACTIONS = 'os_compute_api:os-instance-actions:'
_SERVER = '/servers/{server_id}'
_REST_ACTIONS = f'{_SERVER}/os-instance-actions'
_REST_TOPOLOGY = f'GET {_SERVER}/topology'
_REST_ONE = f'GET {_REST_ACTIONS}/{{request_id}}'

META_LIST = base.rule(_META + 'index', base.READER, 'List the metadata of a server.')
META_SHOW = base.rule(_META + 'show', base.READER, 'Show one metadata item of a server.')
META_CREATE = base.rule(_META + 'create', base.MEMBER, 'Add metadata items to a server.')
META_REPLACE = base.rule(_META + 'update_all', base.MEMBER, 'Replace the metadata of a server.')
META_UPDATE = base.rule(_META + 'update', base.MEMBER, 'Set one metadata item of a server.')
META_DELETE = base.rule(_META + 'delete', base.MEMBER, 'Remove one metadata item from a server.')
TAGS_LIST = base.rule(_TAGS + 'index', base.READER, 'List the tags of a server.')
TAGS_SHOW = base.rule(_TAGS + 'show', base.READER, 'Check whether a server has a tag.')
TAGS_UPDATE = base.rule(_TAGS + 'update', base.MEMBER, 'Add a tag to a server.')
TAGS_REPLACE = base.rule(_TAGS + 'update_all', base.MEMBER, 'Replace the tags of a server.')
TAGS_DELETE = base.rule(_TAGS + 'delete', base.MEMBER, 'Remove a tag from a server.')
TAGS_DELETE_ALL = base.rule(_TAGS + 'delete_all', base.MEMBER, 'Remove all tags from a server.')
IPS_LIST = base.rule('os_compute_api:ips:index', base.READER, 'List the addresses of a server.')
IPS_SHOW = base.rule(
    'os_compute_api:ips:show', base.READER, 'List the addresses of a server on one network.'
)
TOPOLOGY = base.rule(
    'compute:server:topology:index', base.READER, 'Show the NUMA topology of a server.'
)
TOPOLOGY_HOST = base.rule(
    'compute:server:topology:host:index',
    base.ADMIN,
    'Show the host NUMA node and the CPU pinning in the NUMA topology of a server.',
    _REST_TOPOLOGY,
)
ACTIONS_LIST = base.rule(
    _ACTIONS + 'list', base.READER, 'List the actions of a server.', f'GET {_REST_ACTIONS}'
)
ACTIONS_SHOW = base.rule(_ACTIONS + 'show', base.READER, 'Show an action of a server.', _REST_ONE)
ACTIONS_EVENTS = base.rule(
    _ACTIONS + 'events',
    base.ADMIN,
    'Show the events of an action with their traceback and host; below 2.51, show events.',
    _REST_ONE,
)
ACTIONS_DETAILS = base.rule(
    _ACTIONS + 'events:details',
    base.ADMIN,
    'Show the details of the events of an action (2.84).',
    _REST_ONE,
)
