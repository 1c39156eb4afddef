"""Beginnings and ends of builds in the records of a cell."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import network_info
from tests.unit.conductor import base

GROUP = '99999999-9999-4999-8999-999999999999'
MOVE = '88888888-8888-4888-8888-888888888888'
EVENT = 'compute__do_build_and_run_instance'
FAILURE = {'error': 'it broke', 'details': 'a traceback'}


class Base(base.CellConductorTestCase):
    def start(self, ctxt, uuid, *, host='host-1', group=None):
        return self.conductor.build_started(ctxt, host, uuid, host, group)

    def finish(self, ctxt, uuid, *, host='host-1', devices=()):
        return self.conductor.build_finished(
            ctxt,
            host,
            uuid,
            network_info=[{'id': 'port'}],
            block_devices=list(devices),
            power_state=1,
        )

    def fail(self, ctxt, uuid, *, host='host-1', keep_host=False):
        return self.conductor.build_failed(ctxt, host, uuid, FAILURE, keep_host)


class TestStart(Base):
    def test_begins(self):
        ctxt, uuid = self.server()
        self.assertTrue(self.start(ctxt, uuid))
        self.assertEqual(('building', 'spawning', 'host-1'), self.cell.state(uuid))
        self.assertEqual([(EVENT, 'host-1', None)], self.cell.events(uuid))

    def test_again(self):
        ctxt, uuid = self.server()
        self.assertEqual('first', self.start(ctxt, uuid))
        self.assertEqual('again', self.start(ctxt, uuid))
        self.assertEqual(1, len(self.cell.events(uuid)))

    def test_gone(self):
        for columns in ({'deleted': True}, {'task_state': 'deleting'}):
            ctxt, uuid = self.server(**columns)
            self.assertFalse(self.start(ctxt, uuid))
            self.assertEqual([], self.cell.events(uuid))

    def test_unknown(self):
        self.assertFalse(self.start(self.context(), '77777777-7777-4777-8777-777777777777'))

    def test_not_this_hosts(self):
        ctxt, uuid = self.server()
        self.assertRaises(exception.StateChanged, self.start, ctxt, uuid, host='host-2')
        self.assertEqual(('building', 'scheduling', 'host-1'), self.cell.state(uuid))

    def test_over(self):
        ctxt, uuid = self.server(vm_state='active', task_state=None)
        self.assertRaises(exception.StateChanged, self.start, ctxt, uuid)


class TestGroup(testscenarios.WithScenarios, Base):
    """The first to start on a host wins; others go by the policy."""

    scenarios = [
        ('anti-affinity, same host', {'policy': 'anti-affinity', 'host': 'host-1', 'ok': False}),
        ('anti-affinity, other host', {'policy': 'anti-affinity', 'host': 'host-2', 'ok': True}),
        ('affinity, same host', {'policy': 'affinity', 'host': 'host-1', 'ok': True}),
        ('affinity, other host', {'policy': 'affinity', 'host': 'host-2', 'ok': False}),
        ('soft, same host', {'policy': 'soft-anti-affinity', 'host': 'host-1', 'ok': True}),
        ('soft, other host', {'policy': 'soft-affinity', 'host': 'host-2', 'ok': True}),
    ]

    def group(self, **rules):
        return {'uuid': GROUP, 'policy': self.policy, 'rules': rules}

    def member(self, host, **columns):
        return self.server([host], group_uuid=GROUP, **columns)

    def goes(self, allowed, ctxt, uuid, *, group=None):
        """The second member begins on its host, or is refused there."""
        group = group or self.group()
        if allowed:
            self.assertTrue(self.start(ctxt, uuid, host=self.host, group=group))
            return
        self.assertRaises(
            exception.GroupPolicyViolated, self.start, ctxt, uuid, host=self.host, group=group
        )
        self.assertEqual('scheduling', self.cell.state(uuid)[1])

    def test_second_member(self):
        """It may have been accepted before or after the first."""
        ctxt, uuid = self.member(self.host)
        first_ctxt, first = self.member('host-1')
        self.assertTrue(self.start(first_ctxt, first, group=self.group()))
        self.goes(self.ok, ctxt, uuid)

    def test_two_per_host_allowed(self):
        first_ctxt, first = self.member('host-1')
        ctxt, uuid = self.member('host-1')
        group = self.group(max_server_per_host=2)
        self.start(first_ctxt, first, group=group)
        self.assertTrue(self.start(ctxt, uuid, group=group))

    def test_deleted_members_do_not_count(self):
        self.member('host-1', task_state=None, deleted=True)
        self.goes(True, *self.member(self.host))

    def test_a_hidden_record_counts(self):
        """Of a member that another cell has, and that may be reverted."""
        self.member('host-1', vm_state='active', task_state=None, hidden=True)
        self.goes(self.ok, *self.member(self.host))

    def test_destinations_of_open_moves_count(self):
        _ctxt, moving = self.member('host-3', vm_state='active', task_state='migrating')
        ctxt, uuid = self.member(self.host)
        move = {
            'uuid': MOVE,
            'instance_uuid': moving,
            'migration_type': 'live-migration',
            'status': 'accepted',
            'source_compute': 'host-3',
            'dest_compute': 'host-1',
        }
        self.cell.db.write(migrations.create, move)
        self.goes(self.ok, ctxt, uuid)

    def test_requested_destinations_do_not_count_before_they_are_chosen(self):
        """Otherwise two members that are evacuated to one host would refuse each other."""
        _ctxt, moving = self.member('host-3', vm_state='active', task_state='rebuilding')
        ctxt, uuid = self.member(self.host)
        move = {
            'uuid': MOVE,
            'instance_uuid': moving,
            'migration_type': 'evacuation',
            'status': 'accepted',
            'source_compute': 'host-3',
            'dest_compute': 'host-1',
        }
        self.cell.db.write(migrations.create, move)
        self.goes(self.policy != 'affinity', ctxt, uuid)

    def test_a_group_that_was_split_by_force(self):
        """Further members of an affinity group may be on each of its hosts, as in nova."""
        for host in ('host-1', 'host-3'):
            self.member(host, vm_state='active', task_state=None)
        self.goes(self.ok, *self.member(self.host))

    def test_moves_that_are_over_do_not_count(self):
        _ctxt, moved = self.member('host-3', vm_state='active', task_state=None)
        self.cell.db.write(
            migrations.create,
            {
                'uuid': MOVE,
                'instance_uuid': moved,
                'migration_type': 'live-migration',
                'status': 'error',
                'source_compute': 'host-3',
                'dest_compute': 'host-1',
            },
        )
        self.goes(self.policy != 'affinity', *self.member(self.host))


class TestFinish(Base):
    def test_active(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.assertTrue(self.finish(ctxt, uuid))
        row = self.cell.row(uuid)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual((1, 'host-1', None), (row.power_state, row.launched_on, row.build))
        self.assertEqual([{'id': 'port'}], row.network_info)
        self.assertEqual(self.clock.runtime.now().replace(tzinfo=None), row.launched_at)
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_groups_that_the_api_changed_meanwhile(self):
        """They are kept with the build, which has no network information before its end."""
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        of_ports = {'port': ['web'], 'other': ['web']}

        def change(connection):
            row = instances.lock(connection, uuid)
            network_info.store_groups(connection, row, ['web'], of_ports)

        self.cell.db.write(change)
        self.assertEqual([], self.cell.row(uuid).network_info)
        self.assertTrue(self.finish(ctxt, uuid))
        row = self.cell.row(uuid)
        expected = {'id': 'port', 'security_groups': ['web'], 'groups_version': 1}
        self.assertEqual(([expected], None), (row.network_info, row.build))

    def test_again(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.finish(ctxt, uuid)
        self.change(uuid, vm_state='stopped')
        self.assertTrue(self.finish(ctxt, uuid))
        self.assertEqual('stopped', self.cell.state(uuid)[0])
        self.assertEqual(1, len(self.cell.events(uuid)))

    def test_block_devices(self):
        device = {'source_type': 'blank', 'destination_type': 'volume'}
        ctxt, uuid = self.server(devices=[device])
        self.start(ctxt, uuid)
        found = self.cell.devices(uuid)[0]
        self.finish(ctxt, uuid, devices=[{'uuid': found.uuid, 'volume_id': 'volume'}])
        self.assertEqual('volume', self.cell.devices(uuid)[0].volume_id)

    def test_deleted_meanwhile(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.change(uuid, task_state='deleting')
        self.assertFalse(self.finish(ctxt, uuid))
        self.assertEqual(('building', 'deleting', 'host-1'), self.cell.state(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))

    def test_not_this_hosts(self):
        ctxt, uuid = self.server()
        self.change(uuid, host='host-2')
        self.assertRaises(exception.StateChanged, self.finish, ctxt, uuid)

    def test_failed_builds_need_not_be_counted(self):
        self.cell.conf.set_override(
            'consecutive_build_service_disable_threshold', 0, group='compute'
        )
        node = self.node()
        ctxt, uuid = self.server()
        self.fail(ctxt, uuid)
        self.assertEqual(0, node().failed_builds)

    def test_clears_failed_builds(self):
        node = self.node()
        ctxt, uuid = self.server()
        self.fail(ctxt, uuid)
        self.assertEqual(1, node().failed_builds)
        ctxt, uuid = self.server()
        self.finish(ctxt, uuid)
        self.assertEqual(0, node().failed_builds)


class TestReset(Base):
    """An administrator resets the state while the host builds. Then the build goes on."""

    def test_ends(self):
        for state in ('active', 'error'):
            device = {'source_type': 'blank', 'destination_type': 'volume'}
            ctxt, uuid = self.server(devices=[device])
            self.start(ctxt, uuid)
            self.reset(uuid, state)
            found = self.cell.devices(uuid)[0]
            devices = [{'uuid': found.uuid, 'volume_id': 'volume'}]
            for _again in range(2):
                self.assertTrue(self.finish(ctxt, uuid, devices=devices))
            row = self.cell.row(uuid)
            self.assertEqual((state, None, 'host-1'), self.cell.state(uuid))
            self.assertEqual(([{'id': 'port'}], 1), (row.network_info, row.power_state))
            self.assertEqual('host-1', row.launched_on)
            self.assertIsNotNone(row.launched_at)
            self.assertEqual('volume', self.cell.devices(uuid)[0].volume_id)
            self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_before_it_begins(self):
        ctxt, uuid = self.server(node=None)
        self.reset(uuid)
        self.assertEqual('again', self.start(ctxt, uuid))
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual('host-1', self.cell.row(uuid).node)
        self.assertTrue(self.finish(ctxt, uuid))

    def test_a_task_that_was_begun_meanwhile(self):
        """It waits for the end of the build."""
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.reset(uuid)
        self.change(uuid, task_state='powering-off')
        self.assertTrue(self.finish(ctxt, uuid))
        self.assertEqual(('active', 'powering-off', 'host-1'), self.cell.state(uuid))

    def test_deleted_meanwhile(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.reset(uuid)
        self.change(uuid, task_state='deleting')
        self.assertFalse(self.finish(ctxt, uuid))
        self.assertFalse(self.fail(ctxt, uuid))
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))

    def test_fails(self):
        for keep_host, host in ((False, None), (True, 'host-1')):
            ctxt, uuid = self.server()
            self.start(ctxt, uuid)
            self.reset(uuid)
            self.assertTrue(self.fail(ctxt, uuid, keep_host=keep_host))
            self.assertEqual(('error', None, host), self.cell.state(uuid))
            self.assertEqual('it broke', self.cell.fault(uuid))

    def test_remains_of_one_that_fails_are_cleared(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.reset(uuid)
        self.assertFalse(self.conductor.build_is_over(ctxt, 'host-1', uuid))
        self.fail(ctxt, uuid, keep_host=True)
        self.assertTrue(self.conductor.build_is_over(ctxt, 'host-1', uuid))
        self.assertTrue(self.conductor.build_cleared(ctxt, 'host-1', uuid))
        self.assertEqual(('error', None, None), self.cell.state(uuid))

    def test_fails_and_no_other_host_is_left(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.reset(uuid)
        self.conductor.reschedule_build(ctxt, 'host-1', uuid, FAILURE)
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertIn('Exhausted all hosts', self.cell.fault(uuid))

    def test_between_two_hosts(self):
        """Its conductor gives up, and the audit finds the build."""
        ctxt, uuid = self.server(['host-1', 'host-2'])
        self.start(ctxt, uuid)
        self.change(uuid, host=None, node=None, task_state='scheduling')
        self.reset(uuid)
        self.clock.advance(self.cell.conf.conductor.audit_idle_s + 1)
        self.conductor.audit()
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))
        self.assertEqual([('build_instance', 'host-2')], self.sent)

    def test_of_another_host(self):
        ctxt, uuid = self.server()
        self.reset(uuid)
        for report in (self.start, self.finish):
            self.assertRaises(exception.StateChanged, report, ctxt, uuid, host='host-2')
        self.assertFalse(self.fail(ctxt, uuid, host='host-2'))


class TestFail(Base):
    def test_error(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.assertTrue(self.fail(ctxt, uuid))
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertEqual('it broke', self.cell.fault(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))

    def test_again(self):
        ctxt, uuid = self.server()
        self.fail(ctxt, uuid)
        self.assertFalse(self.fail(ctxt, uuid))
        self.assertEqual(1, len(self.cell.events(uuid)))

    def test_of_a_server_that_is_in_error_ends_its_event(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.change(uuid, vm_state='error', task_state=None)
        self.assertFalse(self.fail(ctxt, uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))

    def test_keeps_its_host(self):
        ctxt, uuid = self.server()
        self.fail(ctxt, uuid, keep_host=True)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))

    def test_deleted_meanwhile(self):
        ctxt, uuid = self.server()
        self.start(ctxt, uuid)
        self.change(uuid, task_state='deleting')
        self.assertFalse(self.fail(ctxt, uuid))
        self.assertEqual(('building', 'deleting', 'host-1'), self.cell.state(uuid))
        self.assertIsNone(self.cell.fault(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))
