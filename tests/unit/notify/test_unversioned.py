"""Unversioned notifications whose types are not those of the versioned ones."""

from nova_lite.db.cell import actions
from tests.unit.notify import test_watch


class VolumesTest(test_watch.WatchTestCase):
    options = {'notification_format': 'both'}

    def test_there_is_one_without_a_phase(self):
        uuid = self.cell.boot()
        for action in ('attach', 'detach'):
            self.forget()
            ctxt = self.cell.ask(uuid, f'{action}_volume', None)
            event = f'compute_{action}_volume'
            self.cell.db.write(record, uuid, ctxt.request_id, event)
            start, end = (older for _host, _body, older in self.notifier.kept)
            self.assertIsNone(start)
            self.assertEqual(f'compute.instance.volume.{action}', end['event_type'])
            self.assertEqual('volume', end['payload']['volume_id'])


def record(connection, uuid, request_id, event):
    """Record an event about a volume."""
    actions.tell_of(connection, uuid, volume_id='volume')
    actions.record_event(connection, uuid, request_id, event, host='host-1')
