"""Each how-to ends with the tests that run it; pages name clouds that exist."""

import pathlib
import re

import testtools

from nova_lite.lab.launcher import client_connections
from tests.fixtures import howto

ROOT = pathlib.Path(__file__).parents[2]
# It compares tools, and has nothing to run.
COMPARISON = 'which-tool.rst'
HEADING = re.compile(r'^(.+)\n=+$', re.MULTILINE)
FILE = re.compile(r'``(tests/[\w/.]+)``')
CLOUD = re.compile(r'--os-cloud ([a-z-]+)')
# Those of `nova-lite up`, and one of a reader.
CLOUDS = {client_connections.ADMIN, client_connections.DEMO, 'production'}


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

    def test_commands_that_other_tests_run(self):
        for page, sections in howto.ELSEWHERE.items():
            titles = [title for title, _text in howto.sections(page)]
            self.assertEqual(set(), set(sections) - set(titles), page)
            for test in sections.values():
                self.assertTrue((ROOT / test).exists(), (page, test))

    def test_pages_stop_the_clouds_that_they_start(self):
        """So a reader can go on with another page. tests.functional.test_howto_pages runs them."""
        starts = 0
        for page in (ROOT / 'doc/source/howto').glob('*.rst'):
            script = howto.script_of(page.name)
            if 'nova-lite up ' in script:
                starts += 1
                self.assertIn('nova-lite stop', script, page.name)
        self.assertLess(8, starts)

    def test_clouds_of_clients_exist(self):
        pages = [ROOT / 'README.rst', *(ROOT / 'doc/source').rglob('*.rst')]
        named = {cloud for page in pages for cloud in CLOUD.findall(page.read_text())}
        self.assertEqual(CLOUDS, named)
