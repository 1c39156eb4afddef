"""Circles of imports are found, and only they."""

import textwrap

import testtools

from tools import checks
from tools.checks import circles


class TestCircles(testtools.TestCase):
    def found(self, **texts):
        """The problems of modules of the product. texts: by name, 'package__module'"""
        sources = [
            checks.Source(f'nova_lite/{name.replace("__", "/")}.py', textwrap.dedent(text))
            for name, text in texts.items()
        ]
        return [(problem.path, problem.text) for problem in circles.check_all(sources)]

    def test_modules_that_import_each_other(self):
        """Also for types alone, or in a function. Who only imports them is not in the circle."""
        found = self.found(
            a='from nova_lite.b import c',
            b__c='def f():\n    from nova_lite import d',
            d='if TYPE_CHECKING:\n    import nova_lite.a',
            e='from nova_lite import a',
            f='import os',
        )
        texts = [f'a circle of imports: nova_lite.{name}' for name in ('b.c', 'd', 'a')]
        paths = ['nova_lite/a.py', 'nova_lite/b/c.py', 'nova_lite/d.py']
        self.assertEqual(list(zip(paths, texts, strict=True)), found)

    def test_no_circle(self):
        modules = {'a': 'from nova_lite import b, c', 'b': 'from nova_lite import c', 'c': ''}
        self.assertEqual([], self.found(**modules))
        # A package and what it offers; a name that is no module.
        self.assertEqual([], self.found(p____init__='from nova_lite.p.a import A', p__a='import p'))

    def test_imports_only_for_types(self):
        text = 'import typing\nif typing.TYPE_CHECKING:\n    import os'
        wrong = ['import no module only for types']
        self.assertEqual(wrong, self.texts(text, 'nova_lite/moves/parts/x.py'))
        self.assertEqual([], self.texts(text, 'nova_lite/clients/x.py'))
        text = 'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os'
        self.assertEqual(wrong, self.texts(text, 'nova_lite/moves/parts/x.py'))

    def texts(self, text, path):
        return [problem.text for problem in circles.check(checks.Source(path, text))]
