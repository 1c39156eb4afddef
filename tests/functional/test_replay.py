"""`nova-lite replay`: studies of small traces with the real scheduler and placement."""

import json
import os
import pathlib

import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.replay import booter
from nova_lite.lab.replay import plan as plans
from nova_lite.lab.replay import results
from nova_lite.lab.replay import study as studies
from nova_lite.lab.replay import study_page
from tests.fixtures import commands
from tests.fixtures import traces
from tools import sample

CLOUD_FILE = """\
profile: instant
cells:
  - hosts: 1
    settings: {capacity: {vcpus: 4, memory_mb: 16384, disk_gb: 100}}
  - hosts: 2
    settings: {capacity: {vcpus: 8, memory_mb: 16384, disk_gb: 100}}
"""
VARY = ['ram_weight_multiplier=1,-1']
# As many as fill two hosts.
COUNT = 60


@sample.in_turns(4)
class ReplayTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.traces = self.useFixture(traces.Traces())
        self.path = self.traces.drawn(COUNT, life_s=60)

    def directory(self, name):
        return os.path.join(self.traces.path, name)

    def plan(self, **changes):
        values = {
            'trace': self.path,
            'format': 'csv',
            'digest': '',
            'seed': 7,
            'machine': None,
            'machine_size': None,
            'limit': None,
            'flavors': None,
            'reference': None,
            'vary': VARY,
            'cells': 2,
            'hosts': 1,
            'profile': 'instant',
            'options': {'filter_scheduler': {'host_subset_size': '2'}},
            'tuned': True,
        }
        return plans.Plan(**{**values, **changes})

    def study(self, name, **changes):
        """Return the results of a study, without times."""
        study = studies.Study(self.directory(name), self.plan(**changes))
        plans.create(self.directory(name), study.plan)
        return self.timeless(study.run())

    def timeless(self, found):
        for run in found['runs']:
            del run['times']
        return json.loads(json.dumps(found))

    def test_results(self):
        """Equal seeds give equal results, whatever answers placement's candidates and claims."""
        found = self.study('first')
        spread, packed = (run['summary'] for run in found['runs'])
        self.assertEqual(COUNT, spread['arrivals'])
        self.assertGreater(spread['rejected'], 0)
        self.assertEqual({'placement'}, {*spread['rejected_by']})
        self.assertLess(packed['mean']['jain'], spread['mean']['jain'])
        self.assertNotEqual(spread['decisions_sha256'], packed['decisions_sha256'])
        again = self.study('again', asks_always=True, tuned=False)
        self.assertEqual(found['runs'], again['runs'])
        other = self.study('other', seed=8)
        self.assertNotEqual(found['runs'][0]['summary'], other['runs'][0]['summary'])
        self.check_files('first', found)

    def check_files(self, name, found):
        directory = pathlib.Path(self.directory(name))
        self.assertEqual(
            {plans.FILE, results.JSON, results.CSV, study_page.NAME, study_page.FIGURES},
            {each.name for each in directory.iterdir()},
        )
        kept = json.loads((directory / results.JSON).read_text())
        self.assertEqual(found, self.timeless(kept))
        lines = (directory / results.CSV).read_text().splitlines()
        self.assertEqual(list(results.COLUMNS), lines[0].split(','))
        self.assertEqual(sum(len(run['series']) for run in found['runs']), len(lines) - 1)

    def test_continued(self):
        """A study that is interrupted, and once killed, continues to the results of a whole one."""
        whole = self.study('whole')
        directory, looks = self.directory('parts'), []

        def is_interrupted():
            looks.append(None)
            if len(looks) == 90:
                raise KeyboardInterrupt
            return len(looks) % 30 == 0

        plans.create(directory, studies.Study(directory, self.plan()).plan)
        ends = []
        found = None
        while found is None:
            plan, progress = plans.load(directory)
            study = studies.Study(directory, plan, progress=progress, is_interrupted=is_interrupted)
            try:
                found = study.run()
            except (studies.Interrupted, KeyboardInterrupt) as end:
                ends.append(type(end))
        # The run that was killed begins again.
        self.assertEqual((5, 2 * COUNT + 30), (len(ends), len(looks)))
        self.assertEqual([2], [at for at, end in enumerate(ends) if end is KeyboardInterrupt])
        self.assertEqual(whole, self.timeless(found))

    def test_boots(self):
        """Whole boots have the hosts, the figures and the rejections of decisions alone."""
        changes = {'limit': 40, 'options': {}}
        decided = self.study('decided', **changes)
        booted = self.study('booted', boots=True, **changes)
        for run in booted['runs']:
            self.assertEqual([], run.pop('verify'))
        self.assertGreater(booted['runs'][0]['summary']['rejected'], 0)
        self.assertEqual(decided['runs'], booted['runs'])

    def test_in_use(self):
        """The cloud of a study that another process continues is not removed."""
        directory = self.directory('used')
        study = studies.Study(directory, self.plan(boots=True, options={}))
        other = layout.Layout(layout.Settings(state_dir=os.path.join(directory, plans.CLOUD)))
        other.hold()
        self.addCleanup(other.release)
        self.assertRaises(layout.InUse, study.run)
        self.assertTrue(os.path.exists(other.path('lock')))

    def test_a_cloud_without_images(self):
        path = self.traces.write('cloud.yaml', 'defaults: false', 'cells: [{hosts: 1}]')
        changes = {'cells': None, 'hosts': None, 'options': {}, 'boots': True}
        self.assertRaises(booter.NoImage, self.study, 'none', cloud_file=path, **changes)

    def test_disturbed(self):
        """With migrations and a lost host the cloud stays whole, and runs can be repeated."""
        changes = {'limit': 30, 'hosts': 2, 'options': {}, 'vary': [], 'boots': True}
        found = [
            self.study(name, migrations=8, lose_host=True, **changes) for name in ('one', 'two')
        ]
        (run,) = found[0]['runs']
        self.assertEqual([], run['verify'])
        moves = run['summary']['moves']
        self.assertGreater(moves['migrated'], 0)
        self.assertGreater(moves['evacuated'], 0)
        self.assertEqual(found[0]['runs'], found[1]['runs'])

    def test_cloud_of_a_file(self):
        """Its hosts, their capacity and its options are those of the file."""
        path = self.traces.write('cloud.yaml', *CLOUD_FILE.splitlines())
        changes = {'cells': None, 'hosts': None, 'profile': None, 'vary': [], 'options': {}}
        found = self.study('described', cloud_file=path, limit=20, **changes)
        self.assertEqual((2, 3), (found['study']['cells'], found['study']['hosts']))
        (run,) = found['runs']
        self.assertGreater(run['summary']['rejected'], 0)
        self.assertEqual(0, run['summary']['at_the_end']['empty_hosts'])

    def test_command(self):
        directory = self.directory('out')
        options = ('--hosts', '2', '--profile', 'instant', '--limit', '20', '--output', directory)
        code, out, errors = commands.forked(['replay', self.path, *options], timeout_s=300)
        self.assertEqual(0, code, errors)
        self.assertRegex(out, r'default +\| 20 +\|')
        self.assertIn(f'{directory} has report.html, results.json, series.csv\n', out)
        code, out, errors = commands.run('replay', self.path, '--output', directory)
        self.assertEqual(2, code)
        self.assertIn(f'The directory {directory} has files already.', errors)
        code, out, errors = commands.run('replay', '--continue', directory)
        self.assertEqual(2, code)
        self.assertIn('has no interrupted study', errors)

    def test_refused(self):
        """Errors of the trace and of options come before the start of a cloud."""
        wrong = self.traces.write('wrong.csv', traces.HEADER, 'a,1,2,one,512,0')
        for arguments, text in (
            ([wrong], f"{wrong}:2: vcpus is 'one', not a number"),
            ([f'{wrong}.not'], f'{wrong}.not cannot be read: No such file or directory'),
            ([self.path, '--vary', 'x=1'], 'group filter_scheduler has no option x'),
            ([self.path, '--set', 'scheduler.x=1'], 'group scheduler has no option x'),
            ([self.path, '--profile', 'nosuch'], 'nosuch is neither a file nor'),
            ([self.path, '--fits', '1:2'], 'is not VCPUS:MIB:GIB'),
            ([], 'it needs a TRACE, or --continue DIR'),
            ([self.path, '--boots', '--ask-always'], '--ask-always: with --boots'),
            ([self.path, '--machine', 'x'], 'this one has format csv'),
            (['--continue', '.', '--seed', '3'], 'omit --seed'),
            (['--continue', '.', '--plain-placement'], 'omit --plain-placement'),
            ([self.path, '--lose-host'], '--migrations and --lose-host need --boots'),
            (
                [self.path, '--boots', '--vary', 'host_subset_size=1,2'],
                'host_subset_size=2 makes the scheduler choose by chance',
            ),
        ):
            code, out, errors = commands.run('replay', *arguments)
            self.assertEqual((2, ''), (code, out))
            self.assertIn(text, errors)
            self.assertNotIn('Traceback', errors)
