"""Conversion of numbers and booleans that clients send as text, or as 24.0, as in Neutron."""

from collections.abc import Callable
import re
import typing

from nova_lite.simcloud import bodies

NUMBER = re.compile(r'-?[0-9]{1,10}')
# Texts and numbers that Neutron accepts for a boolean.
BOOLEANS = {'true': True, '1': True, 'false': False, '0': False}


def converted(value: typing.Any, schema: bodies.Schema) -> typing.Any:
    """Return `value` with its parts converted to the types of the schema.

    Parts that cannot be converted are returned unchanged. The validator will refuse them.
    """
    for option in schema.get('anyOf', ()):
        value = converted(value, option)
    convert = _BY_TYPE.get(str(schema.get('type')))
    return convert(value, schema) if convert else value


def _object(value: typing.Any, schema: bodies.Schema) -> typing.Any:
    if not isinstance(value, dict):
        return value
    known = schema.get('properties', {})
    return {name: converted(item, known.get(name, {})) for name, item in value.items()}


def _array(value: typing.Any, schema: bodies.Schema) -> typing.Any:
    if not isinstance(value, list):
        return value
    return [converted(item, schema.get('items', {})) for item in value]


def _integer(value: typing.Any, _schema: bodies.Schema) -> typing.Any:
    is_text = isinstance(value, str) and NUMBER.fullmatch(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_text or is_whole else value


def _boolean(value: typing.Any, _schema: bodies.Schema) -> typing.Any:
    return BOOLEANS.get(str(value).lower(), value) if isinstance(value, str | int) else value


_BY_TYPE: dict[str, Callable[[typing.Any, bodies.Schema], typing.Any]] = {
    'object': _object,
    'array': _array,
    'integer': _integer,
    'boolean': _boolean,
}
