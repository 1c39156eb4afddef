"""After a kill: builds and other work go on where the former process stopped."""

import functools
import logging

import fixtures
import testscenarios
import testtools

from nova_lite import exception
from nova_lite.compute import resume
from nova_lite.db.cell import instances
from nova_lite.db.cell import reset_builds
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import clock

EVENT = 'compute__do_build_and_run_instance'
IMAGE = '55555555-5555-4555-8555-555555555555'
VOLUME = '33333333-3333-4333-8333-333333333333'
PORT = '44444444-4444-4444-8444-444444444444'
NETWORKS = [{'network_id': 'net'}, {'port_id': PORT}]
DEVICES = (
    {
        'source_type': 'volume',
        'destination_type': 'volume',
        'volume_id': VOLUME,
        'volume_size': 1,
    },
    {
        'source_type': 'blank',
        'destination_type': 'volume',
        'volume_size': 1,
        'delete_on_termination': True,
    },
)


class Killed(BaseException):
    """The process ends here."""


class Base(testtools.TestCase):
    profile = 'instant'

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1', 'host-2'), profile=self.profile))
        self.cell.volume.add_volume(VOLUME)
        self.cell.network.add_port(PORT)

    def die_at(self, where, method, *, after):
        """The compute is killed at a call of a neighbour, a driver or the conductor."""
        target = getattr(self, where) if where == 'lossy' else getattr(self.cell, where)
        original = getattr(target, method)

        def die(*args, **kwargs):
            setattr(target, method, original)
            if after:
                original(*args, **kwargs)
            raise Killed()

        die.__name__ = method
        setattr(target, method, die)

    def restart(self):
        self.cell.kill()
        self.cell.compute._resume.run(0)

    def reset(self, uuid, state='active'):
        """Change a record as os-resetState does."""
        values = {'vm_state': state, 'task_state': None}
        values['build'] = reset_builds.arguments(self.cell.row(uuid))
        self.cell.db.write(instances.force, uuid, values)


class TestKilledBuild(testscenarios.WithScenarios, Base):
    scenarios = testscenarios.multiply_scenarios(
        [
            ('start', {'at': ('conductor', 'build_started')}),
            ('networks', {'at': ('network', 'allocate')}),
            ('create volume', {'at': ('volume', 'create')}),
            ('record volume', {'at': ('conductor', 'update_block_devices')}),
            ('attach', {'at': ('volume', 'create_attachment')}),
            ('spawn', {'at': ('driver', 'spawn')}),
            ('complete', {'at': ('volume', 'complete_attachment')}),
            ('finish', {'at': ('conductor', 'build_finished')}),
        ],
        [('before', {'after': False}), ('after', {'after': True})],
    )

    def kill_building(self, **options):
        where, method = self.at
        ctxt, uuid = self.cell.accept(networks=NETWORKS, devices=DEVICES, **options)
        self.die_at(where, method, after=self.after)
        self.assertRaises(Killed, self.cell.send, ctxt, uuid)
        return uuid

    def test_goes_on(self):
        uuid = self.kill_building()
        self.restart()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        left = self.cell.leftovers()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, left['guests'])
        self.assertEqual(2, len(left['ports']))
        self.assertEqual(2, len(left['volumes']))
        self.assertEqual(['host-1'] * 2, [host for _, _, host in left['attachments']])
        self.assertEqual(1, left['claims']['host-1']['VCPU'])
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_reset_meanwhile(self):
        """The build goes on, with its own ports and volumes, and the server keeps that state."""
        for state in ('active', 'error'):
            uuid = self.kill_building()
            self.reset(uuid, state)
            self.restart()
            self.assertEqual((state, None, 'host-1'), self.cell.state(uuid))
            row, left = self.cell.row(uuid), self.cell.leftovers()
            self.assertEqual([('host-1', 'resident', 1)], left['guests'][uuid])
            self.assertEqual((2, 'host-1'), (len(row.network_info), row.launched_on))
            self.assertIsNone(row.build)
            self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))
            self.cell.delete(uuid)

    def test_deleted_instead(self, resets=False):
        before = self.cell.leftovers()
        uuid = self.kill_building()
        self.cell.kill()
        if resets:
            self.reset(uuid)
        self.cell.delete(uuid)
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual(before, self.cell.leftovers())

    def test_reset_and_deleted_instead(self):
        self.test_deleted_instead(resets=True)


