"""Shares that are attached to servers."""

from nova_lite.api.policies import base

_SHARES = 'os_compute_api:os-server-shares:'
_PATH = '/servers/{server_id}/shares'
_ONE = f'{_PATH}/{{share_id}}'

LIST = base.rule(_SHARES + 'index', base.READER, 'List the shares attached to a server (2.97).')
SHOW = base.rule(_SHARES + 'show', base.READER, 'Show a share attachment (2.97).')
ATTACH = base.rule(_SHARES + 'create', base.MEMBER, 'Attach a share (2.97).')
DETACH = base.rule(_SHARES + 'delete', base.MEMBER, 'Detach a share (2.97).')
SHOW_LOCATION = base.rule(
    _SHARES + 'show:export_location',
    base.ADMIN,
    'Show the uuid and the export location of a share attachment (2.97).',
    f'GET {_ONE}',
    f'POST {_PATH}',
)
