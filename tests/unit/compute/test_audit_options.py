"""Audits by options of nova.conf: when they compare power, what they do with strangers."""

import fixtures

from nova_lite import runtime
from nova_lite.compute import guest_work
from nova_lite.db.cell import instances
from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.unit.compute import auditing

MOVE = '66666666-6666-4666-8666-666666666666'


def _pause():
    yield guest_work.Pause(100)


class PowerTest(auditing.AuditTestCase):
    def restart_host(self):
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.clock.advance(1)
        hostpower.power_on(self.cell.guests_path, 'host-1')

    def test_guests_are_resumed_after_the_start_of_their_host(self):
        """Only those that ran, and at each start of the host anew."""
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        running, stopped = self.cell.boot(), self.cell.boot()
        self.stop(stopped)
        self.cell.compute.audit()
        for _ in range(2):
            self.restart_host()
            self.cell.compute.audit()
            self.cell.compute.audit()
            found = {uuid: guests[0][2] for uuid, guests in self.cell.guests().items()}
            self.assertEqual({running: 1, stopped: 4}, found)
            self.assertEqual(('active', None, 'host-1'), self.cell.state(running))
            self.assertEqual(('stopped', None, 'host-1'), self.cell.state(stopped))

    def test_guests_of_a_host_that_was_empty_are_not_resumed(self):
        """The first guest has shut itself down before an audit has seen it."""
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        self.cell.compute.audit()
        uuid = self.cell.boot()
        self.change_power(uuid, model.PowerAction.OFF)
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_guests_are_resumed_after_the_start_of_the_process(self):
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.cell.compute.audit()
        self.restart_host()
        self.cell.kill()
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())

    def test_guest_that_goes_off_later_is_not_resumed(self):
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.cell.compute.audit()
        self.change_power(uuid, model.PowerAction.OFF)
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_guest_of_a_server_with_a_task_is_resumed_after_that(self):
        """Its node counts as started at one audit only."""
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.cell.compute.audit()
        self.cell.db.write(instances.force, uuid, {'task_state': 'image_uploading'})
        self.restart_host()
        for _ in range(2):
            self.cell.compute.audit()
            self.assertEqual({uuid: [('host-1', 'resident', 4)]}, self.cell.guests())
        self.cell.db.write(instances.force, uuid, {'task_state': None})
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_guest_at_which_the_process_works_is_resumed_after_that(self):
        """After a start of the process, it first takes up the work that the end interrupted."""
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.cell.compute.audit()
        self.restart_host()
        self.cell.kill()
        self.cell.compute.site.jobs.run(('host-1', uuid), _pause())
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 4)]}, self.cell.guests())
        self.cell.run_dry()
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_server_gets_a_task_before_the_audit_resumes_its_guest(self):
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.restart_host()
        tasks = iter(['image_uploading', None])

        def change():
            self.cell.db.write(instances.force, uuid, {'task_state': next(tasks)})

        self.cell.lossy.meanwhile(
            'host_records', lambda: self.cell.lossy.meanwhile('host_records', change)
        )
        self.cell.compute.audit()
        change()
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_guest_is_resumed_although_the_conductor_was_not_heard(self):
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.restart_host()
        self.cell.lossy.lose('instance_records')
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 4)]}, self.cell.guests())
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_guest_that_cannot_be_resumed(self):
        """The next audit records that it is off."""
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.restart_host()
        failing = 'extends: instant\nfailures: [{verb: power_on}]'
        self.cell.driver.use_profile(profile.parse(failing))
        self.cell.compute.audit()
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_stopped_before_the_audit_resumes_it(self):
        self.cell.conf.set_override('resume_guests_state_on_host_boot', True)
        uuid = self.cell.boot()
        self.restart_host()
        self.cell.lossy.meanwhile(
            'host_records',
            lambda: self.cell.lossy.meanwhile('host_records', lambda: self.stop(uuid)),
        )
        self.cell.compute.audit()
        self.cell.run_dry()
        self.assertEqual({uuid: [('host-1', 'resident', 4)]}, self.cell.guests())

    def test_power_is_compared_by_its_interval(self):
        self.cell.conf.set_override('sync_power_state_interval', 100)
        uuid = self.cell.boot()
        self.cell.compute.audit()
        self.change_power(uuid, model.PowerAction.OFF)
        found = []
        for _ in range(2):
            self.clock.advance(60)
            self.cell.compute.audit()
            found.append(self.cell.row(uuid).vm_state)
        self.assertEqual(['active', 'stopped'], found)

    def test_power_is_never_compared(self):
        self.cell.conf.set_override('sync_power_state_interval', -1)
        uuid = self.cell.boot()
        self.change_power(uuid, model.PowerAction.OFF)
        self.cell.compute.audit()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))


class StrangersTest(auditing.AuditTestCase):
    def test_what_is_done_with_a_stranger(self):
        """running_deleted_instance_action"""
        for action, expected in {
            'reap': None,
            'shutdown': [('host-2', 'resident', 4)],
            'log': [('host-2', 'resident', 1)],
            'noop': [('host-2', 'resident', 1)],
        }.items():
            self.cell.conf.set_override('running_deleted_instance_action', action)
            uuid = self.stranger()
            with fixtures.FakeLogger() as logger:
                self.cell.compute.audit()
            self.assertEqual(expected, self.cell.guests().get(uuid), action)
            self.assertEqual(action != 'noop', uuid in logger.output, action)
            self.cell.compute.audit()
            self.assertEqual(expected, self.cell.guests().get(uuid), action)

    def test_what_a_move_has_left_always_goes(self):
        self.cell.conf.set_override('running_deleted_instance_action', 'noop')
        uuid = self.cell.boot()
        self.cell.driver.migrate_out('host-1', uuid, MOVE, key='leave')
        self.cell.db.write(instances.force, uuid, {'host': 'host-2', 'node': 'host-2'})
        self.cell.compute.audit()
        self.assertEqual({}, self.cell.guests())

    def test_strangers_are_sought_by_their_interval(self):
        """running_deleted_instance_poll_interval"""
        for interval_s, expected in {0: [1, 1, 1], 60: [0, 0, 0], 100: [0, 1, 0]}.items():
            self.cell.kill()
            self.cell.conf.set_override('running_deleted_instance_poll_interval', interval_s)
            found = []
            for _ in expected:
                self.stranger()
                self.cell.compute.audit()
                self.clock.advance(60)
                found.append(len(self.cell.guests()))
                for uuid in self.cell.guests():
                    self.cell.driver.destroy('host-2', uuid, key=runtime.new_uuid())
            self.assertEqual(expected, found, interval_s)
