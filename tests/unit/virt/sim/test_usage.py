"""Usage of guests over time, as the profile says."""

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import facts
from nova_lite.virt.sim import profile
from nova_lite.virt.sim import usage
from tests.unit.virt.sim import base

DAY = usage.Curve((0.0, 100.0, 300.0), (0.0, 1.0, 0.5), every_s=400.0)
# Databases use more CPU from their tenth second on. All servers write in each other minute.
PROFILE = """
extends: instant
guests:
  - match: {}
    usage: {write_bytes_s: {every: 120, steps: [[0, 1000], [60, 0]]}, memory: 0.25}
  - match: {server: 'db-*'}
    usage: {cpu: {steps: [[0, 0.5], [10, 1.0]]}}
  - match: {server: 'db-*'}
    live_migration: {converges: false}
"""


class Counted(tuple):
    """The starts or values of steps. reads: number of steps that were read"""

    reads = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.reads += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self):
        for each in super().__iter__():
            self.reads += 1
            yield each


class CurveTests(base.SimTestCase):
    def test_values(self):
        self.assertEqual(
            [0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 1.0],
            [DAY.at(7.0, now) for now in (0, 99, 100, 299, 399, 400, 500)],
        )
        once = usage.Curve((0.0, 10.0), (0.5, 1.0))
        self.assertEqual([0.5, 0.5, 1.0, 1.0], [once.at(7.0, now) for now in (7, 16, 17, 10**6)])

    def test_totals_are_sums_of_values(self):
        once = usage.Curve(DAY.starts, DAY.values)
        for curve in (DAY, once, usage.Curve.flat(0.25)):
            for started, now in ((0, 1), (0, 400), (50, 450), (120, 125), (350, 1310), (7, 7)):
                steps = [curve.at(started, each + 0.5) for each in range(started, now)]
                self.assertAlmostEqual(sum(steps), curve.total(started, now))

    def test_many_cpus_and_questions_read_the_steps_once(self):
        number, questions = 1000, 20
        for every_s in (None, 2.0 * number):
            starts, values = Counted(map(float, range(number))), Counted([0.5] * number)
            used = usage.Usage(cpu=usage.Curve(starts, values, every_s))
            guest = model.Guest(
                base.GUEST,
                'n1',
                model.Role.RESIDENT,
                states.PowerState.RUNNING,
                base.guest_spec(vcpus=16),
                started_at=0.0,
            )
            for now in range(number, number + questions):
                found = facts.diagnostics(guest, 'QEMU', float(now), used)
                self.assertEqual(16, len(found['cpu_details']))
                self.assertEqual(now // 2, found['cpu_details'][15]['time'] // 10**9)
            self.assertLessEqual(starts.reads, number + questions * 50)
            self.assertLessEqual(values.reads, number + questions * 10)


class ProfileTests(base.SimTestCase):
    def refused(self, text):
        found = 'extends: instant\nguests: [{match: {}, usage: %s}]' % text
        return str(self.assertRaises(profile.ProfileError, profile.parse, found))

    def test_what_is_no_usage(self):
        for text, reason in (
            ('{gpu: 1}', "unknown key 'gpu'"),
            ('{cpu: 2}', 'must be a number between 0 and 1'),
            ('{cpu: {every: 60}}', "lacks 'steps'"),
            ('{cpu: {steps: []}}', 'must have 1 to 10000 steps'),
            ('{cpu: {steps: [[0, 1, 2]]}}', 'must be a pair: seconds and value'),
            ('{cpu: {steps: [[5, 1]]}}', 'the first step must begin at 0'),
            ('{cpu: {steps: [[0, 1], [9, 0], [9, 1]]}}', 'must begin one after the other'),
            ('{cpu: {every: 60, steps: [[0, 1], [60, 0]]}}', 'must begin before they are repeated'),
        ):
            self.assertIn(reason, self.refused(text))
        error = self.assertRaises(profile.ProfileError, profile.parse, 'guests: [{match: {}}]')
        self.assertIn('lacks one of: live_migration, usage', str(error))

    def test_guests_use_what_their_rules_say(self):
        made = self.hosts(PROFILE)
        for uuid, title in ((base.GUEST, 'db-1'), (base.MOVE, 'web-1')):
            made.spawn('n1', base.guest_spec(uuid, title=title, vcpus=2), key='k')
        self.clock.advance(30)
        database, web = (made.get_diagnostics('n1', uuid) for uuid in (base.GUEST, base.MOVE))
        for found, seconds, share in ((database, 10 * 0.5 + 20, 100), (web, 30 * 0.05, 5)):
            for cpu in found['cpu_details']:
                self.assertAlmostEqual(seconds, cpu['time'] / 1e9, delta=0.1)
                self.assertEqual(share, cpu['utilisation'])
            self.assertEqual({'maximum': 2048, 'used': 512}, found['memory_details'])
        before = web['disk_details'][0]['write_bytes']
        self.clock.advance(120)
        after = made.get_diagnostics('n1', base.MOVE)['disk_details'][0]['write_bytes']
        self.assertAlmostEqual(60_000, after - before, delta=10)

    def test_a_guest_that_is_off_uses_nothing(self):
        made = self.hosts(PROFILE)
        made.spawn('n1', base.guest_spec(), key='k')
        self.clock.advance(30)
        made.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o')
        found = made.get_diagnostics('n1', base.GUEST)
        self.assertEqual(0, found['memory_details']['used'])
        self.assertEqual([(0, 0)], [(e['time'], e['utilisation']) for e in found['cpu_details']])


class HotPlugTests(base.SimTestCase):
    """A device counts from when it was plugged in, also after a live migration."""

    def counters(self, made, node='n1'):
        found = made.get_diagnostics(node, base.GUEST)
        return (
            [disk['write_bytes'] for disk in found['disk_details']],
            [nic['rx_octets'] for nic in found['nic_details']],
        )

    def plug(self, made):
        second = model.Device(model.DeviceKind.INTERFACE, 'port-2', {})
        for device in (base.VOLUME, second):
            made.attach('n1', base.GUEST, device, key=f'attach/{device.id}')

    def assert_counted(self, disks_s, nics_s, counted):
        disks, nics = counted
        for seconds, found, rate in ((disks_s, disks, 8192), (nics_s, nics, 600)):
            self.assertEqual(len(seconds), len(found))
            for each, octets in zip(seconds, found, strict=True):
                self.assertAlmostEqual(each * rate, octets, delta=2)

    def test_devices_of_a_running_guest(self):
        made = self.hosts()
        made.spawn('n1', base.guest_spec(), key='k')
        self.clock.advance(100)
        self.plug(made)
        self.assert_counted([100, 0], [100, 0], self.counters(made))
        self.clock.advance(30)
        self.assert_counted([130, 30], [130, 30], self.counters(made))
        made.detach('n1', base.GUEST, base.VOLUME, key='d')
        made.attach('n1', base.GUEST, base.VOLUME, key='again')
        self.clock.advance(5)
        self.assert_counted([135, 5], [135, 35], self.counters(made))
        made.change_power('n1', base.GUEST, model.PowerAction.SOFT_REBOOT, key='r')
        self.clock.advance(2)
        self.assert_counted([2, 2], [2, 2], self.counters(made))

    def test_a_live_migration_keeps_them(self):
        made = self.hosts()
        made.spawn('n1', base.guest_spec(), key='k')
        self.clock.advance(100)
        self.plug(made)
        self.clock.advance(30)
        second = model.Device(model.DeviceKind.INTERFACE, 'port-2', {})
        spec = base.guest_spec(devices=(base.PORT, base.VOLUME, second))
        ticket = self.assertDone(made.pre_live_migration('n2', spec, base.MOVE, key='p'))['ticket']
        moved = made.live_migrate('n1', base.GUEST, base.MOVE, key='m', ticket=ticket)
        given = self.assertDone(moved)['handover']
        self.assertDone(made.post_live_migration('n2', base.GUEST, given, key='a'))
        self.clock.advance(10)
        self.assert_counted([140, 40], [140, 40], self.counters(made, 'n2'))
