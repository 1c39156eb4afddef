"""Messages about documents that violate the schema, without words of JSON Schema."""

from collections.abc import Mapping
import math
import typing

import jsonschema

from nova_lite.lab.console import arguments
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import schema as schemas


def _is_number(_checker: object, value: typing.Any) -> bool:
    """Return whether a value is a number. YAML also has .nan and .inf."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


CHECKER = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine('number', _is_number)
VALIDATOR = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=CHECKER)(
    schemas.SCHEMA
)
HELP = '`nova-lite up --print-schema` prints what a file may have.'
KINDS = {
    'string': 'a text',
    'integer': 'a whole number',
    'number': 'a number',
    'boolean': 'true or false',
    'array': 'a list',
    'object': 'a mapping',
}
LONGEST_SHOWN = 60


def require(document: documents.Document) -> None:
    """Raise Wrong for the first line that violates the schema."""
    errors = [*VALIDATOR.iter_errors(document.value)]
    if errors:
        error = min(errors, key=lambda each: document.line(_place(each)))
        raise document.wrong(_place(error), f'{_reason(error)} {HELP}')


def _place(error: jsonschema.ValidationError) -> documents.Place:
    place = tuple(error.absolute_path)
    if error.validator == 'additionalProperties' and isinstance(error.validator_value, bool):
        return (*place, _unknown(error))
    return place


def _unknown(error: jsonschema.ValidationError) -> str:
    """Return the first key of a mapping that its schema does not know."""
    schema = typing.cast(Mapping[str, typing.Any], error.schema)
    known = schema.get('properties', {})
    return next(str(key) for key in error.instance if key not in known)


def _reason(error: jsonschema.ValidationError) -> str:
    value = error.validator_value
    schema = typing.cast(Mapping[str, typing.Any], error.schema)
    if error.validator == 'additionalProperties':
        known, name = [*schema['properties']], _unknown(error)
        return f'there is no such key.{arguments.like(name, known)} Use one of: {", ".join(known)}.'
    if error.validator == 'required':
        missing = next(name for name in value if name not in error.instance)
        return f'it lacks {missing}.'
    if error.validator == 'type':
        kinds = [value] if isinstance(value, str) else value
        wanted = ' or '.join(KINDS[kind] for kind in kinds)
        return f'{_shown(error.instance)} is not {wanted}.'
    if error.validator in ('enum', 'const'):
        known = [str(each) for each in (value if error.validator == 'enum' else [value])]
        proposed = arguments.like(str(error.instance), known)
        return (
            f'{_shown(error.instance)} is not possible.{proposed} Use one of: {", ".join(known)}.'
        )
    return _of_size(error, value)


def _of_size(error: jsonschema.ValidationError, value: typing.Any) -> str:
    """Return the reason of an error about a number, a text, a list or a mapping."""
    texts = {
        'minimum': f'must be {value} or more',
        'maximum': f'must be {value} or less',
        'exclusiveMinimum': f'must be more than {value}',
        'minLength': 'must not be empty',
        'minItems': 'must not be empty',
        'minProperties': 'must not be empty',
        'maxLength': f'must have at most {value} characters',
        'maxItems': f'must have at most {value} entries',
    }
    text = texts.get(str(error.validator), f'does not fit: {error.message}')
    return f'{_shown(error.instance)} {text}.'


def _shown(value: typing.Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f'{text[:LONGEST_SHOWN]}...'
