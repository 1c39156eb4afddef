"""An embedded cloud that is not started: what it does with its clock."""

import types

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.compute import manager as compute_manager
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import embedded
from nova_lite.lab.launcher import layout
from nova_lite.lab.testclock import clock as clock_module
from nova_lite.lab.testclock import control

COMING_UP_S = 0.03


class Manager(compute_manager.ComputeManager):
    """Of hosts that report once time has passed."""

    def __init__(self):
        self.reports_at = runtime.monotonic() + COMING_UP_S

    @property
    def is_coming_up(self):
        return runtime.monotonic() < self.reports_at


class SaveTest(testtools.TestCase):
    def test_time_that_stands_still(self):
        """It passes until the hosts have reported, and stands still again."""
        clock = clock_module.Clock()
        self.enterContext(runtime.install(clock))
        directory = self.useFixture(fixtures.TempDir()).path
        cloud = embedded.EmbeddedCloud(layout.Settings(state_dir=directory, cells=1, hosts=1))
        cloud.clock = control.Control(clock)
        manager = Manager()
        cloud.daemons['compute-cell1'] = types.SimpleNamespace(manager=manager)
        cloud.clock.freeze()
        # It has no files.
        self.assertRaises(cloud_snapshots.NotWritten, cloud.snapshot, cloud.snapshots.path('kept'))
        self.assertFalse(manager.is_coming_up)
        self.assertTrue(cloud.clock.is_frozen)
