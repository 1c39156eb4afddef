"""max_concurrent_builds: the builds of a host wait for each other."""

import testtools

from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import clock

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 10}}]"
WAITS, BUILDS, DONE = ('building', 'scheduling'), ('building', 'spawning'), ('active', None)


class BuildTurnsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(
            cell.Cell(hosts=('host-1', 'host-2'), profile=profile.parse(SLOW))
        )
        self.cell.conf.set_override('max_concurrent_builds', 2)

    def found(self, uuids):
        return [self.cell.state(uuid)[:2] for uuid in uuids]

    def advance(self, seconds):
        self.clock.advance(seconds)
        jobs = self.cell.compute.site.jobs
        jobs.wake_due()
        self.assertTrue(jobs.wait_quiet(10))

    def test_first_come_first_served(self):
        """A host's builds do not wait for those of another one."""
        uuids = [self.cell.boot() for _number in range(5)]
        other = self.cell.boot(('host-2',))
        self.assertEqual([BUILDS] * 2 + [WAITS] * 3, self.found(uuids))
        self.assertEqual([BUILDS], self.found([other]))
        self.advance(11)
        self.assertEqual([DONE] * 2 + [BUILDS] * 2 + [WAITS], self.found(uuids))
        self.advance(11)
        self.assertEqual([DONE] * 4 + [BUILDS], self.found(uuids))
        self.advance(11)
        self.assertEqual([DONE] * 6, self.found([*uuids, other]))

    def test_deleted_while_it_waits_or_builds(self):
        uuids = [self.cell.boot() for _number in range(5)]
        for uuid in (uuids[0], uuids[2]):
            self.cell.delete(uuid)
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        rest = [uuids[1], uuids[3], uuids[4]]
        self.assertEqual([BUILDS, BUILDS, WAITS], self.found(rest))
        self.advance(11)
        self.advance(11)
        self.assertEqual([DONE] * 3, self.found(rest))
        self.assertEqual(sorted(rest), sorted(self.cell.guests()))

    def test_failure_ends_a_turn(self):
        uuids = [self.cell.boot() for _number in range(3)]
        hostpower.power_off(self.cell.guests_path, 'host-1')
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.advance(11)
        self.assertEqual([('error', None)] * 2 + [BUILDS], self.found(uuids))

    def test_killed(self):
        """The next process builds all of them, two at a time."""
        uuids = [self.cell.boot() for _number in range(3)]
        self.cell.kill()
        self.cell.compute._resume.run(0)
        self.advance(11)
        self.advance(11)
        self.assertEqual([DONE] * 3, self.found(uuids))

    def test_no_limit(self):
        self.cell.conf.set_override('max_concurrent_builds', 0)
        uuids = [self.cell.boot() for _number in range(5)]
        self.assertEqual([BUILDS] * 5, self.found(uuids))
