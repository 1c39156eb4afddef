"""Clouds that continue with a snapshot of another, whenever the process is killed."""

import argparse
import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import resource
import shutil
import stat

import fixtures

from nova_lite.cmd import up
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher.cloud_file import settings as file_settings
from tests.unit.lab.launcher import test_cloud_snapshots

HOUR_S = 3600.0
FORMER = {'a': 'former', 'etc/b': 'former', 'db/d': 'former'}
CALLS = ('mkdir', 'rename', 'replace', 'rmdir', 'unlink')


class Killed(BaseException):
    """Ends a process that changes files."""


class ContinuingCase(test_cloud_snapshots.CloudCase):
    def setUp(self):
        super().setUp()
        self.path = self.directory.join('a.snapshot')
        self.manifest = self.snapshots.take(self.path)

    def held(self, name, **given):
        """The Layout of another cloud, before it begins."""
        snapshot = cloud_snapshots.read(self.path)
        directory = self.directory.join(name)
        settings = continuing.settings_of(snapshot.manifest, directory, given)
        places = layout.Layout(layout.Settings(**settings))
        self.addCleanup(places.release)
        places.hold()
        return places

    def begin(self, places, **options):
        continuing.begin(cloud_snapshots.read(self.path), places, **options)


class ContinuingTest(ContinuingCase):
    def test_a_cloud_that_continues(self):
        self.time.advance(HOUR_S)
        places = self.held('second')
        self.begin(places)
        # It has a clock of its own.
        self.assertEqual(-HOUR_S, clocks.ahead_s(places.root))
        before = self.places.secrets
        places.prepare()
        self.assertEqual(before, places.secrets)
        self.assertEqual(self.places.metadata_secret, places.metadata_secret)
        with open(places.settings.profile) as file:
            self.assertEqual('extends: instant\n', file.read())
        self.assertTrue(places.settings.profile.startswith(places.root))

        self.tell('made by its start', places)
        found = cloud_snapshots.Snapshots(places)
        found.finish()
        self.assertEqual({'first'}, self.told(places))
        self.assertEqual([cloud_snapshots.FRESH], found.names())
        found.find(cloud_snapshots.FRESH)
        self.assertEqual(
            pathlib.Path(self.path).read_bytes(),
            pathlib.Path(found.path(cloud_snapshots.FRESH)).read_bytes(),
        )

    def test_only_the_owner_may_read_the_copy(self):
        """The snapshot may be readable for all, and the state directory as well."""
        os.chmod(self.path, 0o644)
        places = self.held('second')
        self.begin(places)
        copy = cloud_snapshots.Snapshots(places).path(cloud_snapshots.FRESH)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(copy).st_mode))

    def test_what_is_chosen(self):
        found = continuing.settings_of(self.manifest, '/x', {'speed': 2.0, 'port': 1})
        self.assertEqual(2.0, found['speed'])
        self.assertEqual('/x/etc/profile.yaml', found['profile'])
        error = self.assertRaises(
            continuing.OtherSize, continuing.settings_of, self.manifest, '/x', {'hosts': 2}
        )
        self.assertIn('hosts=1, not 2. Omit --hosts.', str(error))

    def test_options_that_are_chosen(self):
        """Of --set and --debug, which keep the others of the first cloud."""
        taken = {'api': {'x': '1', 'y': '2'}, 'DEFAULT': {'z': '3'}}
        settings = {**self.manifest.settings, 'options': taken}
        manifest = dataclasses.replace(self.manifest, settings=settings)
        chosen = {'api': {'y': '4'}, 'compute': {'v': '5'}}
        found = continuing.settings_of(manifest, '/x', {'options': chosen})['options']
        self.assertEqual(
            {'api': {'x': '1', 'y': '4'}, 'DEFAULT': {'z': '3'}, 'compute': {'v': '5'}}, found
        )

    def test_the_directory_of_another_cloud(self):
        for group in ('DEFAULT', 'default'):
            settings = {**self.manifest.settings, 'options': {group: {'state_path': '/x'}}}
            manifest = dataclasses.replace(self.manifest, settings=settings)
            self.assertRaises(ValueError, continuing.settings_of, manifest, 'second', {})


