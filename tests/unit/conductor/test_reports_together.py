"""Reports of several servers in one message and one transaction."""

import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.conductor import recording
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.rpc.methods import conductor as methods
from tests.unit.conductor import base

EVENT = 'compute__do_build_and_run_instance'
TERMINATE = 'compute_terminate_instance'


class Reporting(base.CellConductorTestCase):
    """Sends reports of one message."""

    def reports(self, kind, *servers, **arguments):
        return self.conductor.reports(
            self.context(),
            kind,
            [
                {
                    'context': ctxt.to_wire(),
                    'arguments': {'host': 'host-1', 'instance_uuid': uuid, **arguments},
                }
                for ctxt, uuid in servers
            ],
        )


class TestTogether(Reporting):
    """Reports about builds."""

    def start_all(self, *servers):
        return self.reports('build_started', *servers, node='host-1', group=None)

    def test_all(self):
        servers = [self.server() for _ in range(3)]
        self.assertEqual(['first'] * 3, self.start_all(*servers))
        end = {'network_info': [], 'block_devices': [], 'power_state': 1}
        self.assertEqual([True] * 3, self.reports('build_finished', *servers, **end))
        for _ctxt, uuid in servers:
            self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
            self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_results_differ(self):
        servers = [self.server(), self.server(task_state='deleting')]
        self.assertEqual(['first', False], self.start_all(*servers))

    def test_none_if_one_is_refused(self):
        servers = [self.server(), self.server(('host-2',))]
        self.assertIsNone(self.start_all(*servers))
        for _ctxt, uuid in servers:
            self.assertEqual('scheduling', self.cell.row(uuid).task_state)
            self.assertEqual([], self.cell.events(uuid))


class TestDeletions(Reporting):
    """Reports about servers that are being deleted."""

    def setUp(self):
        super().setUp()
        self.servers = [self.deleting() for _number in range(3)]
        self.uuids = [uuid for _ctxt, uuid in self.servers]

    def deleting(self):
        """Return the context of a request to delete a server, and the server."""
        _ctxt, uuid = self.server()
        return self.cell.ask(uuid, 'delete', 'deleting'), uuid

    def report(self, kind, *servers, event=TERMINATE):
        return self.reports(kind, *servers, event=event)

    def statements(self, kind, *servers):
        """Return how many statements the reports take."""
        counted, engine = [], self.cell.db.engine

        def count(*statement):
            counted.append(statement)

        sa.event.listen(engine, 'before_cursor_execute', count)
        try:
            self.assertEqual(len(servers), len(self.report(kind, *servers)))
        finally:
            sa.event.remove(engine, 'before_cursor_execute', count)
        return len(counted)

    def deletions(self, uuid):
        return [each for each in self.cell.events(uuid) if each[0] == TERMINATE]

    def test_three_take_as_many_statements_as_one(self):
        alone = self.deleting()
        for kind, number in (('delete_started', 5), ('instance_deleted', 9)):
            self.assertEqual(number, self.statements(kind, alone))
            self.assertEqual(number, self.statements(kind, *self.servers))

    def test_each_gets_what_is_its_own(self):
        devices = [
            {
                'uuid': runtime.new_uuid(),
                'instance_uuid': uuid,
                'source_type': 'blank',
                'destination_type': 'local',
            }
            for uuid in self.uuids[1:]
        ]
        self.cell.db.write(children.create_block_devices, devices)
        self.cell.db.write(actions.start, self.context(), self.uuids[2], 'createImage')
        network = [{'id': 'port', 'preserve_on_delete': True}]
        self.cell.db.write(instances.force, self.uuids[0], {'network_info': network})
        # The answers are in the order of the reports.
        third, second, first = self.report('delete_started', *reversed(self.servers))
        self.assertEqual(
            [[], *([device['uuid']] for device in devices)],
            [[found.uuid for found in each['block_devices']] for each in (first, second, third)],
        )
        self.assertEqual(
            [['port'], [], []], [each['kept_ports'] for each in (first, second, third)]
        )
        self.assertEqual(
            [False, False, True], [each['images']['copying'] for each in (first, second, third)]
        )
        for uuid in self.uuids:
            self.assertEqual([(TERMINATE, 'host-1', None)], self.deletions(uuid))

    def test_repeated(self):
        for _time in range(2):
            self.report('delete_started', *self.servers)
        for _time in range(2):
            self.assertEqual([None] * 3, self.report('instance_deleted', *self.servers))
        for uuid in self.uuids:
            self.assertTrue(self.cell.row(uuid).deleted)
            self.assertEqual([(TERMINATE, 'host-1', 'Success')], self.deletions(uuid))

    def test_what_was_interrupted(self):
        self.report('delete_started', *self.servers)
        ctxt = self.cell.ask(self.uuids[1], 'reboot', 'deleting')
        event = ('compute_reboot_instance', 'host-1')
        self.cell.db.write(
            actions.start_event, self.uuids[1], ctxt.request_id, event[0], host=event[1]
        )
        self.report('instance_deleted', *self.servers)
        self.assertIn((*event, 'Error'), self.cell.events(self.uuids[1]))
        for uuid in self.uuids:
            self.assertEqual([(TERMINATE, 'host-1', 'Success')], self.deletions(uuid))

    def test_one_that_was_not_begun(self):
        """A repeated report of an earlier process, for example: its event is complete then."""
        self.report('delete_started', *self.servers[:2])
        self.report('instance_deleted', *self.servers)
        for uuid in self.uuids:
            self.assertEqual([(TERMINATE, 'host-1', 'Success')], self.deletions(uuid))

    def test_none_if_one_is_refused(self):
        moved = self.uuids[1]
        self.cell.db.write(instances.force, moved, {'host': 'host-2'})
        self.assertIsNone(self.report('delete_started', *self.servers))
        for uuid in self.uuids:
            self.assertEqual([], self.deletions(uuid))
        self.assertIsNone(self.report('instance_deleted', *self.servers))
        self.assertFalse(self.cell.row(self.uuids[0]).deleted)


class KindsTest(testtools.TestCase):
    def test_what_hosts_send_together_is_written_together(self):
        self.assertEqual({*methods.TOGETHER}, {*recording.JOINED})
