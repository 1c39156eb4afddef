"""Actions of one step: every row, in all the ways it may go."""

import testscenarios
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import power
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell

CONNECTOR = {'host': 'host-1'}
RUNNING, PAUSED, SHUTDOWN, SUSPENDED = 1, 3, 4, 7
# name: (actions before it, task the API sets, vm state and power state after it)
ROWS = {
    'start': (('stop',), 'powering-on', 'active', RUNNING),
    'stop': ((), 'powering-off', 'stopped', SHUTDOWN),
    'power_update_on': (('stop',), 'powering-on', 'active', RUNNING),
    'power_update_off': ((), 'powering-off', 'stopped', SHUTDOWN),
    'reboot_soft': ((), 'rebooting', 'active', RUNNING),
    'reboot_hard': (('stop',), 'rebooting_hard', 'active', RUNNING),
    'pause': ((), 'pausing', 'paused', PAUSED),
    'unpause': (('pause',), 'unpausing', 'active', RUNNING),
    'suspend': ((), 'suspending', 'suspended', SUSPENDED),
    'resume': (('suspend',), 'resuming', 'active', RUNNING),
    'rescue': ((), 'rescuing', 'rescued', RUNNING),
    'unrescue': (('rescue',), 'unrescuing', 'active', RUNNING),
    'soft_delete': ((), 'soft-deleting', 'soft-delete', SHUTDOWN),
    'restore': (('soft_delete',), 'restoring', 'active', RUNNING),
}


