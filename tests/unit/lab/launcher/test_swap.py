"""Files that replace those of a state directory, or none of them, whenever it is killed."""

import contextlib
import functools
import itertools
import os
import pathlib

import fixtures
import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import swap

FORMER = {'a': 'former', 'etc/b': 'former', 'etc/c': 'former', 'db/d': 'former'}
NEW = {'a': 'new', 'etc/b': 'new', 'saved/fresh/e': 'new', 'saved/f': 'new'}
CALLS = ('mkdir', 'rename', 'replace', 'rmdir', 'unlink')


class Killed(BaseException):
    """Ends a process that changes files."""


class SwapTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.names = itertools.count()
        self.directory = self.useFixture(fixtures.TempDir())

    def places(self):
        """The Layout of another directory with the former files."""
        directory = self.directory.join(str(next(self.names)))
        found = layout.Layout(layout.Settings(state_dir=directory))
        found.hold()
        self.addCleanup(found.release)
        self.write(found.root, FORMER)
        return found

    def write(self, root, texts):
        for name, text in texts.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def texts(self, places):
        """{path below the directory: text} of all its files but the lock."""
        found = {
            str(path.relative_to(places.root)): path.read_text()
            for path in pathlib.Path(places.root).rglob('*')
            if path.is_file()
        }
        del found[layout.LOCK]
        return found

    def swap(self, places, **options):
        with swap.written(places, **options) as draft:
            self.write(draft, NEW)

    @contextlib.contextmanager
    def killed_at(self, number):
        """The number-th call that changes files does not happen, nor does a later one."""
        counts, calls = itertools.count(), {}

        def call(name, *args, **options):
            if next(counts) >= number:
                raise Killed()
            return calls[name](*args, **options)

        with contextlib.ExitStack() as patched:
            for name in CALLS:
                calls[name] = getattr(os, name)
                patch = fixtures.MonkeyPatch(f'os.{name}', functools.partial(call, name))
                patched.enter_context(patch)
            yield

    def test_what_is_there_afterwards(self):
        for alone, expected in ((True, NEW), (False, FORMER | NEW)):
            places = self.places()
            self.swap(places, alone=alone)
            self.assertEqual(expected, self.texts(places))
            swap.complete(places)
            self.assertEqual(expected, self.texts(places))

    def test_an_error_changes_nothing(self):
        places = self.places()
        with testtools.ExpectedException(OSError), swap.written(places, alone=True) as draft:
            self.write(draft, NEW)
            raise OSError('No space left on device')
        self.assertEqual(FORMER, self.texts(places))

    def test_killed_at_any_time(self):
        for alone, new in ((True, NEW), (False, FORMER | NEW)):
            found = []
            for number in itertools.count():
                places = self.places()
                try:
                    with self.killed_at(number):
                        self.swap(places, alone=alone)
                    break
                except Killed:
                    swap.complete(places)
                found.append(self.texts(places))
                self.assertIn(found[-1], (FORMER, new), number)
            self.assertEqual([FORMER, new], [found[0], found[-1]])
