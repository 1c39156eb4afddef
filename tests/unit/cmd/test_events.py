"""nova-lite events: what a line tells, and of which server it is."""

import testtools

from nova_lite.lab.launcher import following
from nova_lite.notify import derive
from tests.fixtures import commands

UUID = '3d0b8a4e-6a4c-4f0e-9f5e-0c6a3f8f2b11'


def message(event_type, **data):
    return {
        'bus': 'cell1',
        'event_type': event_type,
        'publisher_id': 'nova-compute:host-1',
        'priority': 'INFO',
        'timestamp': '2026-01-02 03:04:05.678901',
        'payload': {'nova_object.data': data},
    }


def fault(text):
    return {'nova_object.data': {'exception_message': text}}


class EventsTest(testtools.TestCase):
    def test_a_count_that_makes_no_sense(self):
        code, _out, errors = commands.run('events', '--count', '0')
        self.assertEqual(2, code)
        self.assertIn("'0' is not a number, 1 or more", errors)

    def test_columns_hold_every_type(self):
        types = [name for name in derive.every_type() if name.startswith('instance.')]
        lines = [following.line_of(message(name, uuid=UUID)) for name in types]
        self.assertEqual(1, len({line.index(UUID) for line in lines}))

    def test_of_which_server(self):
        for expected, told in (
            (UUID, message('instance.reboot.end', uuid=UUID)),
            (UUID, message('compute_task.migrate_server.error', instance_uuid=UUID)),
            (UUID, message('scheduler.select_destinations.end', instance_uuid=UUID)),
            (None, message('aggregate.create.end', uuid=UUID)),
            (None, message('compute.exception', exception='Bad')),
        ):
            self.assertEqual(expected, following.server_of(told), told['event_type'])

    def test_a_line(self):
        told = message('instance.create.error', uuid=UUID, state='error', fault=fault('no room'))
        self.assertEqual(
            ['03:04:05.678', 'cell1', 'nova-compute:host-1', 'instance.create.error', UUID]
            + ['error', 'no', 'room'],
            following.line_of(told).split(),
        )

    def test_a_line_of_what_is_no_server(self):
        told = message('aggregate.create.end', uuid=UUID, name='rack')
        self.assertEqual('rack', following.line_of(told).split()[-1])
        told = message('compute.exception', exception_message='broken')
        self.assertEqual('broken', following.line_of(told).split()[-1])
