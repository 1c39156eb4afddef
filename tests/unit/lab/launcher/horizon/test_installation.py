"""Horizon beside a cloud: why an installation failed, and its environment."""

import os

import fixtures
import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher.horizon import installation

NO_INDEX = """
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'
ERROR: Could not find a version that satisfies the requirement horizon==27.0.0 (from versions: none)
ERROR: No matching distribution found for horizon==27.0.0
"""
NO_VENV = """
The virtual environment was not created successfully because ensurepip is not available.
    apt install python3.11-venv
"""


class InstallationTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.settings = layout.Settings(state_dir=directory, programs=(layout.HORIZON,))
        self.places = layout.Layout(self.settings)

    def test_reasons(self):
        for output, reason, way_out in (
            (NO_INDEX, 'satisfies the requirement horizon==27.0.0', 'Let pip reach PyPI'),
            (NO_VENV, 'apt install python3.11-venv', 'Correct this'),
            ('ERROR: No space left on device.', 'No space left on device', 'Correct this'),
            ('', 'its command failed', 'Correct this'),
        ):
            found = installation.explained(output)
            self.assertIn(reason, found[0])
            self.assertIn(way_out, found[1])

    def test_an_environment_without_the_pins_is_not_used(self):
        environment = installation.Environment(self.places)
        self.assertFalse(environment.is_current())
        self.assertIn(f'{self.places.root}/horizon/env/', environment.python)

    def test_a_fresh_cloud_keeps_it(self):
        kept, former = self.places.path('horizon', 'env', 'x'), self.places.path('db', 'api.sqlite')
        for path in (kept, former):
            layout.write(path, '')
        self.places.hold()
        self.addCleanup(self.places.release)
        self.places.clear()
        self.assertEqual((True, False), (os.path.exists(kept), os.path.exists(former)))

    def test_the_next_start_names_it(self):
        self.assertEqual('--with horizon', options.own_words(self.settings))
