"""Shares that are attached to servers."""

from nova_lite.api.policies import base

_SHARES = 'os_compute_api:os-server-shares:'
LIST = _SHARES + 'index'
SHOW = _SHARES + 'show'
ATTACH = _SHARES + 'create'
DETACH = _SHARES + 'delete'
SHOW_LOCATION = _SHARES + 'show:export_location'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    path = '/servers/{server_id}/shares'
    one = f'{path}/{{share_id}}'
    return [
        base.rule(LIST, base.READER, 'List the shares attached to a server (2.97).', f'GET {path}'),
        base.rule(SHOW, base.READER, 'Show a share attachment (2.97).', f'GET {one}'),
        base.rule(ATTACH, base.MEMBER, 'Attach a share (2.97).', f'POST {path}'),
        base.rule(DETACH, base.MEMBER, 'Detach a share (2.97).', f'DELETE {one}'),
        base.rule(
            SHOW_LOCATION,
            base.ADMIN,
            'Show the uuid and the export location of a share attachment (2.97).',
            f'GET {one}',
            f'POST {path}',
        ),
    ]
