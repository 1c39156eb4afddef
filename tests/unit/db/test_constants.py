"""Statements and conditions that are constants of modules."""

import importlib
import pkgutil

import sqlalchemy as sa
from sqlalchemy.sql import visitors
import testtools

from nova_lite import conductor
from nova_lite import db
from nova_lite import verify
from nova_lite.db import api
from nova_lite.db import cell

PACKAGES = (api, cell, conductor, db, verify)


def modules():
    """The modules of all packages that have statements."""
    for package in PACKAGES:
        for found in pkgutil.iter_modules(package.__path__, package.__name__ + '.'):
            if not found.ispkg:
                yield importlib.import_module(found.name)


def expressions(value):
    """The SQL expressions in a constant, which may be a collection of them."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from expressions(each)
    elif isinstance(value, sa.ClauseElement):
        yield value


class ConstantsTest(testtools.TestCase):
    def test_each_parameter_has_a_type(self):
        """Without one a time would be sent as the driver likes, not as columns store it."""
        seen = 0
        for module in modules():
            for name, value in vars(module).items():
                for expression in expressions(value):
                    for element in visitors.iterate(expression):
                        if isinstance(element, sa.BindParameter):
                            seen += 1
                            where = f'{element.key} of {module.__name__}.{name}'
                            self.assertNotIsInstance(element.type, sa.types.NullType, where)
        self.assertGreater(seen, 100)
