"""Details of a server on the live page."""

import types

import testtools

from nova_lite.lab.page import neighbour_names
from nova_lite.lab.page import server_details
from tests.unit.lab.page import readings

AT = '2026-01-02T03:04:05.000Z'
PORT = {
    'address': 'fa:16:3e:00:00:01',
    'network': {
        'label': 'private',
        'subnets': [
            {
                'ips': [
                    {
                        'address': '10.0.0.5',
                        'version': 4,
                        'floating_ips': [{'address': '192.0.2.9', 'version': 4}],
                    }
                ]
            }
        ],
    },
}
EVENT = types.SimpleNamespace(
    action_id=7,
    event='compute__do_build_and_run_instance',
    host='host',
    start_time=readings.AT,
    finish_time=None,
    result=None,
    details=None,
    traceback='secret',
)
ACTION = types.SimpleNamespace(
    id=7,
    action='create',
    request_id='req-1',
    user_id='user-id',
    start_time=readings.AT,
    message=None,
)


def records(*, fault=None, **values):
    server = readings.server(
        'web',
        'host',
        **{
            'project_id': 'project-id',
            'user_id': 'user-id',
            'image_ref': 'image-id',
            'flavor': {'name': 'm1.tiny'},
            'vcpus': 1,
            'memory_mb': 512,
            'network_info': [PORT],
            'availability_zone': None,
            'locked': False,
            'created_at': readings.AT,
            'launched_at': None,
            **values,
        },
    )
    return server_details.Records(server, [ACTION], [EVENT], fault)


class TestServer(testtools.TestCase):
    def made(self, names, **values):
        return server_details.make(records(**values), names)

    def test_names_and_addresses(self):
        found = self.made({'project-id': 'demo', 'user-id': 'alice', 'image-id': 'cirros'})
        self.assertEqual(
            ('demo', 'alice', 'cirros', 'm1.tiny'),
            tuple(found[name] for name in ('project', 'user', 'image', 'flavor')),
        )
        self.assertEqual(
            [('10.0.0.5', 'fixed'), ('192.0.2.9', 'floating')],
            [(each['address'], each['type']) for each in found['addresses']],
        )

    def test_ids_without_names(self):
        found = self.made({}, image_ref='')
        self.assertEqual(('project-id', 'user-id'), (found['project'], found['user']))
        self.assertFalse(found['image'])
        wanted = server_details.ids(records())
        self.assertEqual(['image-id'], wanted[neighbour_names.IMAGES])

    def test_actions_without_tracebacks(self):
        [action] = self.made({})['actions']
        self.assertEqual(
            ('create', 'req-1', AT), tuple(action[n] for n in ('action', 'request_id', 'at'))
        )
        [event] = action['events']
        self.assertEqual(('host', AT, None), tuple(event[n] for n in ('host', 'at', 'ended_at')))
        self.assertNotIn('secret', repr(action))

    def test_the_last_fault(self):
        fault = types.SimpleNamespace(message='No valid host', created_at=readings.AT)
        self.assertEqual(
            {'message': 'No valid host', 'at': AT}, self.made({}, fault=fault)['fault']
        )
        self.assertIsNone(self.made({})['fault'])
