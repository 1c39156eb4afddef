"""tests/README.rst names each layer and each fixture, and nothing else."""

import pathlib
import re

import testtools

TESTS = pathlib.Path(__file__).parents[2]
# The lines of terms: names in double backquotes with commas between them, and nothing else.
TERMS = re.compile(r'^``\S+``(, ``\S+``)*$', re.MULTILINE)
NAME = re.compile(r'``(\S+?)``')
OTHERS = {'__init__', '__pycache__', 'fixtures'}


class MapTest(testtools.TestCase):
    def test_each_layer_and_fixture_is_named_once(self):
        text = (TESTS / 'README.rst').read_text()
        named = [name for line in TERMS.finditer(text) for name in NAME.findall(line[0])]
        present = [path.name for path in TESTS.iterdir() if path.is_dir()]
        present += [path.name.removesuffix('.py') for path in (TESTS / 'fixtures').iterdir()]
        present = [name for name in present if name not in OTHERS]
        self.assertEqual(sorted(present), sorted(named))
