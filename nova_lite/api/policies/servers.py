"""Servers: to list, show, create, change and delete them."""

from nova_lite.api.policies import base

_P = 'os_compute_api:servers:'
LIST = _P + 'index'
DETAIL = _P + 'detail'
LIST_ALL = _P + 'index:get_all_tenants'
DETAIL_ALL = _P + 'detail:get_all_tenants'
ALL_FILTERS = _P + 'allow_all_filters'
SHOW = _P + 'show'
HOST_STATUS = _P + 'show:host_status'
HOST_STATUS_UNKNOWN = _P + 'show:host_status:unknown-only'
EXTRA_SPECS = _P + 'show:flavor-extra-specs'
CREATE = _P + 'create'
FORCED_HOST = _P + 'create:forced_host'
REQUESTED_DESTINATION = 'compute:servers:create:requested_destination'
ATTACH_VOLUME = _P + 'create:attach_volume'
ATTACH_NETWORK = _P + 'create:attach_network'
TRUSTED_CERTS = _P + 'create:trusted_certs'
ZERO_DISK_FLAVOR = _P + 'create:zero_disk_flavor'
EXTERNAL_NETWORK = 'network:attach_external_network'
DELETE = _P + 'delete'
UPDATE = _P + 'update'
START = _P + 'start'
STOP = _P + 'stop'
REBOOT = _P + 'reboot'
TRIGGER_CRASH_DUMP = _P + 'trigger_crash_dump'
REBUILD = _P + 'rebuild'
REBUILD_TRUSTED_CERTS = _P + 'rebuild:trusted_certs'
CREATE_IMAGE = _P + 'create_image'
CREATE_IMAGE_BFV = _P + 'create_image:allow_volume_backed'
EXTENDED_ATTRIBUTES = 'os_compute_api:os-extended-server-attributes'

_SEEN = ('GET /servers/{server_id}', 'GET /servers/detail')
_POST = 'POST /servers'
_ACTION = 'POST /servers/{server_id}/action'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_reading(), *_creating(), *_changing()]


def _reading() -> base.Rules:
    return [
        base.rule(LIST, base.READER, 'List servers.', 'GET /servers'),
        base.rule(DETAIL, base.READER, 'List servers with details.', 'GET /servers/detail'),
        base.rule(LIST_ALL, base.ADMIN, 'List servers of all projects.', 'GET /servers'),
        base.rule(
            DETAIL_ALL,
            base.ADMIN,
            'List servers of all projects with details.',
            'GET /servers/detail',
        ),
        base.rule(
            ALL_FILTERS,
            base.ADMIN,
            'List servers with filters that only administrators may use.',
            'GET /servers',
            'GET /servers/detail',
        ),
        base.rule(SHOW, base.READER, 'Show a server.', 'GET /servers/{server_id}'),
        base.rule(HOST_STATUS, base.ADMIN, 'Show the status of the host of a server.', *_SEEN),
        base.rule(
            HOST_STATUS_UNKNOWN,
            base.ADMIN,
            'Show the status of the host of a server only if it is UNKNOWN.',
            *_SEEN,
        ),
        base.rule(EXTRA_SPECS, base.READER, 'Show extra specs in the flavor of a server.', *_SEEN),
        base.rule(
            EXTENDED_ATTRIBUTES,
            base.ADMIN,
            'Show the host, the hypervisor and other internal attributes of a server.',
            *_SEEN,
        ),
    ]


def _creating() -> base.Rules:
    return [
        base.rule(CREATE, base.MEMBER, 'Create a server.', _POST),
        base.rule(
            FORCED_HOST,
            base.ADMIN,
            'Create a server on a host named in availability_zone; filters are skipped.',
            _POST,
        ),
        base.rule(
            REQUESTED_DESTINATION,
            base.ADMIN,
            'Create a server on a named host or hypervisor; filters apply.',
            _POST,
        ),
        base.rule(ATTACH_VOLUME, base.MEMBER, 'Create a server with volumes.', _POST),
        base.rule(ATTACH_NETWORK, base.MEMBER, 'Create a server with networks.', _POST),
        base.rule(
            TRUSTED_CERTS, base.MEMBER, 'Create a server with trusted image certificates.', _POST
        ),
        base.rule(
            ZERO_DISK_FLAVOR,
            base.ADMIN,
            'Create a server from an image with a flavor whose disk size is 0.',
            _POST,
        ),
        base.rule(
            EXTERNAL_NETWORK, base.ADMIN, 'Attach a server directly to an external network.', _POST
        ),
    ]


def _changing() -> base.Rules:
    return [
        base.rule(DELETE, base.MEMBER, 'Delete a server.', 'DELETE /servers/{server_id}'),
        base.rule(UPDATE, base.MEMBER, 'Update a server.', 'PUT /servers/{server_id}'),
        base.rule(START, base.MEMBER, 'Start a server.', f'{_ACTION} (os-start)'),
        base.rule(STOP, base.MEMBER, 'Stop a server.', f'{_ACTION} (os-stop)'),
        base.rule(REBOOT, base.MEMBER, 'Reboot a server.', f'{_ACTION} (reboot)'),
        base.rule(
            TRIGGER_CRASH_DUMP,
            base.MEMBER,
            'Trigger a crash dump in a server.',
            f'{_ACTION} (trigger_crash_dump)',
        ),
        base.rule(REBUILD, base.MEMBER, 'Rebuild a server from an image.', f'{_ACTION} (rebuild)'),
        base.rule(
            REBUILD_TRUSTED_CERTS,
            base.MEMBER,
            'Rebuild a server with trusted image certificates.',
            f'{_ACTION} (rebuild)',
        ),
        base.rule(
            CREATE_IMAGE, base.MEMBER, 'Create an image of a server.', f'{_ACTION} (createImage)'
        ),
        base.rule(
            CREATE_IMAGE_BFV,
            base.MEMBER,
            'Create an image of a server that boots from a volume.',
            f'{_ACTION} (createImage)',
        ),
    ]
