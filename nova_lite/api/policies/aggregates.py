"""Host aggregates and availability zones."""

from nova_lite.api.policies import base

LIST = 'os_compute_api:os-aggregates:index'
SHOW = 'os_compute_api:os-aggregates:show'
CREATE = 'os_compute_api:os-aggregates:create'
UPDATE = 'os_compute_api:os-aggregates:update'
DELETE = 'os_compute_api:os-aggregates:delete'
ADD_HOST = 'os_compute_api:os-aggregates:add_host'
REMOVE_HOST = 'os_compute_api:os-aggregates:remove_host'
SET_METADATA = 'os_compute_api:os-aggregates:set_metadata'
IMAGES = 'compute:aggregates:images'
ZONES = 'os_compute_api:os-availability-zone:list'
ZONES_DETAIL = 'os_compute_api:os-availability-zone:detail'

_ALL = '/os-aggregates'
_ONE = '/os-aggregates/{aggregate_id}'
_ACTION = f'POST {_ONE}/action'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(LIST, base.ADMIN, 'List aggregates.', f'GET {_ALL}'),
        base.rule(SHOW, base.ADMIN, 'Show an aggregate.', f'GET {_ONE}'),
        base.rule(CREATE, base.ADMIN, 'Create an aggregate.', f'POST {_ALL}'),
        base.rule(
            UPDATE, base.ADMIN, "Change an aggregate's name or availability zone.", f'PUT {_ONE}'
        ),
        base.rule(DELETE, base.ADMIN, 'Delete an aggregate.', f'DELETE {_ONE}'),
        base.rule(ADD_HOST, base.ADMIN, 'Add a host to an aggregate.', f'{_ACTION} (add_host)'),
        base.rule(
            REMOVE_HOST, base.ADMIN, 'Remove a host from an aggregate.', f'{_ACTION} (remove_host)'
        ),
        base.rule(
            SET_METADATA,
            base.ADMIN,
            'Change the metadata of an aggregate.',
            f'{_ACTION} (set_metadata)',
        ),
        base.rule(
            IMAGES, base.ADMIN, 'Cache images on the hosts of an aggregate.', f'POST {_ONE}/images'
        ),
        base.rule(ZONES, base.ANYONE, 'List availability zones.', 'GET /os-availability-zone'),
        base.rule(
            ZONES_DETAIL,
            base.ADMIN,
            'List availability zones with hosts and services.',
            'GET /os-availability-zone/detail',
        ),
    ]
