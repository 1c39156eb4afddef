"""Pieces that request schemas are made of.

Constants and small functions; every schema is written out in the file of its
operation. Query parameters arrive as lists, hence `single` and `multi`.
"""

from collections.abc import Sequence
import typing

from nova_lite.api import schema

ANY: schema.Source = {}
NOTHING = {'type': 'null'}

_TRUE = (True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes')
_FALSE = (False, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no')
BOOLEAN = {'type': ['boolean', 'string'], 'enum': [*_TRUE, *_FALSE]}
BOOLEAN_OR_AUTO = {'type': ['boolean', 'string'], 'enum': [*_TRUE, *_FALSE, 'auto']}

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255, 'format': 'name'}
# v2.0 drops blanks at its ends.
STRIPPED_NAME = {**NAME, schema.V2: schema.STRIP}
HOST = {'type': 'string', 'minLength': 1, 'maxLength': 255, 'pattern': r'^[a-zA-Z0-9\-._]*$'}
HOSTNAME = {
    'type': 'string',
    'minLength': 2,
    'maxLength': 63,
    'pattern': r'^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$',
}
UUID = {'type': 'string', 'format': 'uuid'}
# int() refuses texts of more than 4300 digits.
_DIGITS = r'^[0-9]{1,255}$'
_POSITIVE_DIGITS = r'^0{0,255}[1-9][0-9]{0,254}$'
UNBOUNDED_POSITIVE = {'type': ['integer', 'string'], 'pattern': _POSITIVE_DIGITS, 'minimum': 1}
UNBOUNDED = {'type': ['integer', 'string'], 'pattern': _DIGITS, 'minimum': 0}
POSITIVE = {**UNBOUNDED_POSITIVE, 'maximum': 0x7FFFFFFF, 'format': 'int32'}
NON_NEGATIVE = {**UNBOUNDED, 'maximum': 0x7FFFFFFF, 'format': 'int32'}
# -1 stands for all, or for no limit.
OR_MINUS_ONE = {
    'type': ['integer', 'string'],
    'pattern': r'^(-0{0,255}[01]|[0-9]{1,255})$',
    'minimum': -1,
}
# In a query. Larger ones than an answer may have entries are accepted too.
NUMBER = {'type': 'string', 'pattern': _DIGITS}
POSITIVE_NUMBER = {'type': 'string', 'pattern': _POSITIVE_DIGITS}
IPV4 = {'type': 'string', 'format': 'ipv4'}
IPV6 = {'type': 'string', 'format': 'ipv6', 'maxLength': 45}
TEXT = {'type': 'string', 'maxLength': 255}
# Only the server's limit of a request bounds its length.
ANY_TEXT = {'type': 'string'}
SOME_TEXT = {**TEXT, 'minLength': 1}
TEXT_OR_NULL = {'type': ['string', 'null'], 'maxLength': 255}
DESCRIPTION = {**TEXT_OR_NULL, 'format': 'printable'}
# A line break may end it, as in nova; it counts too.
METADATA_KEY = r'^(?![\s\S]{256})[a-zA-Z0-9\-_:. ]+$'
METADATA = {
    'type': 'object',
    'patternProperties': {METADATA_KEY: {'type': 'string', 'maxLength': 255}},
    'additionalProperties': False,
}
TAG = {'type': 'string', 'minLength': 1, 'maxLength': 60, 'pattern': r'^[^,/]*$'}


Schema: typing.TypeAlias = schema.Source


def is_true(value: object) -> bool:
    """Return whether a value that fulfils BOOLEAN means yes."""
    return value in _TRUE


def whole(properties: dict[str, schema.Source], *, required: Sequence[str] = ()) -> Schema:
    """Return the schema of an object with these keys and no further keys."""
    return {
        'type': 'object',
        'properties': dict(properties),
        'required': list(required),
        'additionalProperties': False,
    }


def open_object(properties: dict[str, schema.Source], *, required: Sequence[str] = ()) -> Schema:
    """Return the schema of an object with these keys and any further keys."""
    return {
        'type': 'object',
        'properties': dict(properties),
        'required': list(required),
        'additionalProperties': True,
    }


def body(key: str, content: Schema) -> Schema:
    """Return a request body of one key."""
    return whole({key: content}, required=[key])


def null_or(schema: Schema) -> Schema:
    """Return `schema`, or null."""
    return {'oneOf': [schema, NOTHING]}


def single(schema: Schema | None) -> Schema:
    """Return a query parameter that may be given once."""
    return {'type': 'array', 'items': schema, 'maxItems': 1}


def multi(schema: Schema | None = None) -> Schema:
    """Return a query parameter that may be repeated."""
    return {'type': 'array', 'items': ANY_TEXT if schema is None else schema}


def query(properties: dict[str, schema.Source], *, strict: bool = False) -> Schema:
    """Return a query string: strict refuses other keys, else they are dropped."""
    return {'type': 'object', 'properties': dict(properties), 'additionalProperties': not strict}


PAGE = {
    'limit': multi(NUMBER),
    'marker': multi(),
}
