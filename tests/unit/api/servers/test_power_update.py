"""Events about the power of guests."""

from nova_lite import exception
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from tests.unit.api.servers import base

SERVICE = {'user': 'ironic', 'project': 'service', 'roles': 'service'}
EVENTS = '/os-server-external-events'


class PowerUpdateTest(base.Case):
    def tell(self, uuid, tag):
        event = {'name': 'power-update', 'server_uuid': uuid, 'tag': tag}
        answer = self.api.call('POST', EVENTS, {'events': [event]}, version='2.76', who=SERVICE)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual([{**event, 'status': 'completed', 'code': 200}], answer.json['events'])

    def actions(self, uuid):
        return [each.action for each in self.api.cell('cell1').db.read(action_lists.page, uuid)]

    def events(self, uuid):
        """[(event, host, result), ...] of the server's actions."""
        read = self.api.cell('cell1').db.read
        found = read(actions.events_of, [each.id for each in read(action_lists.page, uuid)])
        return [
            (each.event, each.host, each.result) for events in found.values() for each in events
        ]

    def test_it_is_an_action(self):
        for state, tag, task, action in (
            ('active', 'POWER_OFF', 'powering-off', 'stop'),
            ('stopped', 'POWER_ON', 'powering-on', 'start'),
        ):
            uuid = self.api.add_server(vm_state=state)
            self.tell(uuid, tag)
            self.assertEqual(task, self.api.row(uuid).task_state)
            self.assertEqual([action], self.actions(uuid))
            self.assertEqual([('compute_power_update', 'host1', None)], self.events(uuid))
            method, sent = self.sent()[-1]
            self.assertEqual(('power_update', tag), (method, sent['target_power_state']))
            self.assertEqual((uuid, 'host1'), (sent['instance'].uuid, sent['host']))

    def test_a_server_that_is_so_already(self):
        for state, tag, action in (
            ('active', 'POWER_ON', 'start'),
            ('stopped', 'POWER_OFF', 'stop'),
        ):
            uuid = self.api.add_server(vm_state=state)
            self.tell(uuid, tag)
            self.assertEqual([action], self.actions(uuid))
            self.assertEqual([('compute_power_update', 'host1', 'Success')], self.events(uuid))
        self.assertEqual([], self.sent())

    def test_a_server_in_another_state_is_left_alone(self):
        for values, tag in (
            ({'vm_state': 'paused'}, 'POWER_ON'),
            ({'vm_state': 'paused'}, 'POWER_OFF'),
            ({'vm_state': 'active', 'task_state': 'rebooting'}, 'POWER_OFF'),
            ({'vm_state': 'active'}, 'SLEEP'),
        ):
            uuid = self.api.add_server(**values)
            self.tell(uuid, tag)
            self.assertEqual(values.get('task_state'), self.api.row(uuid).task_state)
            self.assertEqual([], self.actions(uuid))
        self.assertEqual([], self.sent())

    def test_a_cell_that_answers_no_more(self):
        """Its database goes away between the read of the server and the record of the action."""
        of, database = instances.of, self.api.cell('cell1').db

        def last(connection, uuids):
            database.url, database._engine = 'sqlite:////nonexistent/directory/x.sqlite', None
            return of(connection, uuids)

        uuid = self.api.add_server()
        self.patch(instances, 'of', last)
        self.tell(uuid, 'POWER_ON')

    def test_a_cast_that_is_lost_is_found_by_the_audit(self):
        uuid = self.api.add_server()
        error = exception.Unavailable(service='bus', reason='away')
        self.api.compute['cell1'].answers['power_update'] = error
        self.tell(uuid, 'POWER_OFF')
        self.assertEqual('powering-off', self.api.row(uuid).task_state)
