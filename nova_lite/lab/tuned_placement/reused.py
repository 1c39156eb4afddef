"""JSON schemas and aliases of tables that placement makes again at each call."""

import functools
import typing

import jsonschema
import sqlalchemy


class CompiledValidation:
    """The part of jsonschema that placement uses, with compiled schemas.

    `jsonschema.validate` checks the schema itself at every call, which is a
    third of the time of a claim. Placement's schemas are module constants.
    """

    ValidationError = jsonschema.ValidationError
    FormatChecker = jsonschema.FormatChecker

    def __init__(self) -> None:
        # id -> (schema, validator); holds the schema, so ids stay unique
        self.validators: dict[int, tuple[typing.Any, typing.Any]] = {}

    def validate(
        self, instance: typing.Any, schema: typing.Any, format_checker: typing.Any = None
    ) -> None:
        """Raise the ValidationError that `jsonschema.validate` would raise."""
        known = self.validators.get(id(schema))
        if known is None:
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema, format_checker=format_checker)
            known = self.validators[id(schema)] = (schema, validator)
        error = jsonschema.exceptions.best_match(known[1].iter_errors(instance))
        if error is not None:
            raise error


class KnownAliases:
    """The part of SQLAlchemy that placement uses, with cached aliases of tables.

    Placement makes aliases at every call, and the copies of the columns of tables take a fifth of
    the time of a request. An alias does not change once it has its columns.
    """

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(sqlalchemy, name)

    @staticmethod
    @functools.cache
    def alias(table: typing.Any, name: str) -> typing.Any:
        made = sqlalchemy.alias(table, name=name)
        # Makes the columns now, before other threads share the alias.
        made.c.keys()
        return made
