"""The JSON Schema of files that describe a cloud. The reference page is made of it."""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import http
import json
import typing

from nova_lite.api import schema_parts
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import quota_limits
from nova_lite.virt.sim import profile

Json: typing.TypeAlias = dict[str, typing.Any]

FORMAT = 1
ADDRESS = 'https://json-schema.org/draft/2020-12/schema'
# Maximum number of characters of names in APIs.
LONGEST = 255
# Seconds by which a clock may be ahead or behind: 100 years.
MOST_AHEAD_S = 36525 * 86400


def _text(description: str, **more: typing.Any) -> Json:
    found = {'type': 'string', 'description': description, 'minLength': 1, 'maxLength': LONGEST}
    return {**found, **more}


def _number(description: str, least: float = 0, **more: typing.Any) -> Json:
    return {'type': 'integer', 'description': description, 'minimum': least, **more}


def _flag(description: str, *, default: bool) -> Json:
    return {'type': 'boolean', 'description': description, 'default': default}


def _choice(description: str, *values: typing.Any, **more: typing.Any) -> Json:
    return {'description': description, 'enum': list(values), **more}


def _texts(description: str, **more: typing.Any) -> Json:
    items = {'type': 'string', 'minLength': 1, 'maxLength': LONGEST}
    return {'type': 'array', 'description': description, 'items': items, **more}


def _mapping(description: str, *kinds: str) -> Json:
    """Return the schema of a mapping with any keys. kinds: JSON's types of its values"""
    return {
        'type': 'object',
        'description': description,
        'additionalProperties': {'type': list(kinds)},
    }


def _whole(description: str, properties: Json, required: Sequence[str] = ()) -> Json:
    return {**schema_parts.whole(properties, required=list(required)), 'description': description}


def _list(description: str, properties: Json, required: Sequence[str] = ('name',)) -> Json:
    items = schema_parts.whole(properties, required=list(required))
    return {'type': 'array', 'description': description, 'items': items}


def _limits(service: str, names: Sequence[str]) -> Json:
    found = {name: _number(f'limit of {name}', UNLIMITED, maximum=MOST) for name in sorted(names)}
    return _whole(f'limits of the {service} API; -1 for no limit', found)


