"""What the package imports is what it declares."""

import ast
from importlib import metadata
import pathlib
import re
import sys

import testtools

TOP = pathlib.Path(__file__).parents[2]


def _imported():
    for path in (TOP / 'nova_lite').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition('.')[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.partition('.')[0]


def _canonical(name):
    return re.sub('[-_.]+', '-', name).lower()


def _declared():
    for line in (TOP / 'requirements.txt').read_text().splitlines():
        requirement = line.partition('#')[0].strip()
        if requirement:
            yield _canonical(re.match(r'[\w.-]+', requirement)[0])


class TestRequirements(testtools.TestCase):
    def test_every_import_is_declared(self):
        providers = metadata.packages_distributions()
        declared = set(_declared())
        foreign = set(_imported()) - set(sys.stdlib_module_names) - {'nova_lite'}
        unknown = {
            name
            for name in foreign
            if declared.isdisjoint(map(_canonical, providers.get(name, ())))
        }
        self.assertEqual(set(), unknown)

    def test_every_requirement_has_a_lower_bound(self):
        for name in ('requirements.txt', 'test-requirements.txt'):
            for line in (TOP / name).read_text().splitlines():
                requirement = line.partition('#')[0].strip()
                if requirement:
                    self.assertIn('>=', requirement, name)
