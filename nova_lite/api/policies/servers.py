"""Servers: to list, show, create, change and delete them."""

from nova_lite.api.policies import base

_P = 'os_compute_api:servers:'
_SEEN = ('GET /servers/{server_id}', 'GET /servers/detail')
_POST = 'POST /servers'
_ACTION = 'POST /servers/{server_id}/action'

LIST = base.rule(_P + 'index', base.READER, 'List servers.', 'GET /servers')
DETAIL = base.rule(_P + 'detail', base.READER, 'List servers with details.', 'GET /servers/detail')
LIST_ALL = base.rule(
    _P + 'index:get_all_tenants', base.ADMIN, 'List servers of all projects.', 'GET /servers'
)
DETAIL_ALL = base.rule(
    _P + 'detail:get_all_tenants',
    base.ADMIN,
    'List servers of all projects with details.',
    'GET /servers/detail',
)
ALL_FILTERS = base.rule(
    _P + 'allow_all_filters',
    base.ADMIN,
    'List servers with filters that only administrators may use.',
    'GET /servers',
    'GET /servers/detail',
)
SHOW = base.rule(_P + 'show', base.READER, 'Show a server.', 'GET /servers/{server_id}')
HOST_STATUS = base.rule(
    _P + 'show:host_status', base.ADMIN, 'Show the status of the host of a server.', *_SEEN
)
HOST_STATUS_UNKNOWN = base.rule(
    _P + 'show:host_status:unknown-only',
    base.ADMIN,
    'Show the status of the host of a server only if it is UNKNOWN.',
    *_SEEN,
)
EXTRA_SPECS = base.rule(
    _P + 'show:flavor-extra-specs',
    base.READER,
    'Show extra specs in the flavor of a server.',
    *_SEEN,
)
EXTENDED_ATTRIBUTES = base.rule(
    'os_compute_api:os-extended-server-attributes',
    base.ADMIN,
    'Show the host, the hypervisor and other internal attributes of a server.',
    *_SEEN,
)
CREATE = base.rule(_P + 'create', base.MEMBER, 'Create a server.', _POST)
FORCED_HOST = base.rule(
    _P + 'create:forced_host',
    base.ADMIN,
    'Create a server on a host named in availability_zone; filters are skipped.',
    _POST,
)
REQUESTED_DESTINATION = base.rule(
    'compute:servers:create:requested_destination',
    base.ADMIN,
    'Create a server on a named host or hypervisor; filters apply.',
    _POST,
)
ATTACH_VOLUME = base.rule(
    _P + 'create:attach_volume', base.MEMBER, 'Create a server with volumes.', _POST
)
ATTACH_NETWORK = base.rule(
    _P + 'create:attach_network', base.MEMBER, 'Create a server with networks.', _POST
)
TRUSTED_CERTS = base.rule(
    _P + 'create:trusted_certs',
    base.MEMBER,
    'Create a server with trusted image certificates.',
    _POST,
)
ZERO_DISK_FLAVOR = base.rule(
    _P + 'create:zero_disk_flavor',
    base.ADMIN,
    'Create a server from an image with a flavor whose disk size is 0.',
    _POST,
)
EXTERNAL_NETWORK = base.rule(
    'network:attach_external_network',
    base.ADMIN,
    'Attach a server directly to an external network.',
    _POST,
)
DELETE = base.rule(_P + 'delete', base.MEMBER, 'Delete a server.', 'DELETE /servers/{server_id}')
UPDATE = base.rule(_P + 'update', base.MEMBER, 'Update a server.', 'PUT /servers/{server_id}')
START = base.rule(_P + 'start', base.MEMBER, 'Start a server.', f'{_ACTION} (os-start)')
STOP = base.rule(_P + 'stop', base.MEMBER, 'Stop a server.', f'{_ACTION} (os-stop)')
REBOOT = base.rule(_P + 'reboot', base.MEMBER, 'Reboot a server.', f'{_ACTION} (reboot)')
TRIGGER_CRASH_DUMP = base.rule(
    _P + 'trigger_crash_dump',
    base.MEMBER,
    'Trigger a crash dump in a server.',
    f'{_ACTION} (trigger_crash_dump)',
)
REBUILD = base.rule(
    _P + 'rebuild', base.MEMBER, 'Rebuild a server from an image.', f'{_ACTION} (rebuild)'
)
REBUILD_TRUSTED_CERTS = base.rule(
    _P + 'rebuild:trusted_certs',
    base.MEMBER,
    'Rebuild a server with trusted image certificates.',
    f'{_ACTION} (rebuild)',
)
CREATE_IMAGE = base.rule(
    _P + 'create_image', base.MEMBER, 'Create an image of a server.', f'{_ACTION} (createImage)'
)
CREATE_IMAGE_BFV = base.rule(
    _P + 'create_image:allow_volume_backed',
    base.MEMBER,
    'Create an image of a server that boots from a volume.',
    f'{_ACTION} (createImage)',
)
