"""Pages that say which test does what name tests that there are."""

import ast
import pathlib
import re

import testtools

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ('tests-of-cross-cell-resize.rst',)
NAMED = re.compile(r'``(test_\w+)\.(\w+)(?:\.(test_\w+))?``')


class TestTableTest(testtools.TestCase):
    def test_named_tests_exist(self):
        for page in PAGES:
            text = (ROOT / 'doc/source/contributor' / page).read_text()
            named = NAMED.findall(text)
            self.assertNotEqual([], named)
            missing = [each for each in named if each[1:] not in self.defined(each[0])]
            self.assertEqual([], missing)

    def defined(self, module):
        """{(class, test or ''), ...} of a module of functional tests."""
        tree = ast.parse((ROOT / 'tests/functional' / f'{module}.py').read_text())
        found = set()
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found.add((node.name, ''))
                found.update(
                    (node.name, part.name)
                    for part in node.body
                    if isinstance(part, ast.FunctionDef)
                )
        return found
