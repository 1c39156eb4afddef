"""/v2/schemas/metadefs: JSON schemas of metadata definitions as clients fetch them.

They equal Glance's schemas without their descriptions. Requests are checked by other schemas,
in `metadefs` and `metadef_contents`.
"""

import typing

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import web

_STRING: bodies.Schema = {'type': 'string'}
_BOOLEAN: bodies.Schema = {'type': 'boolean'}
_ARRAY: bodies.Schema = {'type': 'array'}
_NAME = {**_STRING, 'maxLength': 80}
_TYPE = {**_STRING, 'enum': ['array', 'boolean', 'integer', 'number', 'object', 'string', None]}
_READ_ONLY = {**_STRING, 'readOnly': True}
_TIMES = dict.fromkeys(('created_at', 'updated_at'), {**_READ_ONLY, 'format': 'date-time'})
_LINKS = dict.fromkeys(('schema', 'self'), _READ_ONLY)


def _object(properties: bodies.Schema, **more: typing.Any) -> bodies.Schema:
    return {'type': 'object', 'properties': properties, **more}


def _array(items: bodies.Schema, **more: typing.Any) -> bodies.Schema:
    return {**_ARRAY, 'items': items, **more}


def _defined(name: str) -> bodies.Schema:
    return {'$ref': f'#/definitions/{name}'}


_PROPERTY: dict[str, bodies.Schema] = {
    'name': _NAME,
    'title': _STRING,
    'description': _STRING,
    'operators': _array(_STRING),
    'type': _TYPE,
    'required': _defined('stringArray'),
    'minimum': {'type': 'number'},
    'maximum': {'type': 'number'},
    **dict.fromkeys(('maxLength', 'maxItems'), _defined('positiveInteger')),
    **dict.fromkeys(('minLength', 'minItems'), _defined('positiveIntegerDefault0')),
    'pattern': {**_STRING, 'format': 'regex'},
    'enum': _ARRAY,
    'readonly': _BOOLEAN,
    'default': {},
    'items': _object({'type': _TYPE, 'enum': _ARRAY}),
    'uniqueItems': {**_BOOLEAN, 'default': False},
    'additionalItems': _BOOLEAN,
}
_OBJECT = {
    'name': _STRING,
    'description': _STRING,
    'required': _defined('stringArray'),
    'properties': _defined('property'),
}
_ASSOCIATION = ('name', 'prefix', 'properties_target')
_NAMESPACE = {
    'namespace': _NAME,
    'display_name': _NAME,
    'description': {**_STRING, 'maxLength': 500},
    'visibility': {**_STRING, 'enum': ['public', 'private']},
    'protected': _BOOLEAN,
    'owner': {**_STRING, 'maxLength': 255},
    **_TIMES,
    **_LINKS,
    'resource_type_associations': _array(_object(dict.fromkeys(_ASSOCIATION, _STRING))),
    'properties': _defined('property'),
    'objects': _array(_object(_OBJECT)),
    'tags': _array(_object({'name': _STRING})),
}
_NUMBERS = {
    'positiveInteger': {'type': 'integer', 'minimum': 0},
    'positiveIntegerDefault0': {'allOf': [_defined('positiveInteger'), {'default': 0}]},
}
_STRINGS = _array(_STRING, uniqueItems=True)
_OF_PROPERTIES = {'definitions': {**_NUMBERS, 'stringArray': {**_STRINGS, 'minItems': 1}}}
_OF_OTHERS = {
    'definitions': {
        **_NUMBERS,
        'stringArray': _STRINGS,
        'property': {
            'type': 'object',
            'additionalProperties': _object(_PROPERTY, required=['title', 'type']),
        },
    }
}


def _one(name: str, properties: bodies.Schema, *required: str) -> bodies.Schema:
    return {
        'name': name,
        'properties': properties,
        'additionalProperties': False,
        'required': list(required),
    }


def _several(name: str, items: bodies.Schema) -> bodies.Schema:
    return {
        'name': name,
        'properties': {name: items, **dict.fromkeys(('first', 'next', 'schema'), _STRING)},
        'links': [
            {'rel': 'first', 'href': '{first}'},
            {'rel': 'next', 'href': '{next}'},
            {'rel': 'describedby', 'href': '{schema}'},
        ],
    }


_PROPERTIES = {
    'type': 'object',
    'additionalProperties': _one('property', _PROPERTY, 'type', 'title'),
}
_NAMESPACES = _one('namespace', _NAMESPACE, 'namespace')
_OBJECTS = _one('object', {**_OBJECT, 'name': _NAME, **_LINKS, **_TIMES}, 'name')
_TYPES = _one('resource_type_association', {**dict.fromkeys(_ASSOCIATION, _NAME), **_TIMES}, 'name')
_TAGS = _one('tag', {'name': _NAME, **_TIMES}, 'name')
SCHEMAS = {
    'namespace': {**_NAMESPACES, **_OF_OTHERS},
    'namespaces': {**_several('namespaces', _array(_NAMESPACES)), **_OF_OTHERS},
    'object': {**_OBJECTS, **_OF_OTHERS},
    'objects': {**_several('objects', _array(_OBJECTS)), **_OF_OTHERS},
    'property': {**_one('property', _PROPERTY, 'type', 'title', 'name'), **_OF_PROPERTIES},
    'properties': {**_several('properties', _PROPERTIES), **_OF_PROPERTIES},
    'resource_type': _TYPES,
    'resource_types': _several('resource_type_associations', _array(_TYPES)),
    'tag': _TAGS,
    'tags': _several('tags', _array(_TAGS)),
}


class Schemas:
    """Answers GET /v2/schemas/metadefs/{name}."""

    def on_get(self, _req: web.Request, resp: falcon.Response, name: str) -> None:
        if name not in SCHEMAS:
            raise faults.NotFound(f'There is no schema of metadata definitions {name[:64]}.')
        resp.media = SCHEMAS[name]
