"""Actions of one step in the records of a cell."""

import logging

import fixtures

from nova_lite import exception
from nova_lite import metrics
from nova_lite.conductor import action_reports
from nova_lite.db.cell import instances
from tests.unit.conductor import base

EVENT = 'compute_stop_instance'
FAILURE = {'error': 'it broke', 'details': 'a traceback', 'changes': {'vm_state': 'error'}}


class TestActions(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server(vm_state='active', task_state=None, power_state=1)
        self.ctxt = self.cell.ask(self.uuid, 'stop', 'powering-off')

    def start(self, *, host='host-1', task_state=None, expect=('powering-off',)):
        self.conductor.action_started(
            self.ctxt, host, self.uuid, EVENT, task_state=task_state, expect_task=list(expect)
        )

    def finish(self, *, host='host-1', expect=('powering-off',), vm_state='stopped', more=()):
        return self.conductor.action_finished(
            self.ctxt,
            host,
            self.uuid,
            EVENT,
            changes={'vm_state': vm_state, 'power_state': 4, **dict(more)},
            expect_task=list(expect),
        )

    def fail(self, expect=('powering-off',), **changes):
        failure = {**FAILURE, 'changes': {**FAILURE['changes'], **changes}}
        return self.conductor.action_failed(
            self.ctxt, 'host-1', self.uuid, EVENT, expect_task=list(expect), failure=failure
        )

    def test_start(self):
        self.start()
        self.start()
        self.assertEqual([(EVENT, 'host-1', None)], self.cell.events(self.uuid))
        self.assertEqual('powering-off', self.cell.state(self.uuid)[1])

    def test_start_moves_the_task(self):
        self.start(task_state='deleting')
        self.assertEqual('deleting', self.cell.state(self.uuid)[1])

    def test_start_too_late(self):
        self.assertRaises(exception.StateChanged, self.start, expect=('powering-on',))
        self.assertRaises(exception.StateChanged, self.start, host='host-2')
        self.assertRaises(
            exception.StateChanged, self.start, expect=('pausing',), task_state='pausing'
        )
        self.assertEqual([], self.cell.events(self.uuid))

    def test_start_of_what_has_ended_in_the_task_of_a_newer_request(self):
        self.start()
        self.finish()
        self.cell.ask(self.uuid, 'stop', 'powering-off')
        self.assertRaises(exception.StateChanged, self.start)
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(self.uuid))
        self.assertEqual('powering-off', self.cell.state(self.uuid)[1])

    def test_image_in_the_task_of_a_newer_request(self):
        """The state was reset meanwhile, so that another image could be requested."""
        event, tasks = 'compute_snapshot_instance', ['image_snapshot_pending', 'image_snapshot']
        old = self.cell.ask(self.uuid, 'createImage', 'image_snapshot_pending')
        given = {'host': 'host-1', 'instance_uuid': self.uuid, 'event': event}
        given['expect_task'] = tasks
        self.conductor.action_started(old, **given, task_state='image_snapshot')
        new = self.cell.ask(self.uuid, 'createImage', 'image_snapshot_pending')
        start, failure = self.conductor.action_started, {**FAILURE, 'changes': {}}
        self.assertRaises(exception.StateChanged, start, old, **given, task_state=tasks[1])
        self.assertFalse(self.conductor.action_finished(old, **given, changes={}))
        self.assertFalse(self.conductor.action_failed(old, **given, failure=failure))
        self.assertEqual('image_snapshot_pending', self.cell.state(self.uuid)[1])
        start(new, **given, task_state='image_snapshot')
        self.assertTrue(self.conductor.action_finished(new, **given, changes={}))
        self.assertIsNone(self.cell.state(self.uuid)[1])

    def test_start_when_gone(self):
        self.change(self.uuid, deleted=True)
        self.assertRaises(exception.InstanceNotFound, self.start)

    def test_finish(self):
        self.start()
        self.assertTrue(self.finish())
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(self.uuid))

    def test_finish_again(self):
        self.start()
        self.finish()
        self.change(self.uuid, vm_state='active')
        self.assertFalse(self.finish())
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual(1, len(self.cell.events(self.uuid)))

    def test_finish_too_late(self):
        self.start()
        self.change(self.uuid, task_state='deleting')
        self.assertFalse(self.finish())
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(self.uuid))
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(self.uuid))

    def test_fail(self):
        self.start()
        self.assertTrue(self.fail())
        self.assertEqual(('error', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual('it broke', self.cell.fault(self.uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(self.uuid))

    def test_fail_too_late(self):
        self.start()
        self.change(self.uuid, task_state='deleting')
        self.assertFalse(self.fail())
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(self.uuid))
        self.assertIsNone(self.cell.fault(self.uuid))

    # ---- states that the table does not have ----

    def check_is_rejected(self, fault, report, *args, **options):
        """Report something; the action ends, and an operator is shown why."""
        log = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))
        counted = metrics.REJECTED.labels(event=EVENT)._value
        before = counted.get()
        report(*args, **options)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(self.uuid))
        self.assertIn(fault, self.cell.fault(self.uuid))
        self.assertIn(f'host host-1 reports of {EVENT}', log.output)
        self.assertIn(self.uuid, log.output)
        self.assertEqual(before + 1, counted.get())

    def test_finish_in_another_state(self):
        self.start()
        self.check_is_rejected('no transition leads there', self.finish, vm_state='shelved')
        self.assertEqual(4, self.cell.row(self.uuid).power_state)
        self.assertFalse(self.finish(vm_state='shelved'))
        self.assertEqual(1, len(self.cell.events(self.uuid)))

    def test_columns_that_no_host_reports(self):
        """Servers of a cell stay with their owners, even if its bus is taken over."""
        self.start()
        before = self.cell.row(self.uuid)
        for name in sorted({*before._fields} - action_reports.REPORTED):
            change = {name: 'evil'}
            for report, given in ((self.finish, {'more': change}), (self.fail, change)):
                refused = self.assertRaises(exception.Invalid, report, **given)
                self.assertIn(name, str(refused))
        self.assertEqual(before, self.cell.row(self.uuid))

    def test_fail_in_another_state(self):
        self.start()
        self.check_is_rejected('it broke', self.fail, vm_state='paused')

    def test_fail_of_a_task_without_a_row(self):
        """The API is of a newer release than this conductor."""
        self.change(self.uuid, task_state='resize_confirming')
        self.check_is_rejected('it broke', self.fail, ['resize_confirming'], vm_state='active')

    def test_late_report_of_another_state(self):
        self.start()
        self.change(self.uuid, task_state='deleting')
        self.assertFalse(self.finish(vm_state='shelved'))
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(self.uuid))

    # ---- deletion ----

    def test_delete(self):
        self.start()
        ctxt = self.cell.ask(self.uuid, 'delete', 'deleting')
        event = 'compute_terminate_instance'
        self.conductor.delete_started(ctxt, 'host-1', self.uuid, event)
        self.conductor.instance_deleted(ctxt, 'host-1', self.uuid, event)
        self.conductor.instance_deleted(ctxt, 'host-1', self.uuid, event)
        row = self.cell.row(self.uuid)
        self.assertEqual(
            (True, 'deleted', None, 0), (row.deleted, row.vm_state, row.task_state, row.power_state)
        )
        self.assertEqual(
            [(EVENT, 'host-1', 'Error'), (event, 'host-1', 'Success')],
            self.cell.events(self.uuid),
        )

    def test_delete_of_a_server_that_was_reset(self):
        """Its guest is gone, so the deletion that began is ended."""
        ctxt = self.cell.ask(self.uuid, 'delete', 'deleting')
        event = 'compute_terminate_instance'
        self.conductor.delete_started(ctxt, 'host-1', self.uuid, event)
        self.change(self.uuid, vm_state='active', task_state=None)
        self.conductor.instance_deleted(ctxt, 'host-1', self.uuid, event)
        self.assertTrue(self.cell.row(self.uuid).deleted)

    def test_delete_that_nobody_asked_for(self):
        """A host that takes over the bus of its cell deletes no record of a server in use."""
        self.assertRaises(
            exception.StateChanged,
            self.conductor.instance_deleted,
            self.ctxt,
            'host-1',
            self.uuid,
            'compute_terminate_instance',
        )
        self.assertFalse(self.cell.row(self.uuid).deleted)

    def test_delete_by_the_wrong_host(self):
        self.assertRaises(
            exception.StateChanged,
            self.conductor.instance_deleted,
            self.ctxt,
            'host-2',
            self.uuid,
            EVENT,
        )
        self.assertFalse(self.cell.row(self.uuid).deleted)

    def test_kept_ports(self):
        info = [
            {'id': 'made', 'preserve_on_delete': False},
            {'id': 'kept', 'preserve_on_delete': True},
        ]
        self.change(self.uuid, network_info=info, task_state='deleting')
        found = self.conductor.delete_started(self.ctxt, 'host-1', self.uuid, 'event')
        self.assertIn('kept', found['kept_ports'])
        self.assertNotIn('made', found['kept_ports'])

    def test_kept_ports_of_a_build(self):
        wanted = [{'port_id': 'kept'}, {'network_id': 'net'}]
        ctxt, uuid = self.server(networks=wanted, task_state='deleting')
        found = self.conductor.delete_started(ctxt, 'host-1', uuid, 'event')
        self.assertEqual(['kept'], found['kept_ports'])

    # ---- parts of the record ----

    def test_block_devices(self):
        device = {'source_type': 'blank', 'destination_type': 'volume'}
        ctxt, uuid = self.server(devices=[device, device])
        first, second = self.devices(ctxt, uuid)
        change = {'uuid': first.uuid, 'volume_id': 'volume'}
        self.conductor.update_block_devices(ctxt, 'host-1', uuid, [change], [second.uuid])
        left = self.devices(ctxt, uuid)
        self.assertEqual(['volume'], [device.volume_id for device in left])

    def test_block_devices_of_a_message_that_comes_late(self):
        """The host has finished, or another one builds the server."""
        device = {'source_type': 'blank', 'destination_type': 'volume'}
        for columns in ({'vm_state': 'active'}, {'host': 'host-2'}, {'deleted': True}):
            ctxt, uuid = self.server(devices=[device])
            (found,) = self.devices(ctxt, uuid)
            self.cell.db.write(instances.force, uuid, columns)
            change = {'uuid': found.uuid, 'volume_id': 'volume'}
            self.conductor.update_block_devices(ctxt, 'host-1', uuid, [change], [])
            (found,) = self.cell.devices(uuid)
            self.assertIsNone(found.volume_id)

    def devices(self, ctxt, uuid):
        return self.conductor.instance_records(ctxt, 'host-1', uuid)['block_devices']

    def test_records_of_another_host(self):
        self.assertRaises(
            exception.StateChanged,
            self.conductor.instance_records,
            self.ctxt,
            'host-2',
            self.uuid,
        )
