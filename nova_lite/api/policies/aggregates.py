"""Host aggregates and availability zones."""

from nova_lite.api.policies import base

LIST = base.rule('os_compute_api:os-aggregates:index', base.ADMIN, 'List aggregates.')
SHOW = base.rule('os_compute_api:os-aggregates:show', base.ADMIN, 'Show an aggregate.')
CREATE = base.rule('os_compute_api:os-aggregates:create', base.ADMIN, 'Create an aggregate.')
UPDATE = base.rule(
    'os_compute_api:os-aggregates:update',
    base.ADMIN,
    "Change an aggregate's name or availability zone.",
)
DELETE = base.rule('os_compute_api:os-aggregates:delete', base.ADMIN, 'Delete an aggregate.')
ADD_HOST = base.rule(
    'os_compute_api:os-aggregates:add_host', base.ADMIN, 'Add a host to an aggregate.'
)
REMOVE_HOST = base.rule(
    'os_compute_api:os-aggregates:remove_host', base.ADMIN, 'Remove a host from an aggregate.'
)
SET_METADATA = base.rule(
    'os_compute_api:os-aggregates:set_metadata', base.ADMIN, 'Change the metadata of an aggregate.'
)
IMAGES = base.rule(
    'compute:aggregates:images', base.ADMIN, 'Cache images on the hosts of an aggregate.'
)
ZONES = base.rule(
    'os_compute_api:os-availability-zone:list', base.ANYONE, 'List availability zones.'
)
ZONES_DETAIL = base.rule(
    'os_compute_api:os-availability-zone:detail',
    base.ADMIN,
    'List availability zones with hosts and services.',
)
