"""Daemons that are started as services have no hook of the lab set."""

import subprocess
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout

# Daemons connect when they start: no broker listens there.
BUSES = ('rabbit://127.0.0.1:1/{cell}',)
URLS = dict.fromkeys(('simcloud', 'placement'), 'http://127.0.0.1:1')


class TestHooks(testtools.TestCase):
    def files(self):
        """Write the files of services, and return their paths."""
        directory = self.useFixture(fixtures.TempDir()).path
        places = layout.Layout(layout.Settings(state_dir=directory, bus=BUSES))
        places.prepare()
        (cell, *_others) = places.cell_names
        sections = {
            'control': daemon_config.control(places, URLS),
            'conductor': daemon_config.cell_conductor(places, URLS, cell),
            'compute': daemon_config.compute(places, URLS, cell),
        }
        self.addCleanup(places.release)
        return [places.write_config(name, found) for name, found in sections.items()]

    def test_services_have_none(self):
        program = [sys.executable, '-m', 'tests.unit.daemons.hooks', *self.files()]
        found = subprocess.run(program, capture_output=True, text=True, check=False)
        self.assertEqual((0, ''), (found.returncode, found.stdout.strip()), found.stderr)
