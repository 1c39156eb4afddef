"""Volumes and network interfaces that are attached to servers."""

from nova_lite.api.policies import base

_VOLUMES = 'os_compute_api:os-volumes-attachments:'
_INTERFACES = 'os_compute_api:os-attach-interfaces:'
_VOLUMES_PATH = '/servers/{server_id}/os-volume_attachments'
_VOLUMES_ONE = f'{_VOLUMES_PATH}/{{volume_id}}'

VOLUMES_LIST = base.rule(_VOLUMES + 'index', base.READER, 'List the volumes attached to a server.')
VOLUMES_SHOW = base.rule(_VOLUMES + 'show', base.READER, 'Show a volume attachment.')
VOLUMES_ATTACH = base.rule(_VOLUMES + 'create', base.MEMBER, 'Attach a volume.')
VOLUMES_UPDATE = base.rule(
    _VOLUMES + 'update',
    base.MEMBER,
    'Change delete_on_termination of an attached volume (2.85).',
    f'PUT {_VOLUMES_ONE}',
)
VOLUMES_SWAP = base.rule(
    _VOLUMES + 'swap',
    base.SERVICE,
    'Replace an attached volume by another volume.',
    f'PUT {_VOLUMES_ONE}',
)
VOLUMES_DETACH = base.rule(_VOLUMES + 'delete', base.MEMBER, 'Detach a volume.')
INTERFACES_LIST = base.rule(_INTERFACES + 'list', base.READER, 'List the ports of a server.')
INTERFACES_SHOW = base.rule(_INTERFACES + 'show', base.READER, 'Show a port of a server.')
INTERFACES_ATTACH = base.rule(_INTERFACES + 'create', base.MEMBER, 'Attach a port.')
INTERFACES_DETACH = base.rule(_INTERFACES + 'delete', base.MEMBER, 'Detach a port.')
