"""Request bodies: size, JSON, and schemas that are compiled once, at import."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import itertools
import typing

import jsonschema

from nova_lite.dialects import storable
from nova_lite.simcloud import faults
from nova_lite.simcloud import web

# A JSON object of a request or an answer.
Json: typing.TypeAlias = dict[str, typing.Any]
# A JSON schema of an object; True in place of one allows any value.
Schema: typing.TypeAlias = dict[str, typing.Any]
Validator: typing.TypeAlias = jsonschema.Draft202012Validator

JSON_LIMIT_BYTES = 1024 * 1024
# Limit before authentication. Keystone has the same, from oslo.middleware.
UNKNOWN_LIMIT_BYTES = 114688
# MariaDB's type for JSON holds 32 levels. A stored value may add some levels around a body.
LEVELS = 28
INT_LIMIT = 2**31 - 1
# Number of faults of a body that are compared to find the one to report.
COMPARED_ERRORS = 10

STRING: Schema = {'type': 'string', 'maxLength': 255}
NAME: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 255}
TEXT: Schema = {'type': 'string', 'maxLength': 4096}
ID: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 64}
_DIGITS = '[0-9a-fA-F]'
UUID: Schema = {
    'type': 'string',
    'pattern': f'^{_DIGITS}{{8}}(-?{_DIGITS}{{4}}){{4}}{_DIGITS}{{8}}\\Z',
}
BOOLEAN: Schema = {'type': 'boolean'}
COUNT: Schema = {'type': 'integer', 'minimum': 0, 'maximum': INT_LIMIT}


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def nullable(schema: Schema) -> Schema:
    """Return `schema` extended to allow null."""
    return {'anyOf': [schema, {'type': 'null'}]}


def array(items: Schema, most: int | None = None) -> Schema:
    """Return the schema of a list of at most `most` items."""
    # In this order: a list that is too long is rejected before its items are checked.
    limit = {} if most is None else {'maxItems': most}
    return {'type': 'array', **limit, 'items': items}


def record(
    properties: Mapping[str, Schema | bool],
    required: Iterable[str] = (),
    *,
    extra: bool | Schema = True,
) -> Schema:
    """Return the schema of an object. extra: whether other keys are allowed, or their schema"""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(required),
        'additionalProperties': extra,
    }


def mapping(values: Schema) -> Schema:
    """Return the schema of an object with any keys, whose values match the schema `values`."""
    return {**record({}, extra=values), 'propertyNames': {'minLength': 1, 'maxLength': 255}}


# Values that clients may omit by sending null.
OPTIONAL_STRING = nullable(STRING)
OPTIONAL_ID = nullable(ID)


def compiled(schema: Schema) -> Validator:
    """Return a validator for a JSON schema."""
    return jsonschema.Draft202012Validator(schema)


def wrapped(
    key: str,
    properties: Mapping[str, Schema | bool],
    required: Iterable[str] = (),
    *,
    extra: bool = False,
) -> Validator:
    """Return a validator for {key: {…}} whose inner object has `properties`."""
    return compiled(record({key: record(properties, required, extra=extra)}, [key]))


def action(schemas: Mapping[str, Schema]) -> Validator:
    """Return a validator for an object with exactly one key. schemas: {key: schema of its value}"""
    return compiled({**record(schemas, extra=False), 'minProperties': 1, 'maxProperties': 1})


def chunks(req: web.Request, size: int) -> Iterator[bytes]:
    """Yield the body in pieces of at most `size` bytes. The transfer may be chunked."""
    is_chunked = req.content_length is None and req.get_header('Transfer-Encoding')
    read = req.stream.read if is_chunked else req.bounded_stream.read
    while data := read(size):
        yield data


def _raw(req: web.Request, limit: int) -> bytes:
    if (req.content_length or 0) > limit:
        raise faults.TooLarge(f'The body is larger than {limit} bytes.')
    parts, total = [], 0
    for part in chunks(req, 64 * 1024):
        total += len(part)
        if total > limit:
            raise faults.TooLarge(f'The body is larger than {limit} bytes.')
        parts.append(part)
    return b''.join(parts)


def decoded(raw: bytes) -> typing.Any:
    """Return the value of a JSON text. Raise ValueError if the database cannot store it."""
    return storable.decode(raw, levels=LEVELS)


def parsed(req: web.Request, limit: int = JSON_LIMIT_BYTES) -> typing.Any:
    """Return the JSON value of the body. Raise BadRequest with the reason, or TooLarge."""
    raw = _raw(req, limit)
    try:
        return decoded(raw)
    except ValueError as error:
        raise faults.BadRequest(f'The body is not valid JSON: {error}') from error


def read(
    req: web.Request,
    validator: Validator,
    key: str | None = None,
    *,
    limit: int = JSON_LIMIT_BYTES,
) -> typing.Any:
    """Return the body, checked by `validator`; with `key`, only the value under that key.

    limit: maximum size of the body in bytes
    """
    value = parsed(req, limit)
    check(value, validator)
    return value if key is None else value[key]


def check(value: object, validator: Validator) -> None:
    """Raise BadRequest with the most relevant of the first faults, if `value` is not valid."""
    if validator.is_valid(value):
        return
    found = itertools.islice(validator.iter_errors(value), COMPARED_ERRORS)
    error = jsonschema.exceptions.best_match(found)
    where = '.'.join(str(part) for part in error.absolute_path) or 'the body'
    raise faults.BadRequest(f'Invalid input for {where}: {error.message[:500]}')
