"""Metadata, tags, addresses and recorded actions of servers."""

from nova_lite.api.policies import base

_META = 'os_compute_api:server-metadata:'
META_LIST = _META + 'index'
META_SHOW = _META + 'show'
META_CREATE = _META + 'create'
META_REPLACE = _META + 'update_all'
META_UPDATE = _META + 'update'
META_DELETE = _META + 'delete'
_TAGS = 'os_compute_api:os-server-tags:'
TAGS_LIST = _TAGS + 'index'
TAGS_SHOW = _TAGS + 'show'
TAGS_UPDATE = _TAGS + 'update'
TAGS_REPLACE = _TAGS + 'update_all'
TAGS_DELETE = _TAGS + 'delete'
TAGS_DELETE_ALL = _TAGS + 'delete_all'
IPS_LIST = 'os_compute_api:ips:index'
IPS_SHOW = 'os_compute_api:ips:show'
_ACTIONS = 'os_compute_api:os-instance-actions:'
ACTIONS_LIST = _ACTIONS + 'list'
ACTIONS_SHOW = _ACTIONS + 'show'
ACTIONS_EVENTS = _ACTIONS + 'events'
ACTIONS_DETAILS = _ACTIONS + 'events:details'
TOPOLOGY = 'compute:server:topology:index'
TOPOLOGY_HOST = 'compute:server:topology:host:index'

_SERVER = '/servers/{server_id}'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_metadata(), *_tags(), *_rest()]


def _metadata() -> base.Rules:
    path = f'{_SERVER}/metadata'
    return [
        base.rule(META_LIST, base.READER, 'List the metadata of a server.', f'GET {path}'),
        base.rule(
            META_SHOW, base.READER, 'Show one metadata item of a server.', f'GET {path}/{{key}}'
        ),
        base.rule(META_CREATE, base.MEMBER, 'Add metadata items to a server.', f'POST {path}'),
        base.rule(META_REPLACE, base.MEMBER, 'Replace the metadata of a server.', f'PUT {path}'),
        base.rule(
            META_UPDATE, base.MEMBER, 'Set one metadata item of a server.', f'PUT {path}/{{key}}'
        ),
        base.rule(
            META_DELETE,
            base.MEMBER,
            'Remove one metadata item from a server.',
            f'DELETE {path}/{{key}}',
        ),
    ]


def _tags() -> base.Rules:
    path = f'{_SERVER}/tags'
    return [
        base.rule(TAGS_LIST, base.READER, 'List the tags of a server.', f'GET {path}'),
        base.rule(
            TAGS_SHOW, base.READER, 'Check whether a server has a tag.', f'GET {path}/{{tag}}'
        ),
        base.rule(TAGS_UPDATE, base.MEMBER, 'Add a tag to a server.', f'PUT {path}/{{tag}}'),
        base.rule(TAGS_REPLACE, base.MEMBER, 'Replace the tags of a server.', f'PUT {path}'),
        base.rule(
            TAGS_DELETE, base.MEMBER, 'Remove a tag from a server.', f'DELETE {path}/{{tag}}'
        ),
        base.rule(TAGS_DELETE_ALL, base.MEMBER, 'Remove all tags from a server.', f'DELETE {path}'),
    ]


def _rest() -> base.Rules:
    actions = f'{_SERVER}/os-instance-actions'
    topology = f'GET {_SERVER}/topology'
    one = f'GET {actions}/{{request_id}}'
    return [
        base.rule(IPS_LIST, base.READER, 'List the addresses of a server.', f'GET {_SERVER}/ips'),
        base.rule(
            IPS_SHOW,
            base.READER,
            'List the addresses of a server on one network.',
            f'GET {_SERVER}/ips/{{network_label}}',
        ),
        base.rule(TOPOLOGY, base.READER, 'Show the NUMA topology of a server.', topology),
        base.rule(
            TOPOLOGY_HOST,
            base.ADMIN,
            'Show the host NUMA node and the CPU pinning in the NUMA topology of a server.',
            topology,
        ),
        base.rule(ACTIONS_LIST, base.READER, 'List the actions of a server.', f'GET {actions}'),
        base.rule(ACTIONS_SHOW, base.READER, 'Show an action of a server.', one),
        base.rule(
            ACTIONS_EVENTS,
            base.ADMIN,
            'Show the events of an action with their traceback and host; below 2.51, show events.',
            one,
        ),
        base.rule(
            ACTIONS_DETAILS, base.ADMIN, 'Show the details of the events of an action (2.84).', one
        ),
    ]
