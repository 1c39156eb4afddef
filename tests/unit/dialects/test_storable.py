"""JSON of clients: what any database can store, and what is refused."""

import json

import testtools

from nova_lite.dialects import storable

LEVELS = 5


def nested(levels):
    return b'[' * levels + b']' * levels


class StorableTest(testtools.TestCase):
    def assert_refused(self, raw, said=''):
        error = self.assertRaises(ValueError, storable.decode, raw, levels=LEVELS)
        self.assertIn(said, str(error))

    def test_values(self):
        for value in (None, 0, -1.5, 'ü\\u0000', ['[' * 9], {'{' * 9: '\ud7ff'}, [{}] * 9):
            raw = json.dumps(value).encode()
            self.assertEqual(value, storable.decode(raw, levels=LEVELS))

    def test_levels(self):
        storable.decode(nested(LEVELS), levels=LEVELS)
        storable.decode(b'{"a": [1], "b": ' + nested(LEVELS - 1) + b'}', levels=LEVELS)
        for raw in (nested(LEVELS + 1), b'{"a": [1], "b": ' + nested(LEVELS) + b'}'):
            self.assert_refused(raw, 'more than 5 levels')
        # What can be parsed depends on the stack.
        for levels in (900, 960, 100_000):
            self.assert_refused(nested(levels), 'more than 5 levels')

    def test_numbers(self):
        self.assert_refused(b'NaN', 'NaN is not JSON')
        self.assert_refused(b'[-Infinity]', '-Infinity is not JSON')
        self.assert_refused(b'{"a": 1e999}', '1e999 is too large')

    def test_texts(self):
        for raw in (b'"\\u0000"', b'{"\\u0000": 1}', b'"\\ud800"', b'"\xed\xa0\x80"', b'{'):
            self.assert_refused(raw)
        self.assert_refused('"a"'.encode('utf-16'))
