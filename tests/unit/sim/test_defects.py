"""Defects that were mended can still be put back, where the code was mended."""

import os
import pathlib
import re

import fixtures
import testtools

import nova_lite
from tests.sim import command as histories
from tests.sim.defects import __main__ as search
from tests.sim.defects import table
from tests.sim.workload import outsiders
from tests.sim.workload import themes

ROOT = os.path.dirname(nova_lite.__file__)
IMPORTED = re.compile(r'^(?:from|import) tests\.(\w+)', re.MULTILINE)
# Like the command line of the simulation, whose histories are child processes.
FORKS = """
import os, sys, time
opened = open(sys.argv[1], 'w', buffering=1)
print('begun', file=opened)
os.fork()
time.sleep(30)
print('left behind', file=opened)
"""


class DefectsTestCase(testtools.TestCase):
    def test_each_can_be_put_back(self):
        for defect in table.DEFECTS:
            files = {}

            def read(file, files=files):
                if file not in files:
                    with open(os.path.join(ROOT, file)) as opened:
                        files[file] = opened.read()
                return files[file]

            table.put_back(defect, read, files.__setitem__)
            for file, text in files.items():
                compile(text, file, 'exec')

    def test_what_histories_import_is_copied(self):
        own = os.path.join(search.ROOT, 'tests', 'sim')
        texts = [path.read_text() for path in pathlib.Path(own).rglob('*.py')]
        found = {name for text in texts for name in IMPORTED.findall(text)}
        self.assertIn('sim', found)
        copied = {path.removeprefix('tests/') for path in search.COPIED}
        self.assertEqual(set(), found - copied)

    def test_seeds_that_cannot_show_a_defect_are_not_searched(self):
        """A search says so, and has found nothing."""
        defect = table.DEFECTS[0]
        other = next(seed for seed in range(1, 100) if themes.of_seed(seed) != defect.theme)
        printed = self.useFixture(fixtures.StringStream('stdout')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', printed))
        self.assertEqual(1, search.main([defect.name, '--seeds', str(other)]))
        printed.seek(0)
        self.assertEqual(
            f'{defect.name}: not searched: none of the seeds {other} may show it\n', printed.read()
        )

    def test_histories_may_show_each(self):
        """Each theme has seeds among those of a search, and so has what a defect needs."""
        seeds = range(themes.FIRST_SHARED, themes.FIRST_SHARED + 1500)
        self.assertLess(set(seeds), set(histories.seeds_of(search.SEEDS)))
        found = {themes.of_seed(seed) for seed in seeds}
        self.assertEqual({*themes.THEMES, *outsiders.EVERY}, found)
        for defect in table.DEFECTS:
            self.assertIn(defect.theme, found, defect.name)
            if defect.does:
                self.assertNotEqual([], search.seeds_of(defect, seeds), defect.name)

    def test_all_are_wanted_if_none_is_named(self):
        names = [defect.name for defect in table.DEFECTS]
        self.assertEqual(names, search.parsed([]).names)
        self.assertEqual(names[:1], search.parsed(names[:1]).names)

    def test_the_track_record_lists_each(self):
        path = os.path.join(ROOT, '..', 'doc', 'source', 'reference', 'track-record.rst')
        with open(path) as opened:
            listed = set(re.findall(r'^   \* - ([a-z0-9-]+)$', opened.read(), re.MULTILINE))
        self.assertEqual(set(), {defect.name for defect in table.DEFECTS} - listed)

    def test_code_that_has_changed_is_named(self):
        error = self.assertRaises(
            ValueError, table.put_back, table.DEFECTS[0], lambda _file: '', None
        )
        self.assertIn('conductor/host_reports.py has 0 times: ', str(error))

    def test_a_search_out_of_time_leaves_no_process_behind(self):
        directory = self.useFixture(fixtures.TempDir())
        path = directory.join('open-while-they-live')
        os.mkfifo(path)
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        search._run(['-c', FORKS, path], ROOT, limit_s=2)
        self.assertEqual(b'begun\n', os.read(end, 100))
        # It would write again, later.
        os.set_blocking(end, True)
        self.assertEqual(b'', os.read(end, 100))
