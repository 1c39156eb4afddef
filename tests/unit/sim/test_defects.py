"""Defects that were mended can still be put back, where the code was mended."""

import os

import testtools

import nova_lite
from tests.sim.defects import table

ROOT = os.path.dirname(nova_lite.__file__)


class DefectsTestCase(testtools.TestCase):
    def test_each_can_be_put_back(self):
        for defect in table.DEFECTS:
            files = {}

            def read(file, files=files):
                if file not in files:
                    with open(os.path.join(ROOT, file)) as opened:
                        files[file] = opened.read()
                return files[file]

            table.put_back(defect, read, files.__setitem__)
            for file, text in files.items():
                compile(text, file, 'exec')

    def test_code_that_has_changed_is_named(self):
        error = self.assertRaises(
            ValueError, table.put_back, table.DEFECTS[0], lambda _file: '', None
        )
        self.assertIn('conductor/cell_hosts.py has 0 times: ', str(error))
