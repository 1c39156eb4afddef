"""Drills in clouds that lack something of what they need: they are refused before they begin."""

import fixtures
import testtools

from nova_lite.lab.control import abilities
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import process_faults
from nova_lite.lab.launcher import processes
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import needs
from tests.fixtures import commands

STEPPING = {
    'clock-step',
    'conductor-killed-in-cross-cell-resize',
    'deleted-while-it-moves',
    'host-dies-in-a-drain',
    'host-returns-too-early',
    'stuck-evacuation',
}


class NeedsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path

    def start(self, unable):
        """Hold the state directory and open its endpoint, as a cloud does."""
        places = layout.Layout(layout.Settings(state_dir=self.directory))
        places.hold()
        self.addCleanup(places.release)
        control = endpoint.Endpoint(self.directory, unable=unable)
        control.open()
        self.addCleanup(control.close)
        return control

    def unable(self, **settings):
        """Return what a cloud with --bus lacks."""
        bus = ('rabbit://top', 'rabbit://cell1', 'rabbit://cell2')
        settings = layout.Settings(state_dir=self.directory, bus=bus, **settings)
        found = process_faults.ProcessFaults(layout.Layout(settings), list, {})
        return processes.unable(found)

    def test_of_all(self):
        found = {name: needs.of(drills.read(name)) for name in drills.names()}
        stepping = {name for name, each in found.items() if abilities.DEBUGGER in each}
        self.assertEqual(STEPPING, stepping)
        self.assertEqual([abilities.CLOCK, abilities.DEBUGGER], found['clock-step'])
        self.assertEqual([abilities.BUSES], found['broker-freezes'])
        self.assertEqual([abilities.DATABASES], found['cell-database-down'])
        self.assertEqual([abilities.REQUESTS], found['neutron-slow'])
        self.assertEqual([], found['quota-race'])

    def test_what_clouds_lack(self):
        always = {abilities.CLOCK}
        struck = {abilities.DEBUGGER, abilities.REQUESTS, abilities.BUSES, abilities.DATABASES}
        server = 'mysql+pymysql://h'
        self.assertEqual(always | struck, set(self.unable()))
        self.assertEqual(always | {abilities.DATABASES}, set(self.unable(drills=True)))
        self.assertEqual(always, set(self.unable(drills=True, database=server)))

    def test_refusals(self):
        """Before the drill begins, with what it needs and the other way."""
        self.start(self.unable())
        for name, need, way_out in (
            ('clock-step', f'{abilities.CLOCK} and {abilities.DEBUGGER}', '--name drills`'),
            *((name, abilities.DEBUGGER, '`nova-lite up --drills`') for name in STEPPING),
            ('broker-freezes', abilities.BUSES, '`nova-lite up --drills`'),
            ('neutron-slow', abilities.REQUESTS, '`nova-lite up --drills`'),
            ('cell-database-down', abilities.DATABASES, 'start it with --db'),
        ):
            argv = ('scenario', 'run', name, '--state-dir', self.directory)
            code, out, errors = commands.run(*argv)
            self.assertEqual((2, ''), (code, out), errors)
            self.assertIn(f'Scenario {name} needs ', errors)
            self.assertIn(need, errors)
            self.assertIn(way_out, errors)

    def test_clouds_of_earlier_releases(self):
        """They were started before this release, and do not know the question."""
        control = self.start({})
        for lacking in (None, 'The cloud has no debugger.'):
            control._lacking = lacking
            control._handlers.pop(('GET', '/control/abilities'), None)
            argv = ('scenario', 'run', 'quota-race', '--state-dir', self.directory)
            code, out, errors = commands.run(*argv)
            self.assertEqual((2, ''), (code, out), errors)
            self.assertIn('The cloud runs an earlier release', errors)
            self.assertIn(f'`nova-lite up --state-dir {self.directory}`', errors)
