"""Volumes and snapshots of old microversions, which the volume service has."""

from nova_lite.api.policies import base

_VOLUMES = 'os_compute_api:os-volumes:'
LIST = _VOLUMES + 'list'
DETAIL = _VOLUMES + 'detail'
SHOW = _VOLUMES + 'show'
CREATE = _VOLUMES + 'create'
DELETE = _VOLUMES + 'delete'
_SNAPSHOTS = _VOLUMES + 'snapshots:'
SNAPSHOTS_LIST = _SNAPSHOTS + 'list'
SNAPSHOTS_DETAIL = _SNAPSHOTS + 'detail'
SNAPSHOTS_SHOW = _SNAPSHOTS + 'show'
SNAPSHOTS_CREATE = _SNAPSHOTS + 'create'
SNAPSHOTS_DELETE = _SNAPSHOTS + 'delete'


def list_rules() -> base.Rules:
    """Return the default rules."""
    return [*_volumes(), *_snapshots()]


def _volumes() -> base.Rules:
    path = '/os-volumes'
    one = f'{path}/{{volume_id}}'
    return [
        base.rule(LIST, base.READER, 'List volumes.', f'GET {path}'),
        base.rule(DETAIL, base.READER, 'List volumes with details.', f'GET {path}/detail'),
        base.rule(SHOW, base.READER, 'Show a volume.', f'GET {one}'),
        base.rule(CREATE, base.MEMBER, 'Create a volume.', f'POST {path}'),
        base.rule(DELETE, base.MEMBER, 'Delete a volume.', f'DELETE {one}'),
    ]


def _snapshots() -> base.Rules:
    path = '/os-snapshots'
    one = f'{path}/{{snapshot_id}}'
    return [
        base.rule(SNAPSHOTS_LIST, base.READER, 'List snapshots.', f'GET {path}'),
        base.rule(
            SNAPSHOTS_DETAIL, base.READER, 'List snapshots with details.', f'GET {path}/detail'
        ),
        base.rule(SNAPSHOTS_SHOW, base.READER, 'Show a snapshot.', f'GET {one}'),
        base.rule(SNAPSHOTS_CREATE, base.MEMBER, 'Create a snapshot of a volume.', f'POST {path}'),
        base.rule(SNAPSHOTS_DELETE, base.MEMBER, 'Delete a snapshot.', f'DELETE {one}'),
    ]
