"""Numbers with a noun."""

import testtools

from nova_lite.terminal import plurals


class PluralsTest(testtools.TestCase):
    def test_of(self):
        found = [plurals.of(count, 'cell') for count in (0, 1, 2)]
        self.assertEqual(['0 cells', '1 cell', '2 cells'], found)
