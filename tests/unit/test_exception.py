"""The package has the errors of all its modules, under one name that crosses RPC."""

import importlib
import pkgutil

import testtools

from nova_lite import exception
from nova_lite.rpc import transport


def errors():
    """Return the classes that the modules of the package define."""
    found = set()
    for module in pkgutil.iter_modules(exception.__path__):
        loaded = importlib.import_module(f'nova_lite.exception.{module.name}')
        found.update(each for each in vars(loaded).values() if isinstance(each, type))
    return found


class PackageTest(testtools.TestCase):
    def test_errors_have_the_name_of_the_package(self):
        self.assertIn(exception.MigrationNotFound, errors())
        for error in errors():
            self.assertIn(error.__module__, transport.ERROR_MODULES)
            self.assertIs(error, getattr(exception, error.__name__))

    def test_errors_of_other_modules_have_their_own_name(self):
        class Elsewhere(exception.Conflict):
            pass

        self.assertEqual(__name__, Elsewhere.__module__)
