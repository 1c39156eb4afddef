"""Request bodies: size, JSON, and schemas that are compiled once, at import."""

import itertools

import jsonschema

from nova_lite.dialects import storable
from nova_lite.simcloud import faults

JSON_LIMIT_BYTES = 1024 * 1024
# Limit before authentication. Keystone has the same, from oslo.middleware.
UNKNOWN_LIMIT_BYTES = 114688
# MariaDB's type for JSON holds 32 levels, and what is stored may have some around a body.
LEVELS = 28
INT_LIMIT = 2**31 - 1
# A body may have more faults than anybody has time for.
COMPARED_ERRORS = 10

STRING = {'type': 'string', 'maxLength': 255}
NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
TEXT = {'type': 'string', 'maxLength': 4096}
ID = {'type': 'string', 'minLength': 1, 'maxLength': 64}
_DIGITS = '[0-9a-fA-F]'
UUID = {'type': 'string', 'pattern': f'^{_DIGITS}{{8}}(-?{_DIGITS}{{4}}){{4}}{_DIGITS}{{8}}\\Z'}
BOOLEAN = {'type': 'boolean'}
COUNT = {'type': 'integer', 'minimum': 0, 'maximum': INT_LIMIT}


def words(text):
    """Return the words of a text."""
    return tuple(text.split())


def nullable(schema):
    """Return the schema that also allows null."""
    return {'anyOf': [schema, {'type': 'null'}]}


def array(items, most=None):
    """Return the schema of a list of at most `most` items."""
    # In this order: the items of a list that is too long are not looked at.
    limit = {} if most is None else {'maxItems': most}
    return {'type': 'array', **limit, 'items': items}


def record(properties, required=(), *, extra=True):
    """Return the schema of an object. extra: whether it may have other keys, or their schema"""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(required),
        'additionalProperties': extra,
    }


def mapping(values):
    """Return the schema of an object whose keys are the user's."""
    return {**record({}, extra=values), 'propertyNames': {'minLength': 1, 'maxLength': 255}}


# What clients may leave open.
OPTIONAL_STRING = nullable(STRING)
OPTIONAL_ID = nullable(ID)


def compiled(schema):
    """Return a validator for `schema`, an object schema in JSON Schema's words."""
    return jsonschema.Draft202012Validator(schema)


def wrapped(key, properties, required=(), *, extra=False):
    """Return a validator for {key: {…}} whose inner object has `properties`."""
    return compiled(record({key: record(properties, required, extra=extra)}, [key]))


def action(schemas):
    """Return a validator for {name: …} with just one of the names. schemas: {name: schema}"""
    return compiled({**record(schemas, extra=False), 'minProperties': 1, 'maxProperties': 1})


def chunks(req, size):
    """Return the body in pieces of at most `size` bytes, chunked transfer included."""
    stream = req.bounded_stream
    if req.content_length is None and req.get_header('Transfer-Encoding'):
        stream = req.stream
    while True:
        data = stream.read(size)
        if not data:
            return
        yield data


def _raw(req, limit):
    if (req.content_length or 0) > limit:
        raise faults.TooLarge(f'The body is larger than {limit} bytes.')
    parts, total = [], 0
    for part in chunks(req, 64 * 1024):
        total += len(part)
        if total > limit:
            raise faults.TooLarge(f'The body is larger than {limit} bytes.')
        parts.append(part)
    return b''.join(parts)


def decoded(raw):
    """Return the value of JSON that a database can store. Raise ValueError."""
    return storable.decode(raw, levels=LEVELS)


def parsed(req, limit=JSON_LIMIT_BYTES):
    """Return the JSON value of the body. Raise BadRequest with the reason, or TooLarge."""
    raw = _raw(req, limit)
    try:
        return decoded(raw)
    except ValueError as error:
        raise faults.BadRequest(f'The body is not valid JSON: {error}') from error


def read(req, validator, key=None, *, limit=JSON_LIMIT_BYTES):
    """Return the body checked by `validator`; with `key` only the object under it.

    limit: the most bytes that it may have
    """
    value = parsed(req, limit)
    check(value, validator)
    return value if key is None else value[key]


def check(value, validator):
    """Raise BadRequest that names the place of one of the first faults."""
    if validator.is_valid(value):
        return
    found = itertools.islice(validator.iter_errors(value), COMPARED_ERRORS)
    error = jsonschema.exceptions.best_match(found)
    where = '.'.join(str(part) for part in error.absolute_path) or 'the body'
    raise faults.BadRequest(f'Invalid input for {where}: {error.message[:500]}')
