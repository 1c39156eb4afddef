"""Host aggregates and availability zones."""

from nova_lite.api.policies import base

_ALL = '/os-aggregates'
_ONE = '/os-aggregates/{aggregate_id}'
_ACTION = f'POST {_ONE}/action'

LIST = base.rule(
    'os_compute_api:os-aggregates:index', base.ADMIN, 'List aggregates.', f'GET {_ALL}'
)
SHOW = base.rule(
    'os_compute_api:os-aggregates:show', base.ADMIN, 'Show an aggregate.', f'GET {_ONE}'
)
CREATE = base.rule(
    'os_compute_api:os-aggregates:create', base.ADMIN, 'Create an aggregate.', f'POST {_ALL}'
)
UPDATE = base.rule(
    'os_compute_api:os-aggregates:update',
    base.ADMIN,
    "Change an aggregate's name or availability zone.",
    f'PUT {_ONE}',
)
DELETE = base.rule(
    'os_compute_api:os-aggregates:delete', base.ADMIN, 'Delete an aggregate.', f'DELETE {_ONE}'
)
ADD_HOST = base.rule(
    'os_compute_api:os-aggregates:add_host',
    base.ADMIN,
    'Add a host to an aggregate.',
    f'{_ACTION} (add_host)',
)
REMOVE_HOST = base.rule(
    'os_compute_api:os-aggregates:remove_host',
    base.ADMIN,
    'Remove a host from an aggregate.',
    f'{_ACTION} (remove_host)',
)
SET_METADATA = base.rule(
    'os_compute_api:os-aggregates:set_metadata',
    base.ADMIN,
    'Change the metadata of an aggregate.',
    f'{_ACTION} (set_metadata)',
)
IMAGES = base.rule(
    'compute:aggregates:images',
    base.ADMIN,
    'Cache images on the hosts of an aggregate.',
    f'POST {_ONE}/images',
)
ZONES = base.rule(
    'os_compute_api:os-availability-zone:list',
    base.ANYONE,
    'List availability zones.',
    'GET /os-availability-zone',
)
ZONES_DETAIL = base.rule(
    'os_compute_api:os-availability-zone:detail',
    base.ADMIN,
    'List availability zones with hosts and services.',
    'GET /os-availability-zone/detail',
)
