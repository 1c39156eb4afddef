"""The fields of a request schema in words, and a sample of what it accepts.

For the documentation. Fields of fields are named with dots, those of the items of a list
with [].
"""

from collections.abc import Callable
import dataclasses
import re
import typing

from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts

# {field: (its values in words, whether it is required)}
Described: typing.TypeAlias = dict[str, tuple[str, bool]]
Schema: typing.TypeAlias = schemas.Source

UUID = 'd7a0f0a1-5f3e-4a39-9f8a-2d3d1c6d2f11'
# Of each format, the words for it and a sample.
FORMATS = {
    'uuid': ('UUID', UUID),
    'ipv4': ('IPv4 address', '192.0.2.1'),
    'ipv6': ('IPv6 address', '2001:db8::1'),
    'ip': ('IP address', '192.0.2.1'),
    'base64': ('text in base64', 'eA=='),
    'date-time': ('time in ISO 8601', '2026-01-01T00:00:00Z'),
    'name': ('printable text without blanks at its ends', 'name'),
    'printable': ('printable text', 'text'),
    'image_ref': ('UUID of an image, or an empty text', UUID),
    'name_to_strip': ('printable text', 'name'),
    'regex': ('regular expression', 'a.*'),
}
# It bounds a number that is written as a text.
NUMBER = 'int32'
_WORDS = {
    'string': 'text',
    'integer': 'integer',
    'number': 'number',
    'boolean': 'boolean',
    'null': 'null',
    'array': 'list',
    'object': 'object',
}
# What reads better than what its schema alone would give.
_NAMED = {
    'name': 'web-1',
    'flavorRef': '1',
    'networks': 'auto',
    'host': 'cell1-host1',
    'public_key': 'ssh-ed25519 AAAA…',
    'locked_reason': 'maintenance',
}
_SAMPLES: dict[str, typing.Any] = {
    'integer': 1,
    'number': 1,
    'boolean': True,
    'null': None,
    'array': [],
    'object': {},
}
# Shorter than the many spellings of a boolean.
_BOOLEANS = {
    'boolean': schema_parts.BOOLEAN['enum'],
    'boolean, or "auto"': schema_parts.BOOLEAN_OR_AUTO['enum'],
}


@dataclasses.dataclass(frozen=True)
class Field:
    """A field at some microversions. last: None for the newest one."""

    name: str
    words: str
    required: bool
    first: microversion.Version
    last: microversion.Version | None


def fields(
    versions: operation.Versions[schemas.Schema],
    since: microversion.Version,
    until: microversion.Version,
) -> list[Field]:
    """Return the Fields of the bodies of an operation by name and microversion.

    versions: operation.Versions; since, until: those that the operation exists at
    A field whose values change is one Field before the change and another one after it.
    """
    return _history(versions, since, until, lambda schema: _walk(schema, '', {}))


def parameters(
    versions: operation.Versions[schemas.Query],
    since: microversion.Version,
    until: microversion.Version,
) -> list[Field]:
    """Return the Fields of the query strings of an operation; see `fields`."""
    return _history(versions, since, until, _parameters)


def _parameters(schema: Schema) -> Described:
    """Return {name: (words, False)}: each parameter is a text, which may be repeated."""
    return {
        name: ('refused' if inner.get('maxItems') == 0 else words(inner['items']), False)
        for name, inner in schema.get('properties', {}).items()
    }


def _history(
    versions: operation.Versions[typing.Any],
    since: microversion.Version,
    until: microversion.Version,
    look: Callable[[Schema], Described],
) -> list[Field]:
    firsts = sorted({since, *(first for first in versions.firsts() if since < first <= until)})
    begun: dict[str, tuple[tuple[str, bool], microversion.Version]] = {}
    found: list[Field] = []
    for first in firsts:
        compiled = versions.at(first)
        now = {} if compiled is None else look(compiled.source)
        for name, (described, start) in list(begun.items()):
            if now.get(name) != described:
                last = microversion.Version(first.major, first.minor - 1)
                found.append(Field(name, described[0], described[1], start, last))
                del begun[name]
        for name, described in now.items():
            begun.setdefault(name, (described, first))
    newest = None if until == microversion.MAXIMUM else until
    found += [
        Field(name, described[0], described[1], start, newest)
        for name, (described, start) in begun.items()
    ]
    return sorted(found, key=lambda field: (field.name, field.first))