class RefusedTest(ContinuingCase):
    """A refused snapshot leaves the directory as it was."""

    def files(self):
        return sorted(str(path) for path in pathlib.Path(self.places.root).rglob('*'))

    def refused(self, refusal, **options):
        """The text of the error of `begin` for the directory of the first cloud."""
        before = self.files()
        error = self.assertRaises(refusal, self.begin, self.places, **options)
        self.assertEqual(before, self.files())
        return str(error)

    def deletes_nothing(self, refusal):
        text = self.refused(refusal, fresh=True)
        self.assertIn(self.path, text)
        return text

    def test_a_directory_with_a_cloud(self):
        self.refused(continuing.NotEmpty)

    def test_a_directory_with_a_cloud_on_a_database_server(self):
        for path in self.snapshots.files().values():
            if not path.endswith('simcloud.sqlite'):
                os.unlink(path)
        self.refused(continuing.NotEmpty)

    def test_a_full_disk(self):
        """A limit on the size of files stands for it."""
        former = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, former[1]))
        try:
            text = self.deletes_nothing(snapshot_file.NotUnpacked)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)
        self.assertIn('File too large', text)

    def test_what_is_refused_before_a_former_cloud_is_deleted(self):
        """A profile that does not exist, and files that would be deleted as well."""
        self.useFixture(fixtures.EnvironmentVariable('no_proxy'))
        self.useFixture(fixtures.EnvironmentVariable('NO_PROXY'))
        self.places.release()
        inside = self.places.path('a.snapshot')
        os.rename(self.path, inside)
        profile = self.places.path('my.yaml')
        os.rename(self.profile, profile)
        before = os.listdir(self.places.root)
        for chosen, path, text in (
            ('/no/such', inside, 'neither a file'),
            ('instant', inside, f'{inside} lies in'),
            (profile, None, f'{profile} lies in'),
        ):
            settings = layout.Settings(state_dir=self.places.root, profile=chosen)
            snapshot = None if path is None else cloud_snapshots.read(path)
            error = self.assertRaises(
                ValueError, foreground.run, settings, fresh=True, snapshot=snapshot
            )
            self.assertIn(text, str(error))
            self.assertEqual(before, os.listdir(self.places.root))

    def test_a_directory_of_others(self):
        """--fresh deletes what a cloud has made, not the files of a directory named by mistake."""
        self.useFixture(fixtures.EnvironmentVariable('no_proxy'))
        self.useFixture(fixtures.EnvironmentVariable('NO_PROXY'))
        directory = pathlib.Path(self.directory.join('home'))
        directory.mkdir()
        directory.joinpath('mine').write_text('kept')
        # With that port, no cloud starts in any case.
        settings = layout.Settings(state_dir=str(directory), port=0)
        error = self.assertRaises(ValueError, foreground.run, settings, fresh=True)
        self.assertIn(f'{directory} has files of others', str(error))
        self.assertEqual(['mine'], os.listdir(directory))

    def test_a_damaged_one_does_not_delete_a_former_cloud(self):
        # The directory of a ZIP archive is at its end, and is whole.
        with open(self.path, 'r+b') as file:
            file.seek(os.path.getsize(self.path) // 3)
            file.write(b'damaged')
        self.deletes_nothing(snapshot_file.Damaged)

    def test_one_that_changes_meanwhile_does_not_delete_a_former_cloud(self):
        """A change after the check of the file, which is copied first."""
        whole = pathlib.Path(self.path).read_bytes()
        third = len(whole) // 3
        snapshot = cloud_snapshots.read(self.path)
        copy = shutil.copyfileobj

        def change(source, target, *args):
            with open(self.path, 'r+b') as file:
                file.seek(third)
                file.write(b'damaged')
            copy(source, target, *args)

        before = self.files()
        with fixtures.MonkeyPatch('shutil.copyfileobj', change):
            error = self.assertRaises(
                snapshot_file.Damaged, continuing.begin, snapshot, self.places, fresh=True
            )
        self.assertIn(self.path, str(error))
        self.assertEqual(before, self.files())

    def test_one_that_is_replaced_meanwhile(self):
        snapshot = cloud_snapshots.read(self.path)
        os.unlink(self.path)
        self.time.advance(HOUR_S)
        self.snapshots.take(self.path)
        before = self.files()
        error = self.assertRaises(
            snapshot_file.Damaged, continuing.begin, snapshot, self.places, fresh=True
        )
        self.assertIn('replaced', str(error))
        self.assertEqual(before, self.files())

    def test_a_profile_that_is_unknown_does_not_delete_a_former_cloud(self):
        with open(self.profile, 'w') as file:
            file.write('extends: instant\nof_another_release: 1\n')
        os.unlink(self.path)
        self.snapshots.take(self.path)
        self.assertIn('of_another_release', self.deletes_nothing(continuing.UnknownProfile))

    def test_contents_that_no_cloud_writes(self):
        api = self.snapshots.files()['api.sqlite']
        for statement in (
            'CREATE VIEW mine AS SELECT 1',
            'CREATE TRIGGER mine AFTER UPDATE ON told BEGIN SELECT 1; END',
        ):
            self.change(api, statement)
            self.assertIn('mine', self.with_contents())
            self.change(api, f'DROP {statement.split()[1]} mine')
        for text in ('[' * 100_000, '[]', '{"admin_password": 1}', 'x'):
            with open(self.places.path(layout.SECRETS), 'w') as file:
                file.write(text)
            self.assertIn(layout.SECRETS, self.with_contents())

    def change(self, path, statement):
        with sqlite_copies.opened(path) as connection:
            connection.execute(statement)

    def with_contents(self):
        """The refusal of a snapshot of the cloud as it is now."""
        os.unlink(self.path)
        self.snapshots.take(self.path)
        return self.deletes_nothing(snapshot_file.Damaged)

    def test_one_that_lacks_files(self):
        files = {name: self.places.path(name) for name in cloud_snapshots.KEPT}
        snapshot_file.write(self.path, self.manifest, files)
        self.assertIn('it lacks api.sqlite', self.refused(snapshot_file.Damaged, fresh=True))

    def test_a_snapshot_of_another_release(self):
        schemas = {**self.manifest.schemas, 'cell': 'abc'}
        other = dataclasses.replace(self.manifest, schemas=schemas, release='0.9')
        snapshot_file.write(self.path, other, {})
        error = self.assertRaises(cloud_snapshots.OtherSchemas, cloud_snapshots.read, self.path)
        self.assertIn('nova-lite 0.9 with another version of cell: abc', str(error))


class KilledTest(ContinuingCase):
    def setUp(self):
        super().setUp()
        self.names = itertools.count()
        # As `shutil.rmtree` names them.
        self.copies = {os.path.basename(name) for name in self.manifest.files}

    def other(self):
        """The Layout of another directory with files of a former cloud."""
        places = self.held(str(next(self.names)))
        for name, text in FORMER.items():
            path = pathlib.Path(places.root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return places

    def contents(self, places):
        """{path below the directory: bytes} of all its files but those of the process."""
        return {
            str(path.relative_to(places.root)): path.read_bytes()
            for path in pathlib.Path(places.root).rglob('*')
            if path.is_file() and path.name != lock.LOCK
        }

    @contextlib.contextmanager
    def killed_at(self, number):
        """The number-th call that changes files does not happen, nor does a later one.

        Calls in the draft, which the next start deletes, are not counted.
        """
        counts, calls = itertools.count(), {}

        def call(name, *args, **options):
            is_draft = f'/{cloud_snapshots.DRAFT}/' in args[0] or args[0] in self.copies
            if not is_draft and next(counts) >= number:
                raise Killed()
            return calls[name](*args, **options)

        with contextlib.ExitStack() as patched:
            for name in CALLS:
                calls[name] = getattr(os, name)
                patch = fixtures.MonkeyPatch(f'os.{name}', functools.partial(call, name))
                patched.enter_context(patch)
            yield

    def test_a_former_cloud(self):
        """It is deleted with --fresh; else other files of the directory stay."""
        for fresh, stays in ((True, set()), (False, set(FORMER))):
            places = self.other()
            self.begin(places, fresh=fresh)
            found = self.contents(places)
            self.assertEqual(stays, set(FORMER).intersection(found))
            expected = {'clock.json', 'run/restoring', 'saved/fresh.snapshot', shape.FILE}
            expected |= {*cloud_snapshots.KEPT, cloud_snapshots.PROFILE} | stays
            self.assertEqual(expected, set(found))
            continuing.complete(places)
            self.assertEqual(found, self.contents(places))

    def test_what_cannot_be_completed(self):
        """Its release has gone, or the file is damaged: --fresh deletes it unread."""
        for name in (continuing.ALONE, continuing.BESIDE):
            places = self.other()
            left = pathlib.Path(places.root, name)
            left.write_text('damaged')
            error = self.assertRaises(snapshot_file.Unusable, continuing.resume, None, places)
            self.assertIn(str(left), str(error))
            continuing.resume(None, places, fresh=True)
            snapshot = cloud_snapshots.read(self.path)
            continuing.resume(snapshot, places, fresh=True)
            self.assertFalse(left.exists())

    def test_a_file_after_an_interrupted_begin(self):
        """The objects of the file would be created beside those of the snapshot."""
        places = self.other()
        shutil.copy(self.path, os.path.join(places.root, continuing.ALONE))
        path = self.directory.join('cloud.yaml')
        pathlib.Path(path).write_text('flavors: [{name: a, vcpus: 1, ram: 1}]\n')
        error = self.assertRaises(ValueError, self.next_start, places, path)
        self.assertIn('Omit -f', str(error))
        self.next_start(places)

    def next_start(self, places, file=None):
        """The settings of an `up` that names the directory, and perhaps a file, only."""
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        described = None if file is None else file_settings.read(file, places.root)
        arguments = parser.parse_args(['--state-dir', places.root])
        settings, _snapshot = options.read(arguments, described)
        return settings

    def test_at_any_time(self):
        """The next start finds the former files or those of the snapshot."""
        for fresh in (True, False):
            places = self.other()
            former = self.contents(places)
            self.begin(places, fresh=fresh)
            new, found = self.contents(places), []
            for number in itertools.count():
                places = self.other()
                try:
                    with self.killed_at(number):
                        self.begin(places, fresh=fresh)
                    break
                except Killed:
                    settings = self.next_start(places)
                    continuing.complete(places)
                    found.append(self.contents(places))
                    if found[-1].keys() == new.keys():
                        self.assertEqual((1, 1), (settings.cells, settings.hosts), number)
                for each in [name for name in found[-1] if name.startswith(cloud_snapshots.DRAFT)]:
                    del found[-1][each]
                self.assertIn(found[-1], (former, new), number)
            self.assertEqual([former, new], [found[0], found[-1]])
