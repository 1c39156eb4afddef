"""The attributes of an image: their schema, and who may set them."""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database

DISK_FORMATS = bodies.words('ami ari aki vhd vhdx vmdk raw qcow2 vdi ploop iso')
CONTAINER_FORMATS = ('ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed')
VISIBILITIES = ('public', 'private', 'shared', 'community')
STATUSES = bodies.words(
    'queued saving active killed deleted uploading importing pending_delete deactivated'
)
UUID_PATTERN = (
    '^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$'
)

TAGS = bodies.array(bodies.NAME, most=128)


def _text(most: int) -> database.Row:
    return {'type': ['null', 'string'], 'maxLength': most}


SETTABLE = {
    'name': _text(255),
    'visibility': {'type': 'string', 'enum': list(VISIBILITIES)},
    'protected': {'type': 'boolean'},
    'os_hidden': {'type': 'boolean'},
    'owner': _text(64),
    'disk_format': {'type': ['null', 'string'], 'enum': [None, *DISK_FORMATS]},
    'container_format': {'type': ['null', 'string'], 'enum': [None, *CONTAINER_FORMATS]},
    'min_disk': bodies.COUNT,
    'min_ram': bodies.COUNT,
    'tags': TAGS,
}
_STRINGS = bodies.words('created_at updated_at file self schema direct_url stores')
READ_ONLY: dict[str, bodies.Schema] = {
    'status': {'type': 'string', 'enum': list(STATUSES)},
    'size': {'type': ['null', 'integer']},
    'virtual_size': {'type': ['null', 'integer']},
    'checksum': _text(32),
    'os_hash_algo': _text(64),
    'os_hash_value': _text(128),
    **dict.fromkeys(_STRINGS, {'type': 'string'}),
    'locations': {'type': 'array'},
}
# Attributes whose published schema allows more values than requests may have.
PUBLISHED = {
    'min_disk': {'type': 'integer'},
    'min_ram': {'type': 'integer'},
    'owner': _text(255),
    'tags': {'type': 'array', 'items': {'type': 'string', 'maxLength': 255}},
}
LOCATIONS = bodies.array(
    {
        'type': 'object',
        'required': ['url', 'metadata'],
        'properties': {
            'url': {'type': 'string', 'maxLength': 255},
            'metadata': {'type': 'object'},
            'validation_data': {
                'type': 'object',
                'writeOnly': True,
                'additionalProperties': False,
                'required': ['os_hash_algo', 'os_hash_value'],
                'properties': {
                    'checksum': {'type': 'string', 'minLength': 32, 'maxLength': 32},
                    'os_hash_algo': {'type': 'string', 'maxLength': 64},
                    'os_hash_value': {'type': 'string', 'maxLength': 128},
                },
            },
        },
    }
)
ID = {'type': 'string', 'pattern': UUID_PATTERN}
PROPERTY = {'type': 'string', 'maxLength': 65535}
PROPERTY_QUOTA = 128

CREATE = bodies.compiled(
    {
        'type': 'object',
        # First, so that a body with too many properties is rejected before they are checked.
        'maxProperties': 1000,
        # Any value of a read-only attribute: a request that names one is refused in any case.
        'properties': {'id': ID, **SETTABLE, **dict.fromkeys(READ_ONLY, True)},
        'additionalProperties': PROPERTY,
        'propertyNames': {'minLength': 1, 'maxLength': 255},
    }
)
VALUE = {name: bodies.compiled(schema) for name, schema in SETTABLE.items()}
PROPERTY_VALUE = bodies.compiled(PROPERTY)
_PATH = {'type': 'string', 'pattern': '^/', 'maxLength': 512}
PATCH = bodies.compiled(
    bodies.array(
        bodies.record({'op': {'enum': ['add', 'replace', 'remove']}, 'path': _PATH}, ['op', 'path'])
    )
)


def document() -> bodies.Json:
    """Return the image schema as clients fetch it."""
    properties = {'id': ID, **SETTABLE, **PUBLISHED}
    for name, schema in READ_ONLY.items():
        properties[name] = {**schema, 'readOnly': True}
    properties['locations'] = LOCATIONS
    return {
        'name': 'image',
        'properties': properties,
        'additionalProperties': {'type': 'string'},
        'links': [
            {'rel': 'self', 'href': '{self}'},
            {'rel': 'enclosure', 'href': '{file}'},
            {'rel': 'describedby', 'href': '{schema}'},
        ],
    }
