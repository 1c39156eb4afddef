"""Each page of doc/source/howto, its commands in their order, in one new shell of a new user."""

import os
import pathlib
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import known_clouds
from nova_lite.lab.launcher import running
from tests.fixtures import howto
from tests.fixtures import units
from tests.fixtures import warm_programs
from tools import sample

PAGES = [page.name for page in sorted(howto.PAGES.glob('*.rst')) if howto.script_of(page.name)]
STOP_S = 60
# The default port may be in use on this machine.
UP = """\
#!/bin/sh
case " $* " in
    " up "*" --port "* | *" --print-config "*) ;;
    " up "*) shift; set -- up --port 0 "$@" ;;
esac
exec {program} "$@"
"""


class HowtoPagesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.home / 'doc').symlink_to(units.ROOT / 'doc')
        source = os.path.dirname(sys.executable)
        self.warm = self.useFixture(warm_programs.WarmPrograms(source, howto.PROGRAMS))
        program = self.warm.directory / 'nova-lite'
        renamed = program.rename(self.warm.directory / 'nova-lite.program')
        program.write_text(UP.format(program=renamed))
        program.chmod(0o755)
        # Those of a shell in which no cloud was named.
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', str(self.home / 'state')))
        self.addCleanup(self.stop_all)

    def clouds(self):
        """Return the state directories of the clouds that the page has started."""
        found = {cloud['state_dir'] for cloud in known_clouds.find()}
        return sorted(found | {str(path.parent) for path in self.home.glob('*/clouds.yaml')})

    def stop_all(self):
        for directory in self.clouds():
            running.stop(directory, STOP_S)

    def check(self, page):
        done = self.warm.run(
            ['bash', '-e', '-c', howto.script_of(page)],
            {'HOME': str(self.home), 'TMPDIR': str(self.home)},
            directory=self.home,
        )
        self.assertEqual(0, done.returncode, f'{page}: {done.stdout}{done.stderr}')
        self.assertNotIn('Traceback', done.stdout + done.stderr)
        # Each page stops the clouds that it starts.
        self.assertEqual([], [each for each in self.clouds() if running.read(each)])


def _test_of(page):
    def test(self):
        self.check(page)

    return test


for _page in sample.turn(PAGES, len(PAGES)):
    setattr(HowtoPagesTest, f'test_{_page.removesuffix(".rst").replace("-", "_")}', _test_of(_page))
