"""Libraries have what nova_lite uses of them, and are refused by name where they lack it."""

import importlib
from importlib import metadata
import pkgutil
import types

import fixtures
from packaging import version
import testtools

from nova_lite import private_apis
from nova_lite.lab import private_apis as of_lab
from nova_lite.private_apis import guard


def libraries():
    """Return the guard.Library of each module of both packages."""
    modules = [
        importlib.import_module(f'{package.__name__}.{each.name}')
        for package in (private_apis, of_lab)
        for each in pkgutil.iter_modules(package.__path__)
    ]
    return [module.LIBRARY for module in modules if module is not guard]


class LibrariesTest(testtools.TestCase):
    def test_installed_libraries_have_what_is_used(self):
        self.assertLessEqual(
            {'kombu', 'openstack-placement', 'oslo.messaging'},
            {library.name for library in libraries()},
        )

    def test_the_installed_version_is_among_them(self):
        for library in libraries():
            installed = version.parse(metadata.version(library.name))
            self.assertLessEqual(version.parse(library.lowest), installed, library.name)
            self.assertLessEqual(installed, version.parse(library.newest), library.name)


class Base:
    def __init__(self):
        self._kept = None


class Thing(Base):
    def _method(self, one, two=None):
        return one, two, self._kept


class UsedTest(testtools.TestCase):
    """Use of undocumented names, and the line of the log without."""

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(guard.LOG.logger.name))

    def library(self, newest='99'):
        return guard.Library('kombu', lowest='1.0', newest=newest)

    def assert_not_used(self, library, why):
        for _each in range(2):
            self.assertFalse(library.is_used)
        self.assertEqual(1, len(self.log.output.splitlines()), self.log.output)
        self.assertIn('kombu is used by its documented names alone: ', self.log.output)
        self.assertIn(why, self.log.output)

    def test_a_tested_version(self):
        self.assertTrue(self.library().is_used)
        self.assertEqual('', self.log.output)

    def test_a_version_that_was_not_tested(self):
        self.assert_not_used(self.library('2.0'), 'is installed, and 1.0 to 2.0 were tested')

    def test_a_version_without_a_name(self):
        library = self.library()
        with library.declared():
            library.has(Thing, '_other')
        self.assert_not_used(library, 'has no Thing._other')

    def test_names_that_are_turned_off(self):
        for value in ('all', 'cheroot,kombu'):
            self.useFixture(fixtures.EnvironmentVariable(guard.VARIABLE, value))
            self.assertFalse(self.library().is_used)
        self.useFixture(fixtures.EnvironmentVariable(guard.VARIABLE, 'cheroot'))
        self.assertTrue(self.library().is_used)


class GuardTest(testtools.TestCase):
    library = guard.Library('kombu', lowest='1.0', newest='2.0')

    def _refused(self, call, *args):
        return str(self.assertRaises(guard.Unsupported, call, *args))

    def test_what_is_there(self):
        self.assertIs(types, self.library.module('types'))
        self.library.has(Thing, '_method')
        self.library.takes(Thing, '_method', 'one', 'two')
        self.library.keeps(Thing, '_kept')
        self.library.uses(Thing, '_method', '_kept')

    def test_error_names_versions(self):
        text = self._refused(self.library.has, Thing, '_method', '_other')
        installed = metadata.version('kombu')
        for part in (f'kombu {installed} has no Thing._other', 'tested with kombu 1.0 to 2.0'):
            self.assertIn(part, text)

    def test_what_is_missing(self):
        self.assertIn('no types.none,', self._refused(self.library.module, 'types.none'))
        self.assertIn('_other', self._refused(self.library.takes, Thing, '_other', 'one'))
        self.assertIn(
            'Thing._method(three=)', self._refused(self.library.takes, Thing, '_method', 'three')
        )
        self.assertIn('Thing()._lost', self._refused(self.library.keeps, Thing, '_lost'))
        self.assertIn('_other', self._refused(self.library.uses, Thing, '_other', '_kept'))
        self.assertIn(
            '_lost in Thing._method()', self._refused(self.library.uses, Thing, '_method', '_lost')
        )
