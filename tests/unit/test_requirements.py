"""Imports of the package equal its declared requirements."""

import ast
import configparser
from importlib import metadata
import pathlib
import re
import sys

from packaging import requirements
from packaging import version
import testtools

from tests.unit.private_apis import test_private_apis

TOP = pathlib.Path(__file__).parents[2]
REQUIREMENTS = ('requirements.txt', 'test-requirements.txt')
# Neutron's environment has it; no daemon of ours needs it.
OF_NEUTRON = 'neutron_lib'
# Programs that the interpreter of Horizon's environment runs.
OF_HORIZON = TOP / 'nova_lite' / 'lab' / 'launcher' / 'horizon' / 'inside'
PYTHONS = ('3.11', '3.12', '3.13')


def _imported():
    for path in (TOP / 'nova_lite').rglob('*.py'):
        if path.parent == OF_HORIZON:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition('.')[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.partition('.')[0]


def _canonical(name):
    return re.sub('[-_.]+', '-', name).lower()


def _read(name):
    for line in (TOP / name).read_text().splitlines():
        requirement = line.partition('#')[0].strip()
        if requirement:
            yield requirements.Requirement(requirement)


def _extra(name):
    """Return the packages of an optional feature."""
    described = configparser.ConfigParser()
    described.read(TOP / 'setup.cfg')
    lines = described['extras'][name].split('\n')
    return {
        _canonical(requirements.Requirement(line.partition('#')[0].strip()).name)
        for line in lines
        if line
    }


def _pins(name, python):
    """Return {package: its versions} of a constraints file on one version of Python."""
    pins = {}
    where = {'python_version': python, 'python_full_version': f'{python}.0'}
    for pin in _read(name):
        if pin.marker is None or pin.marker.evaluate(where):
            exact = [each.version for each in pin.specifier if each.operator == '==']
            pins.setdefault(_canonical(pin.name), []).extend(exact)
    return pins


class TestRequirements(testtools.TestCase):
    def test_every_import_is_declared(self):
        providers = metadata.packages_distributions()
        declared = {_canonical(each.name) for each in _read('requirements.txt')} | _extra('testing')
        foreign = set(_imported()) - set(sys.stdlib_module_names) - {'nova_lite', OF_NEUTRON}
        unknown = {
            name
            for name in foreign
            if declared.isdisjoint(map(_canonical, providers.get(name, ())))
        }
        self.assertEqual(set(), unknown)

    def test_every_requirement_has_a_lower_bound(self):
        for name in REQUIREMENTS:
            for each in _read(name):
                self.assertEqual(['>='], [part.operator for part in each.specifier], each)


class TestConstraints(testtools.TestCase):
    """`tox -e constraints` writes the files."""

    def test_every_requirement_is_pinned_within_its_bound(self):
        for python in PYTHONS:
            pins = _pins('constraints.txt', python)
            for each in _required():
                [pin] = pins[_canonical(each.name)]
                self.assertTrue(each.specifier.contains(pin), (python, str(each), pin))

    def test_every_requirement_is_pinned_at_its_bound_for_tox_lowest(self):
        for python in PYTHONS:
            pins = _pins('lowest-constraints.txt', python)
            for each in _required():
                [bound], [pin] = each.specifier, pins[_canonical(each.name)]
                self.assertEqual(version.parse(bound.version), version.parse(pin), str(each))

    def test_private_apis_name_these_versions(self):
        bounds = {_canonical(each.name): str(each.specifier) for each in _required()}
        pins = _pins('constraints.txt', '3.11')
        for library in test_private_apis.libraries():
            name = _canonical(library.name)
            self.assertEqual(f'>={library.lowest}', bounds[name])
            self.assertEqual([library.newest], pins[name])

    def test_commands_that_install_use_the_pins(self):
        found = [
            line for line in _commands() if re.search(r'pip"? install .*(\. |\.$|-e \.)', line)
        ]
        self.assertLess(3, len(found))
        self.assertEqual([], [line for line in found if '-c constraints.txt' not in line])


def _commands():
    pages = (TOP / 'doc' / 'source').rglob('*')
    for path in (TOP / 'README.rst', TOP / 'CONTRIBUTING.rst', TOP / 'tools' / 'test.sh', *pages):
        if path.suffix in ('.rst', '.sh'):
            yield from path.read_text().splitlines()


def _required():
    return [each for name in REQUIREMENTS for each in _read(name)]
