"""Runs of Tempest, with programs that stand for its own."""

import pathlib

import fixtures
import testtools

from tests.tempest import runs

PROGRAMS = {
    'stestr': 'mkdir .stestr',
    'tempest': '[ -e .stestr.conf ] || echo "tempest.api.compute.Test.test_one[id-1]"; pwd',
}


class ListTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.programs = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, text in PROGRAMS.items():
            path = self.programs / name
            path.write_text(f'#!/bin/sh\n{text}\n')
            path.chmod(0o755)

    def test_after_a_run_with_another_environment(self):
        tempest = runs.Tempest(self.programs, self.directory)
        for _ in range(2):
            self.assertEqual(['tempest.api.compute.Test.test_one'], tempest.list('x'))
            (self.directory / '.stestr.conf').write_text('top_dir=/another/environment')
