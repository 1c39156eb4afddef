"""Each how-to ends with the tests that run it."""

import pathlib
import re

import testtools

ROOT = pathlib.Path(__file__).parents[2]
# It compares tools, and has nothing to run.
COMPARISON = 'which-tool.rst'
HEADING = re.compile(r'^(.+)\n=+$', re.MULTILINE)
FILE = re.compile(r'``(tests/[\w/.]+)``')


class HowtosTest(testtools.TestCase):
    def test_the_last_section_names_tests(self):
        pages = {*(ROOT / 'doc/source/howto').glob('*.rst')}
        pages -= {page for page in pages if page.name in ('index.rst', COMPARISON)}
        self.assertGreater(len(pages), 10)
        for page in pages:
            text = page.read_text()
            last = [*HEADING.finditer(text)][-1]
            self.assertEqual('Tests', last[1], page.name)
            named = FILE.findall(text, last.end())
            self.assertNotEqual([], named, page.name)
            self.assertEqual([], [each for each in named if not (ROOT / each).exists()], page.name)
