"""Jobs while the wall clock is set, and across a boot of the machine."""

import datetime

from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import census
from nova_lite.virt.sim import hostpower
from tests.fixtures import clock
from tests.unit.virt.sim import base

DAY = 86400
SLOW = """
extends: instant
hosts:
  - delays: {spawn: 10, power_off: 6}
    live_migration: {bandwidth_mb_s: 100, dirty_rate_mb_s: 0}
"""


class SetRuntime(clock.ManualRuntime):
    """A machine whose wall clock was set forward by `set_s`, booted `booted_s` after 1970."""

    set_s = booted_s = 0

    def now(self):
        return self.current + datetime.timedelta(seconds=self.set_s)

    def boottime(self):
        return self.current.timestamp() - self.booted_s

    def reboot(self, seconds, boot):
        """Simulate a restart of the machine, which is off for `seconds`."""
        self.advance(seconds)
        self.booted_s, self.boot = self.current.timestamp(), boot


class TestClock(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(SetRuntime())).runtime

    def spawn(self, made, number=1):
        return made.spawn('n1', base.guest_spec(f'guest-{number}'), key='k')

    def test_a_wall_clock_that_is_set(self):
        made = self.hosts(SLOW)
        for number, set_s in enumerate((DAY, -DAY), 1):
            job = self.spawn(made, number)
            self.clock.advance(4)
            self.clock.set_s += set_s
            for opened in (made, self.hosts(SLOW)):
                found = opened.poll(job.id)
                self.assertEqual(model.JobState.RUNNING, found.state)
                self.assertAlmostEqual(6, found.ready_in)
                self.assertEqual(40, found.progress)
            self.clock.advance(6.001)
            self.assertDone(made.poll(job.id))

    def test_a_job_behind_another(self):
        made = self.hosts(SLOW)
        self.spawn(made)
        self.clock.set_s -= DAY
        off = made.change_power('n1', 'guest-1', model.PowerAction.OFF, key='k')
        self.assertAlmostEqual(16, off.ready_in)
        self.clock.set_s += 2 * DAY
        self.assertAlmostEqual(16, made.poll(off.id).ready_in)

    def test_a_live_migration(self):
        made = self.hosts(SLOW)
        spec = base.guest_spec(disk_gb=0, memory_mb=1000)
        made.spawn('n1', spec, key='k')
        self.clock.advance(11)
        found = made.pre_live_migration('n2', spec, base.MOVE, key='k')
        ticket = self.assertDone(found)['ticket']
        copy = made.live_migrate('n1', base.GUEST, base.MOVE, key='k', ticket=ticket)
        self.clock.advance(5)
        for set_s in (DAY, -2 * DAY):
            self.clock.set_s += set_s
            found = made.poll(copy.id)
            self.assertEqual(model.JobState.RUNNING, found.state)
            self.assertAlmostEqual(5, found.result['elapsed'], places=3)
        self.clock.advance(6)
        handover = self.assertDone(made.poll(copy.id))['handover']
        made.post_live_migration('n2', base.GUEST, handover, key='k')
        uptime = made.get_diagnostics('n2', base.GUEST)['uptime']
        self.assertIn(uptime, (10, 11, 12))

    def test_hosts_whose_files_are_of_other_days(self):
        """A guest keeps its uptime between files whose clocks show other times."""
        source = self.hosts(SLOW)
        self.clock.set_s += DAY
        target = self.hosts(SLOW, name='b', nodes=('n3',))
        spec = base.guest_spec(disk_gb=0, memory_mb=1000)
        source.spawn('n1', spec, key='k')
        self.clock.advance(100)
        ticket = target.pre_live_migration('n3', spec, base.MOVE, key='k').result['ticket']
        copy = source.live_migrate('n1', base.GUEST, base.MOVE, key='k', ticket=ticket)
        self.clock.advance(20)
        handover = self.assertDone(source.poll(copy.id))['handover']
        self.assertDone(target.post_live_migration('n3', base.GUEST, handover, key='k'))
        self.assertAlmostEqual(100, target.get_diagnostics('n3', base.GUEST)['uptime'], delta=12)

    def test_when_a_guest_was_changed(self):
        made = self.hosts(SLOW)
        self.spawn(made)
        self.clock.set_s += DAY

        def changed_s():
            (row,) = census.guests(self.path('a'))
            return row.changed_at and (runtime.naive_now() - row.changed_at).total_seconds()

        self.assertIsNone(changed_s())
        self.clock.advance(30)
        made.list_guests('n1')
        self.assertAlmostEqual(20, changed_s(), places=3)
        hostpower.power_off(self.path('a'), 'n1')
        self.clock.advance(7)
        self.assertAlmostEqual(7, changed_s(), places=3)

    def test_a_machine_that_was_off(self):
        made = self.hosts(SLOW)
        job = self.spawn(made)
        self.clock.advance(2)
        self.clock.reboot(4, 'boot-2')
        again = self.hosts(SLOW)
        self.assertAlmostEqual(4, again.poll(job.id).ready_in, places=3)
        self.clock.advance(4.001)
        self.assertDone(again.poll(job.id))

    def test_a_machine_whose_clock_went_back_while_it_was_off(self):
        made = self.hosts(SLOW)
        job = self.spawn(made)
        self.clock.advance(2)
        self.clock.set_s -= DAY
        self.clock.reboot(4, 'boot-2')
        again = self.hosts(SLOW)
        self.assertAlmostEqual(10, again.poll(job.id).ready_in, places=3)
        self.clock.advance(10.001)
        self.assertDone(again.poll(job.id))