class TestLost(Base):
    def test_build_message(self):
        _ctxt, uuid = self.cell.accept(networks=NETWORKS, devices=DEVICES)
        self.cell.compute.audit()
        self.assertEqual(('building', 'scheduling', 'host-1'), self.cell.state(uuid))
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_reschedule_message(self):
        ctxt, uuid = self.cell.accept(['host-1', 'host-2'])
        limits = self.cell.compute.site.inventory.limits('host-1')
        self.cell.compute.site.claims.claim('host-1', 'another', limits, limits)
        self.cell.conductor.reschedule_build = lambda *args, **kwargs: None
        self.cell.send(ctxt, uuid)
        self.assertEqual(('building', 'spawning', 'host-1'), self.cell.state(uuid))
        del self.cell.conductor.reschedule_build
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))

    def test_reschedule_message_of_a_build_that_was_reset(self):
        ctxt, uuid = self.cell.accept(['host-1', 'host-2'])
        self.cell.conductor.reschedule_build = lambda *args, **kwargs: None
        limits = self.cell.compute.site.inventory.limits('host-1')
        self.cell.compute.site.claims.claim('host-1', 'another', limits, limits)
        self.cell.send(ctxt, uuid)
        del self.cell.conductor.reschedule_build
        self.reset(uuid)
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))
        self.assertEqual([('host-2', 'resident', 1)], self.cell.guests()[uuid])

    def test_reset_twice_and_stopped(self):
        """The task waits until the build has ended."""
        _ctxt, uuid = self.cell.accept(networks=NETWORKS, devices=DEVICES)
        for state in ('error', 'active'):
            self.reset(uuid, state)
        self.cell.ask(uuid, 'stop', 'powering-off')
        self.restart()
        self.assertEqual(('active', 'powering-off', 'host-1'), self.cell.state(uuid))
        self.cell.compute._resume.run(0)
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_build_without_its_arguments(self):
        _ctxt, uuid = self.cell.accept(build=None)
        self.cell.compute._resume.run(0)
        self.assertEqual('error', self.cell.state(uuid)[0])
        self.assertIn('the arguments of the build are missing', self.cell.fault(uuid))

    def fail_build(self):
        """The answer about an attachment is lost; then the volume service stops answering."""
        away = exception.Unavailable(service='volume', reason='test')
        self.cell.volume.fail('create_attachment', away, times=1, after=True)
        self.cell.volume.fail('delete_attachment', away, times=2)
        uuid = self.cell.boot(networks=NETWORKS, devices=DEVICES)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(1, len(self.cell.leftovers()['attachments']))
        return uuid

    def test_what_a_failed_build_has_left(self):
        before = self.cell.leftovers()
        uuid = self.fail_build()
        fault = self.cell.fault(uuid)
        self.cell.compute._resume.run(0)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.cell.lossy.lose('build_cleared', after=True)
        self.cell.compute._resume.run(0)
        self.cell.run_dry()
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertEqual(before, self.cell.leftovers())
        self.assertEqual(fault, self.cell.fault(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))

    def test_failed_build_is_deleted_while_it_is_cleared(self):
        before = self.cell.leftovers()
        uuid = self.fail_build()
        log = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))
        delete = functools.partial(self.cell.ask, uuid, 'delete', 'deleting')
        self.cell.lossy.meanwhile('build_cleared', delete)
        for _ in range(3):
            self.cell.compute._resume.run(0)
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual(before, self.cell.leftovers())
        self.assertEqual('', log.output)

    def test_failed_build_that_was_given_another_state_is_left_alone(self):
        """An administrator does it after the host has read what is to be cleared."""
        uuid = self.fail_build()
        left = self.cell.leftovers()
        change = {'vm_state': 'active', 'build': None}
        reset = functools.partial(self.cell.db.write, instances.force, uuid, change)
        self.cell.lossy.meanwhile('build_is_over', reset)
        self.cell.compute._resume.run(0)
        self.assertEqual(left, self.cell.leftovers())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_deletion(self):
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'delete', 'deleting')
        self.restart()
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual({}, self.cell.guests())

    def test_snapshot(self):
        uuid = self.cell.boot()
        self.cell.image.add_image(IMAGE, image_type='snapshot', instance_uuid=uuid)
        self.cell.image.add_image('another')
        self.cell.ask(uuid, 'createImage', 'image_uploading')
        self.restart()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertIn('interrupted', self.cell.fault(uuid))
        self.assertEqual(['another'], list(self.cell.image.images))

    def test_work_of_sagas_is_left_alone(self):
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'resize', 'resize_prep')
        self.restart()
        self.assertEqual(('active', 'resize_prep', 'host-1'), self.cell.state(uuid))

    def test_a_deletion_is_not_given_up(self):
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'delete', 'deleting')
        ended, self.cell.conductor.instance_deleted = (
            self.cell.conductor.instance_deleted,
            lambda *args, **kwargs: 1 / 0,
        )
        for _ in range(5):
            self.cell.compute._resume.run(0)
            self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))
        self.cell.conductor.instance_deleted = ended
        for _ in range(resume.EACH):
            self.cell.compute._resume.run(0)
        self.assertTrue(self.cell.row(uuid).deleted)

    def test_a_node_without_power_is_left_alone(self):
        """It may be one of many of its host; what is asked of it waits, and is not given up."""
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'stop', 'powering-off')
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.cell.compute.site.up_hosts = lambda: ['host-1', 'host-2']
        for _ in range(5):
            self.cell.compute._resume.run(0)
        self.assertEqual(('active', 'powering-off', 'host-1'), self.cell.state(uuid))
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.cell.compute._resume.run(0)
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_gives_up_in_the_end(self):
        uuid = self.cell.boot()
        self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.conductor.action_finished = lambda *args, **kwargs: 1 / 0
        for _ in range(3):
            self.cell.compute._resume.run(0)
            self.assertEqual('powering-off', self.cell.state(uuid)[1])
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertIn('could not be finished in 3 attempts', self.cell.fault(uuid))

    def test_gives_up_an_action_on_a_rescued_guest(self):
        """Of a server in error after an unrescue that failed: it stays so."""
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'rescue', 'rescuing')
        self.cell.compute.rescue_instance(ctxt, 'host-1', self.cell.instance(uuid), 'image')
        self.cell.db.write(instances.force, uuid, {'vm_state': 'error'})
        self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.conductor.action_finished = lambda *args, **kwargs: 1 / 0
        for _ in range(4):
            self.cell.compute._resume.run(0)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))


