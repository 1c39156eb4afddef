"""Volumes and snapshots of old microversions, which the volume service has."""

from nova_lite.api.policies import base

_VOLUMES = 'os_compute_api:os-volumes:'
_SNAPSHOTS = _VOLUMES + 'snapshots:'
_VOLUMES_PATH = '/os-volumes'
_VOLUMES_ONE = f'{_VOLUMES_PATH}/{{volume_id}}'
_SNAPSHOTS_PATH = '/os-snapshots'
_SNAPSHOTS_ONE = f'{_SNAPSHOTS_PATH}/{{snapshot_id}}'

LIST = base.rule(_VOLUMES + 'list', base.READER, 'List volumes.')
DETAIL = base.rule(_VOLUMES + 'detail', base.READER, 'List volumes with details.')
SHOW = base.rule(_VOLUMES + 'show', base.READER, 'Show a volume.', f'GET {_VOLUMES_ONE}')
CREATE = base.rule(_VOLUMES + 'create', base.MEMBER, 'Create a volume.')
DELETE = base.rule(_VOLUMES + 'delete', base.MEMBER, 'Delete a volume.', f'DELETE {_VOLUMES_ONE}')
SNAPSHOTS_LIST = base.rule(_SNAPSHOTS + 'list', base.READER, 'List snapshots.')
SNAPSHOTS_DETAIL = base.rule(_SNAPSHOTS + 'detail', base.READER, 'List snapshots with details.')
SNAPSHOTS_SHOW = base.rule(
    _SNAPSHOTS + 'show', base.READER, 'Show a snapshot.', f'GET {_SNAPSHOTS_ONE}'
)
SNAPSHOTS_CREATE = base.rule(_SNAPSHOTS + 'create', base.MEMBER, 'Create a snapshot of a volume.')
SNAPSHOTS_DELETE = base.rule(
    _SNAPSHOTS + 'delete', base.MEMBER, 'Delete a snapshot.', f'DELETE {_SNAPSHOTS_ONE}'
)
