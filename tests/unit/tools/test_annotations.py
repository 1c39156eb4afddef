"""The check of annotations finds functions without types."""

import textwrap

import testtools

from tools import checks
from tools.checks import annotations


def _texts(text, path='nova_lite/x.py'):
    source = checks.Source(path, textwrap.dedent(text))
    return [problem.text for problem in annotations.check(source)]


class TestAnnotations(testtools.TestCase):
    def test_function_without_types(self):
        why = ['f: write its types']
        self.assertEqual(why, _texts('def f(a, *, b: int = 1) -> None: ...'))
        self.assertEqual(why, _texts('def f(a: int, *, b: int = 1): ...'))

    def test_function_with_types(self):
        text = """
            class A:
                def __init__(self, a: int): ...

                def f(self, *args: str, **options: int) -> None: ...
        """
        self.assertEqual([], _texts(text))

    def test_tests_need_no_types(self):
        self.assertEqual([], _texts('def f(a): ...', 'tests/x.py'))

    def test_ignored_type(self):
        """Given a type that is ignored, then its line says why."""
        self.assertEqual(['say why the type is ignored'], _texts('a = b  # type: ignore[misc]'))
        self.assertEqual([], _texts('a = b  # type: ignore[misc]  # untyped'))
