"""Shortcuts take the place of what is there, and of nothing else."""

import types

import testtools

from tests.sim.world import shortcuts


class ReplaceTest(testtools.TestCase):
    def test_what_a_library_has(self):
        library = types.SimpleNamespace(length=3)
        shortcuts.replace(library, 'length', lambda former: former + 1)
        self.assertEqual(4, library.length)

    def test_what_another_version_no_longer_has(self):
        library = types.SimpleNamespace()
        self.assertRaises(AttributeError, shortcuts.replace, library, 'length', lambda _: 4)
        self.assertFalse(hasattr(library, 'length'))
