"""Libraries have what nova_lite uses of them, and are refused by name where they lack it."""

import importlib
from importlib import metadata
import pkgutil
import types

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
