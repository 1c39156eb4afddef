"""Figures of the documents are images: characters are not aligned in each font and on a phone."""

import re

import testtools

from tests.fixtures import units

# Lines and corners; arrows between words are no figure.
DRAWN = re.compile(r'[\u2500-\u257f╱╲]|--+>|<--+')


class FiguresTest(testtools.TestCase):
    def test_none_is_drawn_in_characters(self):
        pages = [units.ROOT / 'README.rst', *(units.ROOT / 'doc' / 'source').rglob('*.rst')]
        pages = [page for page in pages if '_generated' not in page.parts]
        self.assertGreater(len(pages), 100)
        found = [
            f'{page.name}: {line}'
            for page in pages
            for line in page.read_text().splitlines()
            if DRAWN.search(line)
        ]
        self.assertEqual([], found)
