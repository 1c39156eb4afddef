"""Jobs: keys, the clock, queues, failures, restarts."""

from nova_lite import exception
from nova_lite import states
from nova_lite.virt import model
from tests.unit.virt.sim import base

Power = states.PowerState
SLOW = """
extends: instant
hosts:
  - delays: {spawn: 10, power_off: 2, destroy: 4, hard_reboot: 6}
"""


class ClockTests(base.SimTestCase):
    def test_a_job_without_delay_is_done_at_once(self):
        made = self.hosts()
        result = self.assertDone(made.spawn('n1', base.guest_spec(), key='k'))
        self.assertEqual({'power_state': 1}, result)
        self.assertEqual({base.GUEST: 'n1'}, self.running())

    def test_the_clock_finishes_a_job(self):
        made = self.hosts(SLOW)
        job = made.spawn('n1', base.guest_spec(), key='k')
        self.assertEqual((model.JobState.RUNNING, 10.0, 0), (job.state, job.ready_in, job.progress))
        self.assertEqual(Power.NOSTATE, made.get_guest('n1', base.GUEST).power_state)
        self.clock.advance(4)
        job = made.poll(job.id)
        self.assertEqual((6.0, 40), (job.ready_in, job.progress))
        self.assertEqual([job], made.list_jobs('n1'))
        self.clock.advance(6)
        self.assertDone(made.poll(job.id))
        self.assertEqual([], made.list_jobs('n1'))

    def test_a_listing_settles_what_is_due(self):
        made = self.hosts(SLOW)
        made.spawn('n1', base.guest_spec(), key='k')
        self.clock.advance(11)
        self.assertEqual([Power.RUNNING], [guest.power_state for guest in made.list_guests('n1')])

    def test_speed_divides_delays(self):
        made = self.hosts(SLOW, speed=100)
        job = made.spawn('n1', base.guest_spec(), key='k')
        self.assertAlmostEqual(0.1, job.ready_in, places=5)
        self.assertRaises(exception.Invalid, self.hosts, speed=0)

    def test_random_delays_follow_from_the_seed_not_from_the_process(self):
        text = 'extends: instant\nhosts: [{delays: {spawn: {uniform: {low: 1, high: 9}}}}]'
        delays = {}
        for name in ('a', 'b'):
            delays[name] = []
            for index in range(4):
                made = self.hosts(text, name=name)
                job = made.spawn('n1', base.guest_spec(f'{name}{index}'), key='k')
                delays[name].append(job.ready_in)
        self.assertEqual(delays['a'], delays['b'])
        self.assertEqual(4, len(set(delays['a'])))


class KeyTests(base.SimTestCase):
    def test_the_same_key_is_the_same_job(self):
        made = self.hosts()
        first = made.spawn('n1', base.guest_spec(), key='saga/spawn')
        self.assertEqual(first, made.spawn('n1', base.guest_spec(), key='saga/spawn'))
        made.destroy('n1', base.GUEST, key='x')
        self.assertEqual(first, made.spawn('n1', base.guest_spec(), key='saga/spawn'))
        self.assertEqual([], made.list_guests('n1'))

    def test_another_node_verb_or_device_is_another_job(self):
        made = self.hosts()
        self.assertDone(made.spawn('n1', base.guest_spec(), key='k'))
        self.assertDone(made.change_power('n1', base.GUEST, model.PowerAction.OFF, key='k'))
        for name in ('v1', 'v2'):
            device = model.Device(model.DeviceKind.VOLUME, name)
            self.assertDone(made.attach('n1', base.GUEST, device, key='k'))
        self.assertEqual(
            ['port-1', 'v1', 'v2'],
            [device.id for device in made.get_guest('n1', base.GUEST).spec.devices],
        )
        self.assertDone(made.destroy('n2', base.GUEST, key='k'))
        self.assertEqual(1, len(made.list_guests('n1')))

    def test_another_process_finds_the_job(self):
        job = self.hosts(SLOW).spawn('n1', base.guest_spec(), key='k')
        again = self.hosts(SLOW)
        self.assertEqual(job.id, again.spawn('n1', base.guest_spec(), key='k').id)
        self.clock.advance(10)
        self.assertDone(again.spawn('n1', base.guest_spec(), key='k'))

    def test_unknown_nodes_jobs_and_guests(self):
        made = self.hosts()
        self.assertRaises(
            exception.ComputeNodeNotFound, made.spawn, 'n9', base.guest_spec(), key='k'
        )
        self.assertRaises(exception.NotFound, made.poll, '77')
        self.assertRaises(exception.GuestNotFound, made.get_guest, 'n1', base.GUEST)
        self.assertFailed(
            'GuestNotFound', made.change_power('n1', base.GUEST, model.PowerAction.ON, key='k')
        )


