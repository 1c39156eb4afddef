"""Plans of studies: what --continue reads again, and refuses."""

import os
import pathlib

import testtools

from nova_lite.lab.replay import plan as plans
from nova_lite.lab.replay import study as studies
from tests.fixtures import traces

FLAVORS = 'flavors.csv', 'name,vcpus,memory_mb,disk_gb', 'f,1,512,1'
PROFILE = 'hosts.yaml', 'extends: instant'
CLOUD = 'cloud.yaml', 'cells: [{hosts: 1, settings: {capacity: {vcpus: 4}}}]'
ANSWERS = {'seed': 1, 'machine': None, 'machine_size': None, 'limit': None, 'reference': None}


class ContinuedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.files = self.useFixture(traces.Traces())
        self.trace = self.files.write('trace.csv', traces.HEADER, 'a,0,,1,512,1')
        self.directory = os.path.join(self.files.path, 'study')

    def begin(self, **given):
        """Begin a study without a run."""
        files = dict.fromkeys(('flavors', 'cloud_file', 'profile'))
        plan = plans.Plan(
            **ANSWERS, **files | given, trace=self.trace, format='csv', digest='', vary=[],
            cells=None, hosts=None, options={}, tuned=True,
        )  # fmt: skip
        plans.create(self.directory, studies.Study(self.directory, plan).plan)

    def go_on(self):
        plan, progress = plans.load(self.directory)
        return studies.Study(self.directory, plan, progress=progress)

    def check(self, path, what, *lines, named=None):
        """A study continues until a file has other lines."""
        before = pathlib.Path(path).read_text()
        self.assertEqual(self.go_on().plan, self.go_on().plan)
        self.files.write(os.path.basename(path), *lines)
        error = self.assertRaises(plans.Changed, self.go_on)
        self.assertIn(f'The {what} in {named or path} has changed', str(error))
        pathlib.Path(path).write_text(before)
        self.go_on()

    def test_files_of_options(self):
        flavors, profile = self.files.write(*FLAVORS), self.files.write(*PROFILE)
        self.begin(flavors=flavors, profile=profile)
        self.check(flavors, plans.FLAVORS, *FLAVORS[1:], 'g,2,512,1')
        self.check(profile, plans.PROFILE, 'extends: default')
        self.check(self.trace, 'trace', traces.HEADER, 'a,0,,1,512,2')

    def test_the_file_of_the_cloud(self):
        """The profile that it names is a part of it, with settings of cells or without."""
        for settings in ('', CLOUD[1]):
            profile = self.files.write(*PROFILE)
            path = self.files.write(CLOUD[0], 'profile: hosts.yaml', settings)
            self.directory += '-more'
            self.begin(cloud_file=path)
            self.check(path, plans.DESCRIPTION, 'profile: instant', settings)
            self.check(profile, plans.PROFILE, 'extends: default', named=path)

    def test_spoiled(self):
        self.begin()
        for name in (plans.FILE, plans.PROGRESS):
            path = pathlib.Path(self.directory, name)
            before = path.read_text()
            for text, reason in (('{', 'it is not JSON'), ('[]', 'it is not an object of JSON')):
                path.write_text(text)
                error = self.assertRaises(plans.Spoiled, self.go_on)
                self.assertIn(f'{path} cannot be used: {reason}', str(error))
            path.write_text(before)

    def test_bundled_profiles_are_no_files(self):
        self.begin(profile='instant')
        self.assertEqual({}, self.go_on().plan.digests)
