"""Snapshots survive a loss of power: they are on the disk before they replace anything."""

import functools
import os

import fixtures

from nova_lite.lab.launcher import continuing
from tests.unit.lab.launcher import test_continuing


class DurableTest(test_continuing.ContinuingCase):
    def setUp(self):
        super().setUp()
        # What was done, in order: (name of the call, its path).
        self.done = []
        for name in ('fsync', 'rename', 'replace', 'unlink', 'rmdir'):
            call = functools.partial(self.note, name, getattr(os, name))
            self.useFixture(fixtures.MonkeyPatch(f'os.{name}', call))

    def note(self, name, call, what, *args, **options):
        path = os.readlink(f'/proc/self/fd/{what}') if isinstance(what, int) else what
        self.done.append((name, str(path)))
        return call(what, *args, **options)

    def check(self, name, target):
        """A file is synchronized, then renamed to its place, and then the place's directory."""
        [number] = [
            number
            for number, (call, path) in enumerate(self.done)
            if call == name
            and ('fsync', path) == self.done[number - 1]
            and self.done[number + 1] == ('fsync', os.path.dirname(target))
        ]
        return number

    def test_a_snapshot_that_replaces_another(self):
        self.snapshots.take(self.path)
        self.check('replace', self.path)

    def test_a_former_cloud_is_deleted_afterwards(self):
        places = self.held('second')
        doomed = places.path('db', 'former.sqlite')
        with open(doomed, 'w') as file:
            file.write('x')
        self.begin(places, fresh=True)
        self.assertFalse(os.path.exists(doomed))
        number = self.check('replace', os.path.join(places.root, continuing.ALONE))
        removed = [n for n, (call, path) in enumerate(self.done) if path.endswith('former.sqlite')]
        self.assertLess(number + 1, min(removed, default=len(self.done)))

    def test_what_a_cloud_begins_with(self):
        """Its passwords and shape are on the disk before nothing else tells of the snapshot."""
        places = self.held('second')
        self.begin(places)
        synced = {path for call, path in self.done if call == 'fsync'}
        for name in ('secrets.json', 'metadata-secret', 'shape.json', 'run/restoring'):
            self.assertIn(os.path.join(places.root, name), synced)
