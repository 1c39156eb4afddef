"""Values that differ in each run are replaced, and no others."""

import testtools

from tests.fixtures import run_values

ONE, TWO = '0f0e0d0c-0b0a-0908-0706-050403020100', 'ffeeddccbbaa99887766554433221100'


class ReplacerTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.replacer = run_values.Replacer(
            {'time': r'T\1\2', 'token': r'\1X'}, lambda number, separator: f'<{number}{separator}>'
        )

    def test_ids(self):
        self.assertEqual('<1-> <2> <1->', self.replacer.replace(f'{ONE} {TWO} {ONE}'))
        self.assertEqual('<2>', self.replacer.replace(TWO))
        # A longer one is none, such as that of a host.
        for other in (2 * TWO, TWO + 'a', 'a' + ONE):
            self.assertEqual(other, self.replacer.replace(other))

    def test_others(self):
        text = '2026-11-27 12:13:14.5Z 2026-11-27T12:13:14 http://h/?token=abc&x=1'
        self.assertEqual('T Z TT http://h/?token=X&x=1', self.replacer.replace(text))