class TestRunningJob(Base):
    profile = profile.parse('extends: instant\nhosts:\n  - {delays: {spawn: 10}}\n')

    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()

    def test_job_goes_on_meanwhile(self):
        uuid = self.cell.boot()
        self.clock.advance(6)
        self.restart()
        self.assertEqual('spawning', self.cell.state(uuid)[1])
        self.clock.advance(4)
        self.cell.compute.site.jobs.wake_due()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_work_under_way_is_left_alone(self):
        uuid = self.cell.boot()
        self.clock.advance(1)
        calls = len(self.cell.lossy.calls)
        self.cell.compute._resume.run(0)
        self.assertEqual(['unfinished'], self.cell.lossy.calls[calls:])
        self.assertEqual('spawning', self.cell.state(uuid)[1])


class TestLateRequest(Base):
    """A port was asked for by a process that was killed, and is made after another began."""

    profile = 'instant'

    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()
        self.cell.conf.set_override('late_requests_s', 60, group='compute')

    def build(self, **options):
        self.die_at('network', 'allocate', after=False)
        ctxt, uuid = self.cell.accept(**options)
        self.assertRaises(Killed, self.cell.send, ctxt, uuid)
        self.restart()
        return uuid

    def go_on(self, seconds):
        self.clock.advance(seconds)
        self.cell.compute.site.jobs.wake_due()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))

    def test_makes_no_second_port(self):
        uuid = self.build(networks=[{'network_id': 'net'}])
        self.assertEqual(('building', 'spawning', 'host-1'), self.cell.state(uuid))
        self.go_on(59)
        owner = self.cell.instance(uuid)
        self.cell.network.allocate(None, owner, [{'network_id': 'net'}], host='host-1')
        self.assertEqual('building', self.cell.state(uuid)[0])
        self.go_on(1)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(1, len(self.cell.leftovers()['ports']) - 1)

    def test_waits_for_nothing_it_would_not_make(self):
        ctxt, uuid = self.cell.accept()
        self.cell.lossy.lose('build_started', after=True)
        self.restart()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_has_waited_long_enough(self):
        self.cell.kill()
        self.clock.advance(60)
        ctxt, uuid = self.cell.accept(networks=[{'network_id': 'net'}])
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