class QueueTests(base.SimTestCase):
    def test_effects_on_a_guest_follow_each_other(self):
        made = self.hosts(SLOW)
        made.spawn('n1', base.guest_spec(), key='k')
        off = made.change_power('n1', base.GUEST, model.PowerAction.OFF, key='k')
        self.assertEqual(12.0, off.ready_in)
        self.clock.advance(13)
        self.assertEqual(Power.SHUTDOWN, made.get_guest('n1', base.GUEST).power_state)

    def test_guests_do_not_wait_for_each_other(self):
        made = self.hosts(SLOW)
        made.spawn('n1', base.guest_spec('g1'), key='k')
        self.assertEqual(10.0, made.spawn('n1', base.guest_spec('g2'), key='k').ready_in)

    def test_destroy_interrupts(self):
        made = self.hosts(SLOW)
        spawn = made.spawn('n1', base.guest_spec(), key='k')
        self.assertEqual(4.0, made.destroy('n1', base.GUEST, key='k').ready_in)
        self.assertFailed('Interrupted', made.poll(spawn.id))
        self.clock.advance(20)
        self.assertEqual([], made.list_guests('n1'))


class FailureTests(base.SimTestCase):
    def hosts(self, rule, **options):
        return super().hosts(f'extends: instant\nfailures: [{{{rule}}}]', **options)

    def spawn(self, made, number):
        return made.spawn('n1', base.guest_spec(f'g{number}'), key='k').state

    def test_before_nothing_happens(self):
        made = self.hosts('verb: spawn, error: NoCapacity, message: full, reschedule: true')
        job = made.spawn('n1', base.guest_spec(), key='k')
        self.assertEqual(model.JobError('NoCapacity', 'full', True), job.error)
        self.assertEqual([], made.list_guests('n1'))

    def test_during_leaves_half_of_it_and_may_be_tried_again(self):
        made = self.hosts('verb: spawn, when: during, first: 1')
        self.assertFailed('DriverError', made.spawn('n1', base.guest_spec(), key='k'))
        self.assertEqual(Power.NOSTATE, made.get_guest('n1', base.GUEST).power_state)
        self.assertDone(made.spawn('n1', base.guest_spec(), key='k2'))

    def test_after_it_has_happened(self):
        made = self.hosts('verb: spawn, when: after')
        result = self.assertFailed('DriverError', made.spawn('n1', base.guest_spec(), key='k'))
        self.assertEqual({'power_state': 1}, result)
        self.assertEqual({base.GUEST: 'n1'}, self.running())

    def test_during_strikes_half_way(self):
        made = super().hosts(SLOW + 'failures: [{verb: spawn, when: during}]')
        self.assertEqual(5.0, made.spawn('n1', base.guest_spec(), key='k').ready_in)

    def test_first_and_nth_survive_a_restart_and_a_repeated_call(self):
        rule = 'verb: spawn, first: 2'
        self.assertEqual('failed', self.spawn(self.hosts(rule), 1))
        self.assertEqual('failed', self.spawn(self.hosts(rule), 1))
        self.assertEqual('failed', self.spawn(self.hosts(rule), 2))
        self.assertEqual('done', self.spawn(self.hosts(rule), 3))
        made = self.hosts('verb: spawn, nth: 2', name='b')
        self.assertEqual(
            ['done', 'failed', 'done'], [self.spawn(made, number) for number in range(3)]
        )

    def test_probability(self):
        made = self.hosts('verb: spawn, probability: 0.3')
        failed = [self.spawn(made, number) for number in range(200)].count('failed')
        self.assertTrue(35 < failed < 85, failed)

    def test_a_rule_is_for_some_guests(self):
        made = self.hosts("verb: power_off, match: {server: 'db*', host: n1}")
        for name in ('db1', 'web1'):
            made.spawn('n1', base.guest_spec(name, title=name), key='k')
        off = model.PowerAction.OFF
        self.assertFailed('DriverError', made.change_power('n1', 'db1', off, key='k'))
        self.assertDone(made.change_power('n1', 'web1', off, key='k'))

    def test_a_profile_is_replaced_while_jobs_run(self):
        made = super().hosts(SLOW)
        job = made.spawn('n1', base.guest_spec(), key='k')
        instant = super().hosts(name='other').profile
        made.use_profile(instant)
        self.assertEqual(10.0, made.poll(job.id).ready_in)
        self.assertDone(made.spawn('n1', base.guest_spec('g2'), key='k'))
        self.assertRaises(exception.Invalid, made.use_profile, 'no such profile')
        self.assertIs(instant, made.profile)
        made.use_profile('default')
        self.assertEqual('default', made.profile.source)
