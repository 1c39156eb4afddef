"""Shortcuts take the place of what is there, and of nothing else."""

import types

import prometheus_client
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


class MetricsTest(testtools.TestCase):
    def test_values_without_locks(self):
        original = prometheus_client.values.MutexValue.inc
        counted = [prometheus_client.values.MutexValue('', '', '', (), (), '') for _ in range(2)]
        for add, value in zip((original, shortcuts._add), counted, strict=True):
            add(value, 2)
            add(value, 0.5)
        self.assertEqual([2.5, 2.5], [value.get() for value in counted])
