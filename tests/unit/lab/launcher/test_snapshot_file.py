"""The file of a snapshot: what is whole is read again, all else is refused with a reason."""

import json
import os
import pathlib
import stat
import zipfile

import fixtures
import testtools

from nova_lite.lab.launcher import snapshot_file

SETTINGS = {
    'cells': 1,
    'hosts': 1,
    'auth': 'keystone',
    'profile': 'default',
    'speed': 1.0,
    'shared_cidr': None,
    'options': {},
}
# With a line break, the files of the configuration would have a line more.
ODD_OPTIONS = (
    {'api': {'a': 'b\n[DEFAULT]\nstate_path = /x'}},
    {'api': {'a\nb': 'c'}},
    {'api]\n[DEFAULT': {'a': 'b'}},
    {'api': {'a': ['b\nc']}},
    {'api': {'a': {}}},
    {'api': {'a': '\x1b]0;title\x07'}},
    {'api': {'a': '\x85'}},
)
CONTENT = b'content of a file' * 1000


class SnapshotFileTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = str(self.directory / 'a.snapshot')
        self.source = self.directory / 'source'
        self.source.write_bytes(CONTENT)
        self.manifest = self.write()

    def write(self):
        manifest = snapshot_file.Manifest(
            release='1.0', schemas={}, taken_at=5.0, settings=SETTINGS, files={}
        )
        return snapshot_file.write(self.path, manifest, {'a/file': self.source})

    def refused(self, error, call=snapshot_file.read, *args):
        """The message with which the file is refused."""
        message = str(self.assertRaises(error, call, self.path, *args))
        self.assertIn(self.path, message)
        return message

    def extract(self):
        target = self.directory / 'target'
        snapshot_file.extract(self.path, self.manifest, {'a/file': target})
        return target

    def change(self, **values):
        """Write the manifest with other values, None to omit one."""
        with zipfile.ZipFile(self.path) as archive:
            found = json.loads(archive.read('manifest.json')) | values
        with zipfile.ZipFile(self.path, 'w') as archive:
            kept = {name: value for name, value in found.items() if value is not None}
            archive.writestr('manifest.json', json.dumps(kept))

    def test_what_was_written(self):
        self.assertEqual(self.manifest, snapshot_file.read(self.path))
        self.assertEqual(len(CONTENT), self.manifest.files['a/file']['size'])
        target = self.extract()
        self.assertEqual(CONTENT, target.read_bytes())
        for path in (self.path, target):
            self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        self.assertEqual({'a.snapshot', 'source', 'target'}, set(os.listdir(self.directory)))

    def test_files_from_a_time_that_zip_does_not_know(self):
        """As those of a machine without a clock, or of a reproducible image."""
        os.utime(self.source, (0, 0))
        self.assertEqual(self.manifest, self.write())
        self.assertEqual(CONTENT, self.extract().read_bytes())

    def test_a_target_that_cannot_be_written(self):
        """A directory that is missing; a full disk is alike. The snapshot is not to blame."""
        target = self.directory / 'no' / 'target'
        text = self.refused(
            snapshot_file.NotUnpacked, snapshot_file.extract, self.manifest, {'a/file': target}
        )
        self.assertIn(f'to {target}: [Errno 2]', text)

    def test_what_is_no_snapshot(self):
        os.unlink(self.path)
        self.assertIn('No such file', self.refused(snapshot_file.Unusable))
        pathlib.Path(self.path).write_bytes(b'text')
        self.assertIn('it is no snapshot', self.refused(snapshot_file.Unusable))
        with zipfile.ZipFile(self.path, 'w') as archive:
            archive.writestr('other', '')
        self.assertIn('it has no manifest.json', self.refused(snapshot_file.Unusable))

    def test_one_that_was_cut_short(self):
        content = pathlib.Path(self.path).read_bytes()
        pathlib.Path(self.path).write_bytes(content[: len(content) // 2])
        self.assertIn('not whole', self.refused(snapshot_file.Unusable))

    def test_every_damaged_byte(self):
        """No other content is extracted, and no error is unexpected."""
        content = pathlib.Path(self.path).read_bytes()
        # Also where the file names another method of compression.
        method = content.index(b'PK\x01\x02') + 10
        for place, mask in [(method, 4), *((at, 0x55) for at in range(0, len(content), 7))]:
            damaged = bytearray(content)
            damaged[place] ^= mask
            pathlib.Path(self.path).write_bytes(damaged)
            try:
                found = snapshot_file.read(self.path)
                snapshot_file.extract(self.path, found, {'a/file': self.directory / 'target'})
            except (snapshot_file.Unusable, snapshot_file.Damaged, snapshot_file.OtherFormat):
                continue
            self.assertEqual(CONTENT, (self.directory / 'target').read_bytes())

    def test_another_content(self):
        with zipfile.ZipFile(self.path, 'a') as archive:
            archive.writestr('b', 'x')
        (self.directory / 'b').write_text('kept')
        for size in (0, 1, 2):
            wrong = {'size': size, 'sha256': self.manifest.files['a/file']['sha256']}
            self.manifest.files['b'] = wrong
            text = self.refused(
                snapshot_file.Damaged,
                snapshot_file.extract,
                self.manifest,
                {'b': self.directory / 'b'},
            )
            self.assertIn('b has another content', text)
        self.assertEqual('kept', (self.directory / 'b').read_text())
        self.assertEqual({'a.snapshot', 'source', 'b'}, set(os.listdir(self.directory)))

    def test_one_that_would_fill_a_disk(self):
        with open(self.source, 'wb') as file:
            file.truncate(snapshot_file.LEAST_LIMIT + 1)
        self.write()
        self.assertIn('bytes', self.refused(snapshot_file.Damaged))

    def test_a_file_that_is_missing(self):
        targets = {'c': self.directory / 'c'}
        text = self.refused(snapshot_file.Damaged, snapshot_file.extract, self.manifest, targets)
        self.assertIn('it lacks c', text)

    def test_another_format(self):
        self.change(format=2, release='9.0')
        text = self.refused(snapshot_file.OtherFormat)
        self.assertIn('format 2; this release reads format 1. Use nova-lite 9.0', text)

    def test_a_manifest_with_what_is_no_number(self):
        for values in ({'taken_at': float('nan')}, {'settings': {**SETTINGS, 'speed': 1e999}}):
            self.write()
            self.change(**values)
            self.assertIn('manifest.json cannot be read', self.refused(snapshot_file.Damaged))

    def test_options(self):
        given = {'api': {'a': 'b $c', 'd': 1, 'e': True, 'f': ['g', 'h'], 'i': ''}}
        self.change(settings={**SETTINGS, 'options': given})
        self.assertEqual(given, snapshot_file.read(self.path).settings['options'])

    def test_a_wrong_manifest(self):
        for values in (
            {'settings': {**SETTINGS, 'cells': '../..'}},
            {'settings': {**SETTINGS, 'cells': 0}},
            {'settings': None},
            *({'settings': {**SETTINGS, 'options': options}} for options in ODD_OPTIONS),
            {'taken_at': 'now'},
            {'taken_at': 1e300},
            {'files': {'x': 'y'}},
            {'other': 1},
        ):
            self.write()
            self.change(**values)
            self.assertIn('manifest.json is wrong', self.refused(snapshot_file.Damaged), values)
