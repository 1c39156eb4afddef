"""What hangs on a server: metadata, tags, addresses, the record of its actions."""

from nova_lite.policies import base

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

_SERVER = '/servers/{server_id}'


def list_rules():
    """The defaults."""
    return [*_metadata(), *_tags(), *_rest()]


def _metadata():
    path = f'{_SERVER}/metadata'
    return [
        base.rule(META_LIST, base.READER, 'List the metadata of a server.', f'GET {path}'),
        base.rule(META_SHOW, base.READER, 'Show one entry.', f'GET {path}/{{key}}'),
        base.rule(META_CREATE, base.MEMBER, 'Add entries.', f'POST {path}'),
        base.rule(META_REPLACE, base.MEMBER, 'Replace all entries.', f'PUT {path}'),
        base.rule(META_UPDATE, base.MEMBER, 'Set one entry.', f'PUT {path}/{{key}}'),
        base.rule(META_DELETE, base.MEMBER, 'Remove one entry.', f'DELETE {path}/{{key}}'),
    ]


def _tags():
    path = f'{_SERVER}/tags'
    return [
        base.rule(TAGS_LIST, base.READER, 'List the tags of a server.', f'GET {path}'),
        base.rule(TAGS_SHOW, base.READER, 'Look for one tag.', f'GET {path}/{{tag}}'),
        base.rule(TAGS_UPDATE, base.MEMBER, 'Add one tag.', f'PUT {path}/{{tag}}'),
        base.rule(TAGS_REPLACE, base.MEMBER, 'Replace all tags.', f'PUT {path}'),
        base.rule(TAGS_DELETE, base.MEMBER, 'Remove one tag.', f'DELETE {path}/{{tag}}'),
        base.rule(TAGS_DELETE_ALL, base.MEMBER, 'Remove all tags.', f'DELETE {path}'),
    ]


def _rest():
    actions = f'{_SERVER}/os-instance-actions'
    one = f'GET {actions}/{{request_id}}'
    return [
        base.rule(IPS_LIST, base.READER, 'List the addresses of a server.', f'GET {_SERVER}/ips'),
        base.rule(
            IPS_SHOW,
            base.READER,
            'List its addresses on one network.',
            f'GET {_SERVER}/ips/{{network_label}}',
        ),
        base.rule(ACTIONS_LIST, base.READER, 'List the actions of a server.', f'GET {actions}'),
        base.rule(ACTIONS_SHOW, base.READER, 'Show an action.', one),
        base.rule(
            ACTIONS_EVENTS,
            base.ADMIN,
            'See the events of an action with traceback and host; below 2.51 at all.',
            one,
        ),
        base.rule(ACTIONS_DETAILS, base.ADMIN, 'See the details of events (2.84).', one),
    ]
