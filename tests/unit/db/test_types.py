"""Values in columns, which people may have repaired by hand."""

import testtools

from nova_lite.db import types


class JsonTest(testtools.TestCase):
    def test_what_was_written(self):
        for value in (None, 1, 'a', [1, {'a': 'é'}], {}):
            self.assertEqual(value, types.loads(types.dumps(value)))

    def test_blanks_around(self):
        for text in (' [1]', '[1]\n', '\n[ 1 ] '):
            self.assertEqual([1], types.loads(text))

    def test_more_than_a_value(self):
        for text in ('[1]x', '[1] [2]', '', ' ', '[1'):
            self.assertRaises(ValueError, types.loads, text)
