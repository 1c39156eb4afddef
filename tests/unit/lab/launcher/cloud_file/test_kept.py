"""A file that is given again: it may change behaviour, and neither remove hosts nor add objects."""

import json
import os

import fixtures
import testtools

from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import kept

FIRST = """
cells: [{hosts: 2}, {hosts: 1}]
speed: 1
flavors:
  - {name: small, vcpus: 1, ram: 512}
  - {name: large, vcpus: 8, ram: 512}
faults: {hosts_off: [cell1-host1]}
"""
# {text in the file: (text instead of it, line, texts of the message)}
OTHERS = (
    ('{hosts: 1}]', '{}]', None, ()),
    ('speed: 1', 'speed: 2', None, ()),
    ('hosts_off: [cell1-host1]', 'hosts_off: []', None, ()),
    ('{hosts: 2}', '{hosts: 1}', 2, ('cells[0].hosts: 1 host here, 2 hosts there',)),
    (', {hosts: 1}]', ']', 2, ('cells: 1 cell here, 2 cells there',)),
    ('vcpus: 8', 'vcpus: 4', 6, ('flavors[1].vcpus: 4 here, 8 there',)),
    ('name: small', 'name: tiny', 5, ('flavors[0].name: tiny here, small there',)),
    ('  - {name: large, vcpus: 8, ram: 512}\n', '', 4, ('flavors[1]: nothing here',)),
    ('speed: 1', 'defaults: false', 3, ('defaults: false here, nothing there',)),
)


class KeptTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path

    def document(self, text):
        return documents.parse('cloud.yaml', text)

    def start(self, text, *, done=True):
        """Record the start of a cloud with a file, or without one."""
        settings = layout.Settings(state_dir=self.directory, cells=2, hosts=(2, 1))
        shape.write(layout.Layout(settings))
        kept.write(settings, None if text is None else self.document(text), done=done)

    def require(self, text):
        return kept.require_same(self.directory, None if text is None else self.document(text))

    def test_a_new_cloud(self):
        self.assertFalse(self.require(FIRST))
        self.assertFalse(self.require(None))

    def test_another_file(self):
        self.start(FIRST)
        self.assertFalse(self.require(FIRST))
        self.assertFalse(self.require(None))
        for before, after, line, texts in OTHERS:
            text = FIRST.replace(before, after)
            self.assertNotEqual(FIRST, text)
            if line is None:
                self.assertFalse(self.require(text), after)
                continue
            error = str(self.assertRaises(kept.OtherCloud, self.require, text))
            ways_out = ('--fresh -f cloud.yaml', 'another --state-dir', self.directory)
            for part in (f'Line {line}, ', *texts, *ways_out):
                self.assertIn(part, error)

    def test_a_start_without_the_file_keeps_its_record(self):
        self.start(FIRST)
        self.start(None)
        self.assertFalse(self.require(FIRST))
        self.assertRaises(kept.OtherCloud, self.require, FIRST.replace('small', 'tiny'))

    def test_a_cloud_without_a_file(self):
        self.start(None)
        self.assertFalse(self.require('speed: 2'))
        error = str(self.assertRaises(kept.OtherCloud, self.require, FIRST))
        self.assertIn('which was started without a file', error)

    def test_a_first_start_that_was_interrupted(self):
        """The same or another file begins again; without a file the start is refused."""
        self.start(FIRST, done=False)
        self.assertTrue(self.require(FIRST))
        self.assertTrue(self.require('speed: 2'))
        error = str(self.assertRaises(kept.NotDone, self.require, None))
        self.assertIn('cloud.yaml', error)
        self.assertIn('--fresh', error)

    def test_a_spoiled_record(self):
        self.start(FIRST)
        with open(os.path.join(self.directory, kept.FILE)) as file:
            whole = json.load(file)
        missing = [{k: v for k, v in whole.items() if k != name} for name in whole]
        wrong = ({'settings': 1}, whole | {'done': 'no'}, whole | {'document': []}, *missing)
        for text in ('', '{', '[]', '{}', *map(json.dumps, wrong)):
            with open(os.path.join(self.directory, kept.FILE), 'w') as file:
                file.write(text)
            error = self.assertRaises(kept_files.Spoiled, self.require, FIRST)
            self.assertIn('--fresh', str(error))
