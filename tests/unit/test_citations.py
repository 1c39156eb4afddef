"""Documents cited in docstrings are in the documentation."""

import pathlib
import pkgutil
import re
import types

import testtools

TOP = pathlib.Path(__file__).parents[2]
DOCS = TOP / 'doc' / 'source'
# As 'reference/nova/moves 3.1 and 5': a page, and sections of it.
CITED = re.compile(r'reference/nova/([a-z]+(?:-[a-z]+)*)((?:(?:,| and| to)? \d+(?:\.\d+)?)*)')
OWN = re.compile(r'Source: (contributor/[a-z-]+), (\w+)')
SECTION = re.compile(r'\d+(?:\.\d+)?')
# What names of files are relative to: the pages say so.
TOPS = (TOP, TOP / 'nova_lite', TOP / 'tests' / 'sim')
NAMED = re.compile(r'``((?:[a-z_]+/)+[a-z_]+\.py)``')
# As '``NAME`` in ``module.py``' and '``module.py`` (``NAME``, ``NAME``)'.
WITHIN = re.compile(r'``([\w.]+)`` in ``([a-z_/]+\.py)``')
LISTED = re.compile(r'``([a-z_/]+\.py)`` \(((?:``[\w.]+``(?:, )?)+)\)')
# Names as Python imports them, and the pages that consist of them: at least so many in each.
DOTTED = re.compile(r'``((?:nova_lite|tools)(?:\.\w+)+)``')
CROSS_CELL = 'life-of-a-cross-cell-resize'
NAMING = {'glossary': 50, 'map-from-nova': 60, CROSS_CELL: 15}
# The most modules that a reader opens to follow one failure.
TO_FOLLOW = 4
# Notes that are not in the repository.
ABSENT = re.compile(r'\bexemplars\b|\bdesign \d')


def texts():
    """{path: text with single spaces} of all modules but this one."""
    paths = (path for top in ('nova_lite', 'tests', 'tools') for path in (TOP / top).rglob('*.py'))
    own = pathlib.Path(__file__).resolve()
    return {path: ' '.join(path.read_text().split()) for path in paths if path.resolve() != own}


class TestCitations(testtools.TestCase):
    def test_sections_of_nova(self):
        found = set()
        for path, text in texts().items():
            for page, sections in CITED.findall(text):
                found.add(page)
                file = DOCS / 'reference' / 'nova' / f'{page}.rst'
                self.assertTrue(file.exists(), f'{path} cites {page}')
                labels = file.read_text()
                for section in SECTION.findall(sections):
                    self.assertIn(f'.. _{page}-{section}:\n', labels, path)
        self.assertEqual(
            {path.stem for path in (DOCS / 'reference' / 'nova').glob('*.rst')} - {'index'}, found
        )

    def test_modules_that_pages_for_contributors_name(self):
        pages = (DOCS / 'contributor').rglob('*.rst')
        found = {(page.name, name) for page in pages for name in NAMED.findall(page.read_text())}
        missing = {
            (page, name) for page, name in found if not any((top / name).exists() for top in TOPS)
        }
        self.assertEqual(set(), missing)
        self.assertGreater(len(found), 50)

    def test_names_that_modules_have(self):
        found = set()
        for page in (DOCS / 'contributor').rglob('*.rst'):
            text = ' '.join(page.read_text().split())
            found |= {(module, name) for name, module in WITHIN.findall(text)}
            for module, names in LISTED.findall(text):
                found |= {(module, name.strip('`')) for name in names.split(', ')}
        self.assertGreater(len(found), 10)
        missing = {each for each in found if not self.has_name(*each)}
        self.assertEqual(set(), missing)

    def has_name(self, module, name):
        (path,) = [top / module for top in TOPS if (top / module).exists()]
        return re.search(rf'\b{name.rpartition(".")[2]}\b', path.read_text())

    def test_names_that_can_be_imported(self):
        for page, least in NAMING.items():
            names = DOTTED.findall((DOCS / 'contributor' / f'{page}.rst').read_text())
            self.assertGreaterEqual(len(names), least, page)
            for name in names:
                self.assertIsNotNone(pkgutil.resolve_name(name))

    def test_failures_are_followed_in_few_modules(self):
        page = (DOCS / 'contributor' / f'{CROSS_CELL}.rst').read_text()
        table = page.partition('Follow a failure\n')[2].partition('\nOn the host')[0]
        _intro, _header, *failures = table.split('\n   * - ')
        self.assertGreaterEqual(len(failures), 3)
        for failure in failures:
            modules = {self.module_of(name) for name in DOTTED.findall(failure)}
            self.assertLessEqual(len(modules), TO_FOLLOW, failure)

    def module_of(self, name):
        """The name of the module that defines what a page names."""
        found = pkgutil.resolve_name(name)
        return found.__name__ if isinstance(found, types.ModuleType) else found.__module__

    def test_own_pages(self):
        found = [cited for text in texts().values() for cited in OWN.findall(text)]
        self.assertNotEqual([], found)
        for page, section in found:
            self.assertIn(f'\n{section}\n==', (DOCS / f'{page}.rst').read_text())

    def test_nothing_else(self):
        self.assertEqual([], [path for path, text in texts().items() if ABSENT.search(text)])
