"""instance_build_timeout: builds that take too long end in ERROR, and leave nothing."""

import testtools

from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import clock
from tests.unit.conductor import base

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 100}}]"
ENDED = 'aborted: it took longer than instance_build_timeout (60 s)'


class LateBuildsTest(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        self.cell.conf.set_override('instance_build_timeout', 60)

    def test_young(self):
        _ctxt, uuid = self.server()
        self.clock.advance(59)
        self.conductor.audit()
        self.assertEqual(('building', 'scheduling', 'host-1'), self.cell.state(uuid))

    def test_whose_host_has_not_begun(self):
        _ctxt, uuid = self.server()
        self.clock.advance(61)
        self.conductor.audit()
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.assertIn(ENDED, self.cell.fault(uuid))

    def test_never_without_a_timeout(self):
        self.cell.conf.set_override('instance_build_timeout', 0)
        _ctxt, uuid = self.server()
        self.clock.advance(10**6)
        self.conductor.audit()
        self.assertEqual(('building', 'scheduling', 'host-1'), self.cell.state(uuid))

    def test_others(self):
        """A server without a host, and one that is being deleted, are not its business."""
        _ctxt, hostless = self.server(host=None)
        _ctxt, deleted = self.server(task_state='deleting')
        self.clock.advance(61)
        self.conductor._late_builds.run()
        self.assertEqual(('building', 'scheduling', None), self.cell.state(hostless))
        self.assertEqual(('building', 'deleting', 'host-1'), self.cell.state(deleted))


class SlowHostTest(testtools.TestCase):
    def test_its_guest_and_ports_go(self):
        now = self.useFixture(clock.ManualClock())
        slow = self.useFixture(cell.Cell(hosts=('host-1',), profile=profile.parse(SLOW)))
        slow.conf.set_override('instance_build_timeout', 60)
        before = slow.leftovers()
        uuid = slow.boot(networks=[{'network_id': 'net'}])
        now.advance(61)
        slow.conductor.audit()
        self.assertEqual(('error', None, 'host-1'), slow.state(uuid))
        now.advance(60)
        slow.run_dry()
        now.advance(61)
        slow.compute.audit()
        slow.run_dry()
        self.assertEqual(('error', None, None), slow.state(uuid))
        self.assertIn(ENDED, slow.fault(uuid))
        self.assertEqual(before, slow.leftovers())
