"""The clock of a cloud in its state directory."""

import os

import fixtures
import testtools

from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import state_dir


class ClocksTest(testtools.TestCase):
    def test_spoiled_files(self):
        for content in ('', 'x', '[]', '{"ahead_s": "1"}', '{"ahead_s": null}'):
            directory = self.useFixture(fixtures.TempDir()).path
            with open(os.path.join(directory, state_dir.CLOCK), 'w') as file:
                file.write(content)
            self.assertRaises(kept_files.Spoiled, clocks.ahead_s, directory)

    def test_it_is_written_when_it_changes(self):
        """A reset, which resumes it, is not stopped by a full disk."""
        directory = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(directory, state_dir.CLOCK)
        with clocks.installed(directory) as control:
            control.resume()
            self.assertFalse(os.path.exists(path))
            control.freeze()
            control.resume()
            self.assertLess(clocks.ahead_s(directory), 0)
            os.unlink(path)
            control.resume()
            self.assertFalse(os.path.exists(path))