def _walk(schema: Schema, prefix: str, found: Described) -> Described:
    """Return {name: (words, whether it is required)} of all fields below a schema."""
    for name, inner in schema.get('properties', {}).items():
        found[prefix + name] = words(inner), name in schema.get('required', ())
        _walk(inner, f'{prefix}{name}.', found)
    if schema.get('items'):
        _walk(schema['items'], f'{prefix.removesuffix(".")}[].', found)
    for inner in schema.get('oneOf', ()):
        _walk(inner, prefix, found)
    return found


def words(schema: Schema) -> str:
    """Return what a schema accepts, in words."""
    if 'oneOf' in schema:
        return ', or '.join(words(each) for each in schema['oneOf'])
    if 'enum' in schema:
        return _words_of_enum(schema['enum'])
    if 'format' in schema and schema['format'] != NUMBER:
        found = FORMATS[schema['format']][0]
        found += ' or integer' if 'integer' in schema.get('type', ()) else ''
        return found + _bounds(schema, 'minLength', 'maxLength', 'characters')
    kinds = schema.get('type', list(_WORDS))
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if set(kinds) == set(_WORDS):
        return 'anything'
    if kinds == ['array'] and schema.get('items'):
        return f'list of {words(schema["items"])}' + _bounds(
            schema, 'minItems', 'maxItems', 'items'
        )
    found = ' or '.join(_WORDS[kind] for kind in kinds)
    if 'integer' in kinds or 'number' in kinds:
        return found + _bounds(schema, 'minimum', 'maximum', '')
    return found + _bounds(schema, 'minLength', 'maxLength', 'characters')


def _words_of_enum(values: list[object]) -> str:
    for found, spellings in _BOOLEANS.items():
        if values == spellings:
            return found
    return ', '.join(f'``{value}``' for value in values)


def _bounds(schema: Schema, least: str, most: str, unit: str) -> str:
    low, high = schema.get(least), schema.get(most)
    if low is None and high is None:
        return ''
    if high is None:
        return ', not empty' if low == 1 and unit else f', at least {low} {unit}'.rstrip()
    text = f'at most {high}' if low is None else f'{low} to {high}'
    return f', {text} {unit}'.rstrip()


def sample(schema: Schema) -> typing.Any:
    """Return a short value that the schema accepts."""
    if 'oneOf' in schema:
        return sample(schema['oneOf'][0])
    if 'enum' in schema:
        return schema['enum'][0]
    if 'format' in schema and schema['format'] != NUMBER:
        return FORMATS[schema['format']][1]
    kind = schema.get('type', 'null')
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == 'object':
        return _sample_object(schema)
    if kind == 'array':
        return _sample_list(schema)
    if kind == 'string':
        return 'text' if schema.get('pattern') is None else _sample_text(schema)
    return max(_SAMPLES[kind], schema['minimum']) if 'minimum' in schema else _SAMPLES[kind]


def _sample_object(schema: Schema) -> dict[str, typing.Any]:
    names = list(schema.get('required', ()))
    known = schema.get('properties', {})
    if not names and known and (schema.get('minProperties') or len(known) == 1):
        names = [next(iter(known))]
    found = {name: _sample_of(name, known[name]) for name in names}
    patterns = list(schema.get('patternProperties', {}).values())
    return found or ({'key': sample(patterns[0])} if patterns else {})


def _sample_of(name: str, schema: Schema) -> typing.Any:
    return sample(schema) if 'enum' in schema else _NAMED.get(name) or sample(schema)


def _sample_list(schema: Schema) -> list[typing.Any]:
    inner = schema.get('prefixItems') or ([schema['items']] if schema.get('items') else [])
    return [sample(each) for each in inner]


def _sample_text(schema: Schema) -> str:
    for text in ('text', '1', '/dev/vdb', '/24', 'tcp'):
        if re.search(schema['pattern'], text):
            return text
    raise ValueError(f'no sample fits {schema["pattern"]}')
