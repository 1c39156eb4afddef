"""The body of POST /servers, by microversion.

Source: reference/nova/create-server 1.1, 1.3 and 1.5.
"""

from nova_lite.api import schema
from nova_lite.api import schema_parts

FLAVOR_REF = {'type': ['string', 'integer'], 'minLength': 1}
_SHORT = {'type': 'string', 'maxLength': 255}
_DEVICE_TAG = {'type': 'string', 'minLength': 1, 'maxLength': 60, 'pattern': r'^[^,/]*$'}
_DEVICE: dict[str, schema.Source] = {
    'virtual_name': _SHORT,
    'volume_id': schema_parts.UUID,
    'snapshot_id': schema_parts.UUID,
    'volume_size': schema_parts.POSITIVE,
    'device_name': {'type': 'string', 'minLength': 1, 'maxLength': 255,
                    'pattern': r'^[a-zA-Z0-9._\-/]*$'},
    'delete_on_termination': schema_parts.BOOLEAN,
    'no_device': schema_parts.ANY,
    'connection_info': {'type': 'string', 'maxLength': 0xFFFFFF},
}  # fmt: skip
_DEVICE_V2 = {
    **_DEVICE,
    'source_type': {'type': 'string', 'enum': ['volume', 'image', 'snapshot', 'blank']},
    'uuid': {'type': 'string', 'minLength': 1, 'maxLength': 255, 'pattern': r'^[a-zA-Z0-9._-]*$'},
    'image_id': schema_parts.UUID,
    'destination_type': {'type': 'string', 'enum': ['local', 'volume']},
    'guest_format': _SHORT,
    'device_type': _SHORT,
    'disk_bus': _SHORT,
    'boot_index': {'type': ['integer', 'string', 'null'], 'pattern': r'^-?[0-9]{1,255}$'},
}  # fmt: skip
_NETWORK: dict[str, schema.Source] = {
    'fixed_ip': {'type': 'string', 'format': 'ip'},
    'port': schema_parts.null_or(schema_parts.UUID),
    'uuid': schema_parts.UUID,
}
_VOLUME_TYPE = {'type': ['string', 'null'], 'minLength': 0, 'maxLength': 255}
_TAGS = {'type': 'array', 'items': schema_parts.TAG, 'maxItems': 50}
PASSWORD = schema_parts.ANY_TEXT
KEY_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
DISK_CONFIG = {'type': 'string', 'enum': ['AUTO', 'MANUAL']}
USER_DATA = {'type': 'string', 'format': 'base64', 'maxLength': 65535}
PERSONALITY = {
    'type': 'array',
    'items': schema_parts.whole(
        {
            'path': {'type': 'string'},
            'contents': {'type': 'string', 'format': 'base64'},
        },
        required=['path', 'contents'],
    ),
}
CERTIFICATES = schema_parts.null_or(
    {
        'type': 'array',
        'minItems': 1,
        'maxItems': 50,
        'uniqueItems': True,
        'items': {'type': 'string', 'minLength': 1},
    }
)


def _devices(**more: schema.Source) -> schema.Source:
    return {'type': 'array', 'items': schema_parts.whole({**_DEVICE_V2, **more})}


def _networks(**more: schema.Source) -> schema.Source:
    return {'type': 'array', 'items': schema_parts.whole({**_NETWORK, **more})}


def _old_networks(**more: schema.Source) -> schema.Source:
    return _networks(uuid=schema_parts.ANY_TEXT, **more)


def _auto_networks(**more: schema.Source) -> schema.Source:
    return {'oneOf': [_networks(**more), {'type': 'string', 'enum': ['none', 'auto']}]}


_V1 = schema_parts.whole(
    {
        'name': schema_parts.STRIPPED_NAME,
        'flavorRef': FLAVOR_REF,
        'imageRef': {'type': 'string', 'format': 'image_ref'},
        'adminPass': PASSWORD,
        'metadata': schema_parts.METADATA,
        'networks': _old_networks(),
        'block_device_mapping': {'type': 'array', 'items': schema_parts.whole(_DEVICE)},
        'block_device_mapping_v2': _devices(),
        'OS-DCF:diskConfig': DISK_CONFIG,
        'accessIPv4': schema_parts.IPV4,
        'accessIPv6': schema_parts.IPV6,
        'personality': PERSONALITY,
        'availability_zone': schema_parts.NAME,
        'config_drive': schema_parts.BOOLEAN,
        'key_name': schema_parts.NAME,
        'min_count': schema_parts.UNBOUNDED_POSITIVE,
        'max_count': schema_parts.UNBOUNDED_POSITIVE,
        'return_reservation_id': schema_parts.BOOLEAN,
        'security_groups': {
            'type': 'array',
            'items': schema_parts.whole({'name': schema_parts.NAME}),
        },
        'user_data': {**USER_DATA, schema.V2: schema.OMIT_NULL},
    },
    required=['name', 'flavorRef'],
)
_V19 = schema.extended(_V1, description=schema_parts.DESCRIPTION)
_V32 = schema.extended(
    _V19, networks=_old_networks(tag=_DEVICE_TAG), block_device_mapping_v2=_devices(tag=_DEVICE_TAG)
)
# Tags of block devices were taken back at once, those of networks with 2.37.
_V33 = schema.extended(_V32, block_device_mapping_v2=_devices())
_V37 = schema.extended(_V33, networks=_auto_networks())
_V37['required'] = [*_V37['required'], 'networks']
_V42 = schema.extended(
    _V37,
    networks=_auto_networks(tag=_DEVICE_TAG),
    block_device_mapping_v2=_devices(tag=_DEVICE_TAG),
)
_V52 = schema.extended(_V42, tags=_TAGS)
_V57 = schema.extended(_V52, personality=None)
_V63 = schema.extended(_V57, trusted_image_certificates=CERTIFICATES)
_V67 = schema.extended(
    _V63, block_device_mapping_v2=_devices(tag=_DEVICE_TAG, volume_type=_VOLUME_TYPE)
)
_V74 = schema.extended(_V67, host=schema_parts.HOST, hypervisor_hostname=schema_parts.HOST)
_V90 = schema.extended(_V74, hostname=schema_parts.HOSTNAME)
_V94 = schema.extended(_V90, hostname=schema_parts.HOST)

_UUIDS = {'oneOf': [schema_parts.UUID, {'type': 'array', 'items': schema_parts.UUID}]}
HINTS = schema_parts.open_object(
    {
        'group': _UUIDS,
        'different_host': _UUIDS,
        'same_host': {'type': ['string', 'array'], 'items': schema_parts.UUID},
        'query': {'type': ['string', 'object']},
        'target_cell': schema_parts.NAME,
        'different_cell': {'type': ['string', 'array'], 'items': {'type': 'string'}},
        'build_near_host_ip': {'type': 'string', 'format': 'ip'},
        'cidr': {'type': 'string', 'pattern': r'^/[0-9a-f.:]+$'},
    }
)


def _body(server: schema.Source) -> schema.Source:
    hints = {'os:scheduler_hints': HINTS, 'OS-SCH-HNT:scheduler_hints': HINTS}
    return schema_parts.whole({'server': server, **hints}, required=['server'])


BODY = {
    '2.1': _body(_V1),
    '2.19': _body(_V19),
    '2.32': _body(_V32),
    '2.33': _body(_V33),
    '2.37': _body(_V37),
    '2.42': _body(_V42),
    '2.52': _body(_V52),
    '2.57': _body(_V57),
    '2.63': _body(_V63),
    '2.67': _body(_V67),
    '2.74': _body(_V74),
    '2.90': _body(_V90),
    '2.94': _body(_V94),
}
