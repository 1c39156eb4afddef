"""Schemas and aliases of a tuned placement are those that placement makes at each call."""

import json

import jsonschema
import sqlalchemy as sa
import testtools

from nova_lite.lab.tuned_placement import reused

SCHEMA = {
    'type': 'object',
    'properties': {'a': {'type': 'integer'}, 'b': {'type': 'string', 'format': 'uuid'}},
    'required': ['a'],
    'additionalProperties': False,
}


class CompiledValidationTest(testtools.TestCase):
    """The same verdicts and messages as jsonschema.validate."""

    def verdict(self, validate, instance):
        try:
            validate(instance, SCHEMA, format_checker=jsonschema.FormatChecker())
        except jsonschema.ValidationError as error:
            return str(error)
        return None

    def test_same_as_jsonschema(self):
        compiled = reused.CompiledValidation()
        for instance in (
            {'a': 1},
            {},
            {'a': 'x'},
            {'a': 1, 'c': 2},
            [],
            {'a': 1, 'b': 7},
            {'a': 'x', 'b': 7, 'c': 2},
            None,
        ):
            for _ in range(2):
                self.assertEqual(
                    self.verdict(jsonschema.validate, instance),
                    self.verdict(compiled.validate, instance),
                    json.dumps(instance),
                )


class KnownAliasesTest(testtools.TestCase):
    """The same statements as with SQLAlchemy itself, from aliases that are made once."""

    table = sa.Table('t', sa.MetaData(), sa.Column('id', sa.Integer), sa.Column('of', sa.Integer))

    def statement(self, of):
        """A statement that joins a table with itself, made by a module."""
        child, parent = of.alias(self.table, name='c'), of.alias(self.table, name='p')
        joined = of.join(child, parent, child.c.of == parent.c.id)
        return str(of.select(child.c.id, parent.c.of).select_from(joined))

    def test_same_as_sqlalchemy(self):
        known = reused.KnownAliases()
        for _ in range(2):
            self.assertEqual(self.statement(sa), self.statement(known))

    def test_made_once(self):
        first = reused.KnownAliases().alias(self.table, name='a')
        self.assertIs(first, reused.KnownAliases().alias(self.table, name='a'))
        self.assertIsNot(first, reused.KnownAliases().alias(self.table, name='b'))
