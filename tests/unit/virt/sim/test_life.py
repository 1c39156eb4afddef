"""A guest that stays where it is, and what its host says."""

from nova_lite import exception
from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import profile
from tests.unit.virt.sim import base

Power = states.PowerState
Action = model.PowerAction


class PowerTests(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.driver = self.hosts()
        self.number = 0

    def change(self, action, **options):
        self.number += 1
        return self.driver.change_power('n1', base.GUEST, action, key=f'k{self.number}', **options)

    def test_transitions(self):
        self.driver.spawn('n1', base.guest_spec(), key='k', power_on=False)
        # (action, power state afterwards or None where it is refused)
        for action, expected in (
            (Action.SOFT_REBOOT, None),
            (Action.PAUSE, None),
            (Action.RESUME, None),
            (Action.UNPAUSE, None),
            (Action.SUSPEND, None),
            (Action.OFF, Power.SHUTDOWN),
            (Action.ON, Power.RUNNING),
            (Action.ON, Power.RUNNING),
            (Action.SOFT_REBOOT, Power.RUNNING),
            (Action.PAUSE, Power.PAUSED),
            (Action.PAUSE, Power.PAUSED),
            (Action.SOFT_REBOOT, None),
            (Action.UNPAUSE, Power.RUNNING),
            (Action.SUSPEND, Power.SUSPENDED),
            (Action.UNPAUSE, None),
            (Action.RESUME, Power.RUNNING),
            (Action.RESCUE, Power.RUNNING),
            (Action.UNRESCUE, Power.RUNNING),
            (Action.HARD_REBOOT, Power.RUNNING),
            (Action.SUSPEND, Power.SUSPENDED),
            (Action.HARD_REBOOT, Power.RUNNING),
        ):
            job = self.change(action)
            if expected is None:
                self.assertFailed('InstanceInvalidState', job)
            else:
                self.assertEqual({'power_state': expected}, self.assertDone(job))
                guest = self.driver.get_guest('n1', base.GUEST)
                self.assertEqual(expected, guest.power_state)

    def trigger(self, what):
        self.driver = self.hosts(f'extends: instant\nhosts: [{{crash_dump: {what}}}]')
        self.driver.spawn('n1', base.guest_spec(), key='k')
        self.clock.advance(60)
        job = self.change(Action.TRIGGER_CRASH_DUMP)
        guest = self.driver.get_guest('n1', base.GUEST)
        self.assertEqual({'power_state': guest.power_state}, self.assertDone(job))
        return guest.power_state, self.driver.get_diagnostics('n1', base.GUEST)['uptime']

    def test_crash_dump_is_ignored(self):
        self.assertEqual((Power.RUNNING, 60), self.trigger('ignore'))

    def test_crash_dump_and_reboot(self):
        self.assertEqual((Power.RUNNING, 0), self.trigger('reboot'))

    def test_crash_dump_and_crash(self):
        self.assertEqual((Power.CRASHED, 0), self.trigger('crash'))
        self.assertFailed('InstanceInvalidState', self.change(Action.TRIGGER_CRASH_DUMP))
        self.assertDone(self.change(Action.ON))
        self.assertEqual(Power.RUNNING, self.driver.get_guest('n1', base.GUEST).power_state)

    def test_crash_dump_of_a_paused_guest(self):
        self.trigger('ignore')
        self.driver.use_profile(profile.parse('hosts: [{crash_dump: crash, delays: {"*": 0}}]'))
        self.change(Action.PAUSE)
        self.assertDone(self.change(Action.TRIGGER_CRASH_DUMP))
        self.assertEqual(Power.PAUSED, self.driver.get_guest('n1', base.GUEST).power_state)

    def test_rescue_boots_another_image(self):
        self.driver.spawn('n1', base.guest_spec(), key='k')
        self.change(Action.RESCUE, spec=base.guest_spec(image_id='rescue-disk'))
        self.assertTrue(self.driver.get_guest('n1', base.GUEST).rescued)
        self.assertIn('image rescue-disk', self.driver.get_console_output('n1', base.GUEST))
        self.change(Action.UNRESCUE)
        self.assertFalse(self.driver.get_guest('n1', base.GUEST).rescued)
        self.assertIn('image image-1', self.driver.get_console_output('n1', base.GUEST))

    def test_hard_reboot_makes_a_lost_guest_again(self):
        self.assertFailed('GuestNotFound', self.change(Action.HARD_REBOOT))
        self.assertDone(self.change(Action.HARD_REBOOT, spec=base.guest_spec()))
        self.assertDone(self.driver.destroy('n1', base.GUEST, key='k', keep_disks=True))
        self.assertEqual({}, self.running())
        self.assertDone(self.change(Action.HARD_REBOOT))
        self.assertEqual({base.GUEST: 'n1'}, self.running())

    def test_destroy_is_idempotent(self):
        self.assertEqual(
            {'destroyed': False}, self.assertDone(self.driver.destroy('n1', 'x', key='a'))
        )
        self.driver.spawn('n1', base.guest_spec(), key='k')
        self.assertEqual(
            {'destroyed': True}, self.assertDone(self.driver.destroy('n1', base.GUEST, key='b'))
        )
        self.assertEqual([], self.driver.list_guests('n1'))

    def test_a_guest_is_made_once(self):
        self.assertDone(self.driver.spawn('n1', base.guest_spec(), key='a'))
        self.assertFailed('GuestExists', self.driver.spawn('n1', base.guest_spec(), key='b'))


class DeviceTests(base.SimTestCase):
    def test_attach_and_detach(self):
        made = self.hosts()
        made.spawn('n1', base.guest_spec(), key='k')
        self.assertDone(made.attach('n1', base.GUEST, base.VOLUME, key='a'))
        self.assertDone(made.attach('n1', base.GUEST, base.VOLUME, key='b'))
        self.assertEqual((base.PORT, base.VOLUME), made.get_guest('n1', base.GUEST).spec.devices)
        for key, detached in (('a', True), ('b', False)):
            job = made.detach('n1', base.GUEST, base.VOLUME, key=key)
            self.assertEqual({'detached': detached}, self.assertDone(job))
        self.assertDone(made.detach('n1', base.GUEST, base.PORT, key='a'))
        self.assertEqual((), made.get_guest('n1', base.GUEST).spec.devices)
        self.assertDone(made.detach('n1', 'unknown', base.PORT, key='a'))
        self.assertFailed('GuestNotFound', made.attach('n1', 'unknown', base.PORT, key='a'))

    def test_snapshot(self):
        made = self.hosts('extends: instant\nhosts: [{snapshot_bytes: 70000}]')
        made.spawn('n1', base.guest_spec(), key='k')
        job = made.snapshot('n1', base.GUEST, key='s')
        self.assertEqual(
            {'size': 70000, 'disk_format': 'raw', 'container_format': 'bare'}, self.assertDone(job)
        )
        data = b''.join(made.read_snapshot(job.id))
        self.assertEqual(70000, len(data))
        self.assertIn(base.GUEST.encode(), data)
        other = made.destroy('n1', base.GUEST, key='d')
        self.assertRaises(exception.NotFound, made.read_snapshot, other.id)


class QuestionTests(base.SimTestCase):
    def test_facts(self):
        made = self.hosts("""
hosts:
  - {capacity: {vcpus: 8, memory_mb: 4096, disk_gb: 100}, reserved: {memory_mb: 128}}
  - match: n2
    architecture: aarch64
    address_bits: 48
    hypervisor: {type: KVM, version: 7000000}
    volume_types: [rbd]
    live_migration: {post_copy: true, auto_converge: true}
""")
        first, second = made.get_facts('n1'), made.get_facts('n2')
        self.assertEqual('n1', first.hypervisor_hostname)
        self.assertEqual(
            {'cells': 1, 'sockets': 2, 'cores': 2, 'threads': 2}, first.cpu_info['topology']
        )
        self.assertNotIn('maxphysaddr', first.cpu_info)
        self.assertEqual({'mode': 'emulate', 'bits': 48}, second.cpu_info['maxphysaddr'])
        self.assertEqual((('aarch64', 'kvm', 'hvm'),), second.supported_instances)
        self.assertIn('HW_CPU_X86_AVX2', first.traits)
        self.assertNotIn('HW_CPU_X86_AVX2', second.traits)
        for name in (
            'COMPUTE_ARCH_AARCH64',
            'COMPUTE_MIGRATE_POST_COPY',
            'COMPUTE_MIGRATE_AUTO_CONVERGE',
        ):
            self.assertIn(name, second.traits)
        self.assertEqual(
            {
                'VCPU': model.Inventory(8, None),
                'MEMORY_MB': model.Inventory(4096, 128),
                'DISK_GB': model.Inventory(100, None),
            },
            made.get_inventory('n1'),
        )
        self.assertNotEqual(first.host_ip, second.host_ip)
        self.assertEqual(first.host_ip, made.get_volume_connector('n1')['ip'])
        iscsi = {'driver_volume_type': 'iscsi'}
        self.assertEqual(
            (True, False),
            (made.can_connect_volume('n1', iscsi), made.can_connect_volume('n2', iscsi)),
        )

    def test_console_and_diagnostics_follow_the_clock(self):
        made = self.hosts()
        spec = base.guest_spec(devices=(base.PORT, base.VOLUME))
        made.spawn('n1', spec, key='k')
        self.assertNotIn('login', made.get_console_output('n1', base.GUEST))
        self.clock.advance(100)
        self.assertEqual('instance-00000001 login: ', made.get_console_output('n1', base.GUEST, 1))
        three = made.get_console_output('n1', base.GUEST, 3)
        self.assertEqual(3, len(three.split('\n')), three)
        self.assertEqual('', made.get_console_output('n1', base.GUEST, 0))
        found = made.get_diagnostics('n1', base.GUEST)
        self.assertEqual(
            ('running', 100, 1, 2, 1),
            tuple(found[key] for key in ('state', 'uptime', 'num_cpus', 'num_disks', 'num_nics')),
        )
        self.assertEqual('fa:16:3e:00:00:01', found['nic_details'][0]['mac_address'])
        made.change_power('n1', base.GUEST, Action.OFF, key='o')
        self.assertEqual('', made.get_console_output('n1', base.GUEST))


class ImageTests(base.SimTestCase):
    def test_kept_at_hand(self):
        """It takes its time once, and fails only while there is something to fetch."""
        made = self.hosts(
            """
            extends: instant
            hosts: [{delays: {cache_image: 10}}]
            failures: [{verb: cache_image, nth: 2}, {verb: cache_image, nth: 3}]
            """
        )
        job = made.cache_image('n1', 'image', key='a')
        self.assertEqual((model.JobState.RUNNING, 10.0), (job.state, job.ready_in))
        self.clock.advance(10)
        for _time in range(2):
            job = made.cache_image('n1', 'image', key='a')
            self.assertEqual({'fetched': True}, self.assertDone(job))
        self.assertFailed('DriverError', made.cache_image('n2', 'image', key='a'))
        for key in 'bc':
            job = made.cache_image('n1', 'image', key=key)
            self.assertEqual({'fetched': False}, self.assertDone(job))
