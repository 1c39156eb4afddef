"""Volumes and network interfaces that are attached to servers."""

from nova_lite.api.policies import base

_VOLUMES = 'os_compute_api:os-volumes-attachments:'
VOLUMES_LIST = _VOLUMES + 'index'
VOLUMES_SHOW = _VOLUMES + 'show'
VOLUMES_ATTACH = _VOLUMES + 'create'
VOLUMES_UPDATE = _VOLUMES + 'update'
VOLUMES_SWAP = _VOLUMES + 'swap'
VOLUMES_DETACH = _VOLUMES + 'delete'
_INTERFACES = 'os_compute_api:os-attach-interfaces:'
INTERFACES_LIST = _INTERFACES + 'list'
INTERFACES_SHOW = _INTERFACES + 'show'
INTERFACES_ATTACH = _INTERFACES + 'create'
INTERFACES_DETACH = _INTERFACES + 'delete'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_volumes(), *_interfaces()]


def _volumes() -> base.Rules:
    path = '/servers/{server_id}/os-volume_attachments'
    one = f'{path}/{{volume_id}}'
    return [
        base.rule(
            VOLUMES_LIST, base.READER, 'List the volumes attached to a server.', f'GET {path}'
        ),
        base.rule(VOLUMES_SHOW, base.READER, 'Show a volume attachment.', f'GET {one}'),
        base.rule(VOLUMES_ATTACH, base.MEMBER, 'Attach a volume.', f'POST {path}'),
        base.rule(
            VOLUMES_UPDATE,
            base.MEMBER,
            'Change delete_on_termination of an attached volume (2.85).',
            f'PUT {one}',
        ),
        base.rule(
            VOLUMES_SWAP,
            base.SERVICE,
            'Replace an attached volume by another volume.',
            f'PUT {one}',
        ),
        base.rule(VOLUMES_DETACH, base.MEMBER, 'Detach a volume.', f'DELETE {one}'),
    ]


def _interfaces() -> base.Rules:
    path = '/servers/{server_id}/os-interface'
    one = f'{path}/{{port_id}}'
    return [
        base.rule(INTERFACES_LIST, base.READER, 'List the ports of a server.', f'GET {path}'),
        base.rule(INTERFACES_SHOW, base.READER, 'Show a port of a server.', f'GET {one}'),
        base.rule(INTERFACES_ATTACH, base.MEMBER, 'Attach a port.', f'POST {path}'),
        base.rule(INTERFACES_DETACH, base.MEMBER, 'Detach a port.', f'DELETE {one}'),
    ]
