"""Events about extended volumes."""

from nova_lite import runtime
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from tests.unit.api.servers import base

SERVICE = {'user': 'cinder', 'project': 'service', 'roles': 'service'}
EVENTS = '/os-server-external-events'


class VolumeExtendedTest(base.Case):
    def tell(self, *events):
        return self.api.call(
            'POST',
            EVENTS,
            {'events': [{'name': 'volume-extended', **event} for event in events]},
            version='2.51',
            who=SERVICE,
        )

    def test_it_is_an_action_of_each_server_with_the_volume(self):
        volume = runtime.new_uuid()
        uuids = [self.api.add_server() for _number in range(2)]
        answer = self.tell(*({'server_uuid': uuid, 'tag': volume} for uuid in uuids))
        self.assertEqual(200, answer.status_code, answer.text)
        for uuid in uuids:
            (action,) = self.api.cell('cell1').db.read(action_lists.page, uuid)
            found = self.api.cell('cell1').db.read(actions.events_of, [action.id])
            self.assertEqual(('extend_volume', None), (action.action, action.message))
            self.assertEqual(
                [('compute_extend_volume', 'host1', 'Success')],
                [(event.event, event.host, event.result) for event in found[action.id]],
            )
        self.assertEqual([], self.sent())

    def test_what_is_refused_is_no_action(self):
        hostless = self.api.add_server(host=None)
        untagged = self.api.add_server()
        answer = self.tell({'server_uuid': hostless, 'tag': 'volume'}, {'server_uuid': untagged})
        self.assertEqual([422, 400], [each['code'] for each in answer.json['events']])
        for uuid in (hostless, untagged):
            self.assertEqual([], self.api.cell('cell1').db.read(action_lists.page, uuid))
