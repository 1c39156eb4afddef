"""Numbers and booleans that clients send as text, or as 24.0: Neutron converts them."""

import re

NUMBER = re.compile(r'-?[0-9]{1,10}')
# What stands for a boolean, besides itself.
BOOLEANS = {'true': True, '1': True, 'false': False, '0': False}


def converted(value, schema):
    """Return a value whose parts are of the types that the schema wants.

    What cannot be converted stays as it is, for the validator to refuse.
    """
    for option in schema.get('anyOf', ()):
        value = converted(value, option)
    convert = _BY_TYPE.get(str(schema.get('type')))
    return convert(value, schema) if convert else value


def _object(value, schema):
    if not isinstance(value, dict):
        return value
    known = schema.get('properties', {})
    return {name: converted(item, known.get(name, {})) for name, item in value.items()}


def _array(value, schema):
    if not isinstance(value, list):
        return value
    return [converted(item, schema.get('items', {})) for item in value]


def _integer(value, _schema):
    is_text = isinstance(value, str) and NUMBER.fullmatch(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_text or is_whole else value


def _boolean(value, _schema):
    return BOOLEANS.get(str(value).lower(), value) if isinstance(value, str | int) else value


_BY_TYPE = {'object': _object, 'array': _array, 'integer': _integer, 'boolean': _boolean}
