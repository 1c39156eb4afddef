"""Pages that list tests name tests that stestr can run."""

import importlib
import inspect
import pathlib
import re
import unittest

import testtools

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ('tests-of-cross-cell-resize.rst',)
# A module of functional tests, perhaps with a class and a method.
FUNCTIONAL = re.compile(r'``(test_\w+)(?:\.(\w+))?(?:\.(\w+))?``')
# A class in a file of other tests.
ELSEWHERE = re.compile(r'``(\w+)``\s+in\s+``(tests/[\w/]+)\.py``')


class TestTableTest(testtools.TestCase):
    def test_named_tests_exist(self):
        for page in PAGES:
            text = (ROOT / 'doc/source/contributor' / page).read_text()
            named = {
                *(
                    (f'tests.functional.{module}', *rest)
                    for module, *rest in FUNCTIONAL.findall(text)
                ),
                *((path.replace('/', '.'), name, '') for name, path in ELSEWHERE.findall(text)),
            }
            self.assertGreater(len(named), 40)
            self.assertEqual([], sorted(each for each in named if not _has_tests(*each)))

    def test_class_without_tests_is_found(self):
        zombies = 'tests.functional.test_saga_zombies'
        self.assertTrue(_has_tests(zombies, 'ZombiesTest', 'test_within_a_cell'))
        self.assertFalse(_has_tests(zombies, 'ZombiesCase', ''))
        self.assertFalse(_has_tests(zombies, 'ZombiesTest', 'test_crossing'))
        self.assertFalse(_has_tests(zombies, 'Zombies', ''))


def _has_tests(module, name, method):
    """Return whether a module has tests. name, method: of a class and of a test, or empty"""
    found = dict(inspect.getmembers(importlib.import_module(module), _is_case))
    classes = [found[name]] if name in found else [] if name else found.values()
    tests = {test for each in classes for test in unittest.defaultTestLoader.getTestCaseNames(each)}
    return method in tests if method else bool(tests)


def _is_case(member):
    return inspect.isclass(member) and issubclass(member, unittest.TestCase)
