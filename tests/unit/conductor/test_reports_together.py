"""Reports of several servers in one message and one transaction."""

import testtools

from nova_lite.conductor import manager
from nova_lite.rpc.methods import conductor as methods
from tests.unit.conductor import base

EVENT = 'compute__do_build_and_run_instance'


class TestTogether(base.CellConductorTestCase):
    """Reports of one message."""

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


class KindsTest(testtools.TestCase):
    def test_what_hosts_send_together_is_written_together(self):
        self.assertEqual({*methods.TOGETHER}, {*manager.JOINED})