PROJECT = 'project that owns it'
UNLIMITED, MOST = -1, 0x7FFFFFFF
CELLS = {
    'type': 'array',
    'description': 'one entry for each cell; they are called cell1, cell2 and so on',
    'minItems': 1,
    'maxItems': 1000,
    'items': schema_parts.whole(
        {
            'hosts': {
                'description': 'number of hosts, called cell1-host1, cell1-host2 and so on; or '
                'their names',
                'type': ['integer', 'array'],
                'minimum': 1,
                'maximum': 100_000,
                'minItems': 1,
                'maxItems': 100_000,
                'items': {'type': 'string', 'pattern': f'^{profile.NAME.pattern}$'},
                'default': layout.Settings.hosts,
            },
            'settings': {
                'type': 'object',
                'description': 'settings of these hosts, as in an entry of hosts in a profile: '
                'capacity, traits, delays and others',
            },
        }
    ),
}
FLAVORS = _list(
    'flavors',
    {
        'name': _text('name'),
        'id': _text('id; made if omitted'),
        'vcpus': _number('virtual processors', 1),
        'ram': _number('memory in MiB', 1),
        'disk': _number('root disk in GiB', default=0),
        'ephemeral': _number('ephemeral disk in GiB', default=0),
        'swap': _number('swap disk in MiB', default=0),
        'description': _text('description', maxLength=65535),
        'projects': _texts(
            'projects that may use the flavor; all if omitted, administrators alone if empty'
        ),
        'properties': _mapping('extra specs, such as hw:cpu_policy or trait:CUSTOM_GPU', 'string'),
    },
    required=('name', 'vcpus', 'ram'),
)
IMAGES = _list(
    'images; their disks are empty',
    {
        'name': _text('name'),
        'project': _text(PROJECT, default='admin'),
        'disk_gb': {
            'type': 'number',
            'description': 'size of the disk in GiB',
            'exclusiveMinimum': 0,
            'maximum': 2048,
            'default': 1,
        },
        'visibility': _choice(
            'who may use it', 'public', 'community', 'shared', 'private', default='public'
        ),
        'min_disk': _number('smallest root disk of flavors in GiB', default=0),
        'min_ram': _number('smallest memory of flavors in MiB', default=0),
        'protected': _flag('whether it cannot be deleted', default=False),
        'tags': _texts('tags'),
        'properties': _mapping('further properties, such as hw_machine_type', 'string'),
    },
)
PROJECTS = _list(
    'projects, and quotas of projects; the projects admin, demo and service exist',
    {
        'name': _text('name', maxLength=64),
        'description': _text('description'),
        'quotas': _whole(
            'limits that differ from those of the cloud',
            {name: _limits(name, names) for name, names in quota_limits.NAMES.items()},
        ),
    },
)
USERS = _list(
    'users beside admin and demo; clouds.yaml has a cloud called nova-lite-NAME for each',
    {
        'name': _text('name'),
        'password': _text('password; a random one if omitted'),
        'projects': {
            'type': 'object',
            'description': 'roles in projects: {project: [role]}; clients use the first project',
            'minProperties': 1,
            'additionalProperties': {
                'type': 'array',
                'minItems': 1,
                'items': {'enum': ['admin', 'manager', 'member', 'reader']},
            },
        },
    },
    required=('name', 'projects'),
)
SUBNET = schema_parts.whole(
    {
        'name': _text('name; that of the network and -subnet if omitted'),
        'cidr': _text('addresses, such as 10.1.0.0/24 or fd00::/64'),
        'gateway': _text('address of the gateway; the first one if omitted'),
        'dhcp': _flag('whether DHCP is on', default=True),
    },
    required=['cidr'],
)
NETWORKS = _list(
    'networks',
    {
        'name': _text('name'),
        'project': _text(PROJECT, default='demo'),
        'shared': _flag('whether all projects may use it', default=False),
        'external': _flag('whether floating addresses come from it', default=False),
        'type': _choice('type of the physical network', 'flat', 'vlan', 'vxlan', 'gre', 'local'),
        'physical_network': _text('name of the physical network'),
        'segment': _number('VLAN or tunnel', 1),
        'mtu': _number('greatest size of packets', 68),
        'subnets': {'type': 'array', 'description': 'subnets', 'items': SUBNET},
    },
)
HOSTS = _texts('names of hosts, or patterns such as cell1-*', minItems=1)
IDS = 'in values of filter_tenant_id, {NAME} stands for the id of the project NAME'
AGGREGATES = _list(
    'host aggregates that are no availability zone',
    {'name': _text('name'), 'hosts': HOSTS, 'metadata': _mapping(f'metadata; {IDS}', 'string')},
)
ZONES = _list(
    'availability zones; each is an aggregate with the same name',
    {
        'name': _text('name'),
        'hosts': HOSTS,
        'metadata': _mapping(f'further metadata; {IDS}', 'string'),
    },
    required=('name', 'hosts'),
)
VOLUME_TYPES = _list(
    'types of volumes beside __DEFAULT__ and multiattach',
    {
        'name': _text('name'),
        'description': _text('description'),
        'properties': _mapping('extra specs', 'string'),
    },
)
DISABLED_HOSTS = _list(
    'hosts whose compute service is disabled once the servers run',
    {'hosts': HOSTS, 'reason': _text('reason')},
    required=('hosts',),
)
DOWN_HOSTS = _list(
    'hosts whose compute service is forced down once the servers run',
    {'hosts': HOSTS},
    required=('hosts',),
)
SERVER_GROUPS = _list(
    'server groups',
    {
        'name': _text('name'),
        'project': _text(PROJECT, default='demo'),
        'policy': _choice(
            'policy', 'affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity'
        ),
        'max_server_per_host': _number('number of members per host, of anti-affinity', 1),
    },
    required=('name', 'policy'),
)
SERVERS = _list(
    'servers to start with',
    {
        'name': _text('name'),
        'count': _number('number of servers, called NAME-1, NAME-2 and so on', 1, maximum=10_000),
        'project': _text(PROJECT, default='demo'),
        'flavor': _text('name of the flavor'),
        'image': _text('name of the image; boots from a new volume if volume is given'),
        'volume': _whole(
            'root volume, made of the image',
            {'size': _number('size in GiB', 1), 'type': _text('name of the volume type')},
            ['size'],
        ),
        'networks': _texts('names of networks; none if empty or omitted'),
        'zone': _text('availability zone'),
        'host': _text('host; the scheduler chooses one if omitted'),
        'forced': _flag('whether the filters are not asked about the host', default=False),
        'group': _text('server group of the same project'),
        'metadata': _mapping('metadata', 'string'),
        'turn': _number(
            'servers of a turn are created once those of lower turns are ACTIVE', default=0
        ),
        'status': _choice('status to bring it to', 'ACTIVE', 'SHUTOFF', default='ACTIVE'),
    },
    required=('name', 'flavor', 'image'),
)
FAULTS = _whole(
    'faults that each start with the file injects; a reset removes them, but those of hosts',
    {
        'failures': {
            'type': 'array',
            'description': 'failures of operations of hosts (as in a profile) or of requests to '
            'services',
            'items': {
                'type': 'object',
                'properties': {
                    'service': _choice(
                        'service whose requests fail; without it an operation of hosts fails',
                        *request_faults.SERVICES,
                    ),
                    'status': _choice(
                        'status of the answer',
                        *(int(each) for each in http.HTTPStatus if each >= 400),
                    ),
                },
            },
        },
        'hosts_off': _texts('hosts without power'),
        'databases_down': _texts('cells whose database is down'),
        'buses_cut': _texts('top or cells whose bus is cut'),
        'buses_frozen': _texts('top or cells whose bus does not deliver messages'),
    },
)
CLOCK = _whole(
    'time of the cloud',
    {
        'ahead': {
            'type': ['number', 'string'],
            'description': 'by how much the clock of a new cloud is ahead of that of the machine: '
            'seconds, or a duration such as 30d',
            'minimum': -MOST_AHEAD_S,
            'maximum': MOST_AHEAD_S,
        },
        'rate': {
            'type': 'number',
            'description': 'how much faster time passes',
            'minimum': 1,
            'maximum': 100_000,
        },
        'frozen': _flag('whether time stands still', default=False),
    },
)
PROPERTIES: Mapping[str, Json] = {
    'format': {'description': 'version of this schema', 'const': FORMAT},
    'cells': CELLS,
    'profile': {
        'type': ['string', 'object'],
        'description': 'behaviour of the simulated hosts: name of a profile, path of a file '
        'relative to this one, or a profile itself',
    },
    'speed': {
        'type': 'number',
        'description': 'factor by which simulated operations are faster',
        'exclusiveMinimum': 0,
        'default': layout.Settings.speed,
    },
    'auth': _choice(
        'keystone checks tokens; noauth accepts identity headers without a check',
        'keystone',
        'noauth',
        default=layout.Settings.auth,
    ),
    'options': {
        'type': 'object',
        'description': 'configuration of every daemon: {group: {option: value}}',
        'additionalProperties': {
            'type': 'object',
            'additionalProperties': {'type': ['string', 'number', 'boolean']},
        },
    },
    'defaults': _flag(
        'whether a new cloud has the flavors, images and networks of every cloud', default=True
    ),
    'projects': PROJECTS,
    'users': USERS,
    'flavors': FLAVORS,
    'images': IMAGES,
    'networks': NETWORKS,
    'volume_types': VOLUME_TYPES,
    'aggregates': AGGREGATES,
    'zones': ZONES,
    'server_groups': SERVER_GROUPS,
    'servers': SERVERS,
    'disabled_hosts': DISABLED_HOSTS,
    'down_hosts': DOWN_HOSTS,
    'faults': FAULTS,
    'clock': CLOCK,
}
SCHEMA: Json = {
    '$schema': ADDRESS,
    'title': 'A cloud of nova_lite',
    **schema_parts.whole(dict(PROPERTIES)),
}
# The keys that are used only for a new cloud; the others are used at each start with the file.
OBJECTS = (
    'defaults',
    'projects',
    'users',
    'flavors',
    'images',
    'networks',
    'volume_types',
    'aggregates',
    'zones',
    'server_groups',
    'servers',
    'disabled_hosts',
    'down_hosts',
)


def text() -> str:
    """Return the schema as JSON."""
    return json.dumps(SCHEMA, indent=2)


class Show(argparse.Action):
    """The action of the option that prints the schema and ends the process."""

    def __call__(self, parser: argparse.ArgumentParser, *_given: typing.Any) -> typing.NoReturn:
        print(text())
        parser.exit(0)
