"""Compiled JSON schemas, and the messages about values that they refuse.

A schema is compiled once, when its operation is declared; a unit test checks all that
are declared against JSON schema's own, which takes seconds. The v2.0 URLs are served
with a second form that drops unknown keys instead of refusing them, and blanks around names.
"""

from collections.abc import Iterator
import copy
import re
import typing

import jsonschema
from jsonschema import validators

from nova_lite import exception
from nova_lite.api import formats

SHOWN = 400
FORMATS = {
    'name': 'It must be printable, not empty, and have no blanks at either end.',
    'printable': 'It must have printable characters only.',
    'int32': 'It is out of range.',
    'name_to_strip': 'It must be printable and not empty.',
    'ip': 'It is neither an IPv4 nor an IPv6 address.',
    'image_ref': 'It is not the UUID of an image.',
}

# Key of a property's schema: how v2.0 treats a value that v2.1 refuses. It drops blanks at
# the ends of a text, or a null.
V2 = 'v2'
STRIP, OMIT_NULL = 'strip', 'omit null'
LONGEST_NAME = 255

# A JSON schema as its operation writes it.
Source: typing.TypeAlias = dict[str, typing.Any]
# Query parameters: {name: [value, ...]}
Params: typing.TypeAlias = dict[str, list[str]]

_Strict = jsonschema.Draft202012Validator


class InvalidInput(exception.Invalid):
    """A body or query that breaks its schema."""

    msg = '%(reason)s'


def _drop_unknown(
    validator: typing.Any, allowed: object, instance: typing.Any, schema: Source
) -> Iterator[jsonschema.ValidationError]:
    """Yield `additionalProperties` that removes unknown properties."""
    if allowed is not False or not validator.is_type(instance, 'object'):
        yield from _Strict.VALIDATORS['additionalProperties'](validator, allowed, instance, schema)
        return
    known, patterns = schema.get('properties', ()), schema.get('patternProperties', ())
    for key in list(instance):
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            del instance[key]


def _adapt(
    validator: typing.Any, properties: Source, instance: typing.Any, schema: Source
) -> Iterator[jsonschema.ValidationError]:
    """Yield `properties` that first changes values as their `V2` says."""
    if validator.is_type(instance, 'object'):
        for name, part in properties.items():
            value = instance.get(name)
            if part.get(V2) == STRIP and isinstance(value, str) and len(value) <= LONGEST_NAME:
                instance[name] = value.strip()
            elif part.get(V2) == OMIT_NULL and name in instance and value is None:
                del instance[name]
    yield from _Strict.VALIDATORS['properties'](validator, properties, instance, schema)


_Relaxed = validators.extend(_Strict, {'additionalProperties': _drop_unknown, 'properties': _adapt})


class Schema:
    """One compiled schema.

    place: what messages call the thing that is checked
    """

    def __init__(self, schema: Source, place: str = 'field/attribute') -> None:
        self.source = schema
        self._place = place
        self._strict = _Strict(schema, format_checker=formats.CHECKER)
        self._relaxed = _Relaxed(schema, format_checker=formats.CHECKER)

    def check(self, value: typing.Any, relaxed: bool = False) -> None:
        """Raise InvalidInput when `value` breaks the schema.

        relaxed: drop from `value` what v2.0 ignores, instead of refusing it
        """
        validator = self._relaxed if relaxed else self._strict
        try:
            error = next(validator.iter_errors(value), None)
        except RecursionError:
            raise InvalidInput(reason='The request is nested too deeply.') from None
        if error is not None:
            raise InvalidInput(reason=self._tell(error))

    def _tell(self, error: jsonschema.ValidationError) -> str:
        message = _cut(error.message)
        if error.validator == 'format':
            message = FORMATS.get(error.validator_value, message)
        names = [part for part in error.absolute_path if isinstance(part, str)]
        if not names:
            is_missing = error.validator == 'type' and error.instance is None
            return f'The request has no body. {message}' if is_missing else message
        return (
            f'Invalid input for {self._place} {names[-1]}. '
            f'Value: {_cut(str(error.instance))}. {message}'
        )


class Query(Schema):
    """A schema for query strings: {name: [value, ...]}.

    `additionalProperties` true means unknown names are dropped.
    """

    def __init__(self, schema: Source) -> None:
        super().__init__(schema, place='query parameters')
        self._names = frozenset(schema.get('properties', ()))
        self._patterns = bool(schema.get('patternProperties'))
        self._drops = schema.get('additionalProperties', True) is True

    def take(self, params: Params) -> Params:
        """Return the parameters that count, checked. Raise InvalidInput."""
        if not params:
            return params
        self.check(params)
        if self._drops and not self._patterns:
            return {name: values for name, values in params.items() if name in self._names}
        return params


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + '...'


def extended(base: Source, **properties: Source | None) -> Source:
    """Return a copy of an object schema with more properties (None removes one)."""
    result = copy.deepcopy(base)
    for name, schema in properties.items():
        if schema is None:
            result['properties'].pop(name, None)
        else:
            result['properties'][name] = schema
    return result