class Base(testtools.TestCase):
    profile = 'instant'

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1',), profile=self.profile))
        self.uuid = self.cell.boot()

    def ask(self, name):
        """Set the task as the API does; returns the context."""
        if not name.startswith('power_update_'):
            return self.cell.ask(self.uuid, name, ROWS[name][1])
        action = 'start' if name.endswith('_on') else 'stop'
        ctxt = self.cell.ask(self.uuid, action, ROWS[name][1])
        event = self.uuid, ctxt.request_id, 'compute_power_update'
        self.cell.db.write(actions.start_event, *event, host='host-1')
        return ctxt

    def send(self, name, ctxt):
        instance = self.cell.instance(self.uuid)
        if name.startswith('reboot_'):
            self.cell.compute.reboot_instance(
                ctxt, 'host-1', instance, name.removeprefix('reboot_').upper()
            )
        elif name.startswith('power_update_'):
            target = name.removeprefix('power_update_').upper()
            self.cell.compute.power_update(ctxt, 'host-1', instance, f'POWER_{target}')
        elif name == 'rescue':
            self.cell.image.add_image('image', status='active')
            self.cell.compute.rescue_instance(ctxt, 'host-1', instance, 'image')
        else:
            getattr(self.cell.compute, f'{name}_instance')(ctxt, 'host-1', instance)

    def act(self, name):
        ctxt = self.ask(name)
        self.send(name, ctxt)
        return ctxt

    def prepare(self, name):
        for earlier in ROWS[name][0]:
            self.act(earlier)

    def check(self, name):
        _before, _task, vm_state, power_state = ROWS[name]
        self.assertEqual((vm_state, None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual(power_state, self.cell.row(self.uuid).power_state)
        self.assertEqual({self.uuid: [('host-1', 'resident', power_state)]}, self.cell.guests())
        event = (power.ACTIONS[name].event, 'host-1', 'Success')
        self.assertEqual(1, self.cell.events(self.uuid).count(event))
        self.assertNotIn(None, [result for _event, _host, result in self.cell.events(self.uuid)])


class TestEveryAction(testscenarios.WithScenarios, Base):
    scenarios = [(name, {'name': name}) for name in ROWS]

    def test_works(self):
        self.prepare(self.name)
        self.act(self.name)
        self.check(self.name)

    def test_two_calls(self):
        self.prepare(self.name)
        self.cell.lossy.calls.clear()
        self.act(self.name)
        expected = ['action_started', 'action_finished']
        if self.name == 'reboot_hard':
            expected.insert(1, 'instance_records')
        self.assertEqual(expected, self.cell.lossy.calls)

    def test_repeated(self):
        self.prepare(self.name)
        ctxt = self.act(self.name)
        self.send(self.name, ctxt)
        self.check(self.name)

    def test_late(self):
        self.prepare(self.name)
        before = self.cell.state(self.uuid), self.cell.guests()
        ctxt = self.ask(self.name)
        self.cell.ask(self.uuid, 'delete', 'deleting')
        self.send(self.name, ctxt)
        self.assertEqual('deleting', self.cell.state(self.uuid)[1])
        self.assertEqual(before[1], self.cell.guests())

    def test_killed_before(self):
        self.prepare(self.name)
        self.ask(self.name)
        self.cell.kill()
        self.cell.compute._resume.run(0)
        self.check(self.name)

    def test_killed_after_the_effect(self):
        self.prepare(self.name)
        ctxt = self.ask(self.name)
        self.cell.lossy.lose('action_finished', times=1000)
        self.send(self.name, ctxt)
        self.assertEqual({('host-1', self.uuid)}, self.cell.compute.site.jobs.keys())
        self.cell.kill()
        self.cell.compute._resume.run(0)
        self.assertEqual(ROWS[self.name][2], self.cell.state(self.uuid)[0])
        self.assertIsNone(self.cell.state(self.uuid)[1])
        self.assertEqual(ROWS[self.name][3], self.cell.row(self.uuid).power_state)


class Failing(testscenarios.WithScenarios, Base):
    """The first use of an action's verb fails."""

    def setUp(self):
        verb = str(power.ACTIONS[self.name].power)
        self.profile = profile.parse(
            f'extends: instant\nfailures:\n  - {{verb: {verb}, first: 1, message: no way}}\n'
        )
        super().setUp()


class TestFailures(Failing):
    # Those that do something else are told apart below.
    scenarios = [
        (name, {'name': name}) for name in ROWS if name not in ('reboot_hard', 'soft_delete')
    ]

    def test_fails_and_works_again(self):
        self.prepare(self.name)
        before = self.cell.state(self.uuid)
        guests = self.cell.guests()
        self.act(self.name)
        vm_state, task_state, _host = self.cell.state(self.uuid)
        self.assertIsNone(task_state)
        self.assertIn(vm_state, (before[0], 'error'))
        self.assertEqual(guests, self.cell.guests())
        self.assertIn('no way', self.cell.fault(self.uuid))
        event = (power.ACTIONS[self.name].event, 'host-1', 'Error')
        self.assertIn(event, self.cell.events(self.uuid))
        self.act(self.name)
        self.check(self.name)


class TestFailedSoftDelete(Failing):
    scenarios = [('soft_delete', {'name': 'soft_delete'})]

    def check_is_kept(self, power_state):
        self.assertEqual(('soft-delete', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual(power_state, self.cell.row(self.uuid).power_state)
        event = ('compute_soft_delete_instance', 'host-1', 'Error')
        self.assertIn(event, self.cell.events(self.uuid))

    def test_is_deleted_all_the_same(self):
        """It was accepted, and counts in no quota any more: it must be reclaimed one day."""
        self.act('soft_delete')
        self.check_is_kept(RUNNING)
        self.act('restore')
        self.check('restore')

    def test_without_power(self):
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.act('soft_delete')
        self.check_is_kept(SHUTDOWN)

    def test_given_up_after_many_attempts(self):
        self.ask('soft_delete')
        self.cell.conductor.action_started = lambda *args, **kwargs: 1 / 0
        for _ in range(4):
            self.cell.compute._resume.run(0)
        self.check_is_kept(RUNNING)


class TestFailedReboots(Failing):
    scenarios = [(name, {'name': name}) for name in ROWS if name.startswith('reboot_')]

    def test_failed_reboot_of_a_running_guest(self):
        self.act(self.name)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))


class TestHardReboot(Base):
    def test_repairs_a_lost_guest(self):
        self.cell.driver.destroy('host-1', self.uuid, key='an accident')
        self.act('reboot_hard')
        self.check('reboot_hard')

    def test_guest_gets_the_devices_on_record(self):
        """They may have changed since the request: only what is the server's is plugged in."""
        kept, gone, coming, new = (self.device(name) for name in ('kept', 'gone', 'to-come', 'new'))
        coming['connection_info'] = None
        self.cell.db.write(children.create_block_devices, [kept, gone])
        ctxt = self.ask('reboot_hard')
        instance = self.cell.instance(self.uuid)
        self.cell.driver.destroy('host-1', self.uuid, key='an accident')
        self.cell.db.write(children.destroy_block_device, gone['uuid'])
        self.cell.db.write(children.create_block_devices, [coming, new])
        port = {'id': 'port', 'address': 'fa:16:3e:00:00:01'}
        self.cell.db.write(instances.update, self.uuid, {'network_info': [port]})
        self.cell.compute.reboot_instance(ctxt, 'host-1', instance, 'HARD')
        spec = self.cell.driver.get_guest('host-1', self.uuid).spec
        self.assertEqual(['kept', 'new', 'port'], [device.id for device in spec.devices])

    def test_root_disk_is_attached_again(self):
        """An administrator has deleted its attachment in the volume service."""
        self.root()
        self.cell.driver.destroy('host-1', self.uuid, key='an accident')
        self.act('reboot_hard')
        self.check_root('reboot_hard')
        (disk,) = self.cell.driver.get_guest('host-1', self.uuid).spec.devices
        self.assertEqual('root', disk.id)

    def test_root_disk_is_attached_again_in_a_soft_reboot(self):
        """The guest is off, so the reboot becomes a hard one."""
        self.act('stop')
        self.root()
        self.cell.db.write(instances.force, self.uuid, {'vm_state': 'active'})
        self.act('reboot_soft')
        self.check_root('reboot_soft')

    def test_root_disk_is_attached_again_once(self):
        """The host was killed before it recorded or completed the new attachment."""
        self.root()
        made = self.cell.volume.create_attachment(None, 'root', self.uuid, connector=CONNECTOR)
        self.act('reboot_hard')
        self.assertEqual(made['id'], self.check_root('reboot_hard'))

    def test_attachment_of_the_root_disk_fails_once(self):
        self.check_repeated('create_attachment', after=False)

    def test_attachment_of_the_root_disk_is_answered_late(self):
        self.check_repeated('create_attachment', after=True)

    def test_completion_of_the_attachment_fails_once(self):
        self.check_repeated('complete_attachment', after=False)

    def check_repeated(self, method, *, after):
        """Check a reboot one of whose calls is answered with 503, before or after its effect."""
        away = exception.Unavailable(service='volume', reason='503')
        self.root()
        self.cell.volume.fail(method, away, times=1, after=after)
        self.act('reboot_hard')
        self.cell.run_dry()
        self.check_root('reboot_hard')

    def test_attachment_of_the_root_disk_is_completed(self):
        root = self.root()
        made = self.cell.volume.create_attachment(None, 'root', self.uuid, connector=CONNECTOR)
        self.cell.db.write(
            children.update_block_device, root['uuid'], {'attachment_id': made['id']}
        )
        self.act('reboot_hard')
        self.assertEqual(made['id'], self.check_root('reboot_hard'))

    def test_root_disk_without_a_connection(self):
        """A revert that failed may leave one."""
        self.unconnected()
        self.act('reboot_hard')
        self.check_root('reboot_hard')

    def test_root_disk_that_is_being_written(self):
        """A rebuild that failed may leave one, with an unknown content."""
        for status in ('downloading', 'error'):
            root = self.unconnected()
            self.cell.volume.volumes['root'] = status
            self.check_refused(f"its status is '{status}'")
            self.cell.db.write(children.destroy_block_device, root['uuid'])

    def test_volume_service_does_not_answer(self):
        """The host uses the connection that it knows."""
        self.check_unknown(exception.Unavailable(service='volume', reason='it does not answer'))

    def test_volume_service_refuses(self):
        self.check_unknown(exception.NeighbourForbids(service='volume', reason='its policy'))

    def check_unknown(self, error):
        """Check a reboot whose host cannot read the attachments."""
        root = self.root()
        self.cell.volume.fail('list_attachments', error)
        self.act('reboot_hard')
        self.check('reboot_hard')
        (device,) = self.cell.devices(self.uuid)
        self.assertEqual(root['attachment_id'], device.attachment_id)

    def test_root_disk_of_another_server(self):
        self.root()
        used = exception.VolumeNotUsable(volume_id='root', reason='it is in use')
        self.cell.volume.fail('create_attachment', used)
        self.check_refused('it is in use')

    def root(self, **values):
        """Record a root disk. Return the block device."""
        self.cell.volume.add_volume('root')
        root = {**self.device('root'), 'boot_index': 0, **values}
        self.cell.db.write(children.create_block_devices, [root])
        return root

    def unconnected(self):
        """Record a root disk whose attachment connects no host. Return the block device."""
        made = self.cell.volume.create_attachment(None, 'root', self.uuid)
        return self.root(attachment_id=made['id'], connection_info=None)

    def check_root(self, name):
        """Check that the host is connected to the root disk. Return the id of the attachment."""
        self.check(name)
        (device,) = self.cell.devices(self.uuid)
        (listed,) = self.cell.volume.list_attachments(None, self.uuid)
        self.assertEqual((device.attachment_id, 'attached'), (listed['id'], listed['status']))
        return listed['id']

    def check_refused(self, reason):
        """The guest, which still runs, is kept."""
        self.act('reboot_hard')
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn(reason, self.cell.fault(self.uuid))

    def test_another_operation_has_begun(self):
        """An administrator has reset the task before the host read the records."""

        def reset():
            self.cell.db.write(instances.force, self.uuid, {'task_state': 'shelving_offloading'})
            self.cell.driver.destroy('host-1', self.uuid, key='the offload')

        self.cell.lossy.meanwhile('instance_records', reset)
        self.act('reboot_hard')
        self.assertEqual({}, self.cell.guests())
        self.assertEqual('shelving_offloading', self.cell.row(self.uuid).task_state)
        self.assertIn(('compute_reboot_instance', 'host-1', 'Error'), self.cell.events(self.uuid))

    def device(self, volume_id):
        return {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'delete_on_termination': False,
            'volume_id': volume_id,
            'attachment_id': f'attachment-of-{volume_id}'[:36],
            'connection_info': {'driver_volume_type': 'simulated'},
        }

    def test_stop_of_a_lost_guest(self):
        self.cell.driver.destroy('host-1', self.uuid, key='an accident')
        self.act('stop')
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn('not defined', self.cell.fault(self.uuid))
