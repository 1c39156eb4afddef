"""Requests for breakpoints that no cloud can answer."""

import io
import json

import fixtures
import testtools

from nova_lite.lab.control import breakpoints
from nova_lite.lab.control import debugger
from nova_lite.lab.control import endpoint


class BreakpointsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.control = endpoint.Endpoint(self.useFixture(fixtures.TempDir()).path)
        # No super-conductor is attached, as during a reset.
        breakpoints.add(self.control, debugger.Debugger(start_other=lambda: None))

    def ask(self, method, name, arguments=None, query=''):
        """The status and the error of a request."""
        body = b'' if arguments is None else json.dumps(arguments).encode()
        status, answer = self.control.answer(
            {
                'REQUEST_METHOD': method,
                'PATH_INFO': f'/control/{name}',
                'QUERY_STRING': query,
                'CONTENT_TYPE': 'application/json',
                'wsgi.input': io.BytesIO(body),
            }
        )
        return int(status), json.loads(b''.join(answer))['error']

    def test_bad_arguments(self):
        for name, arguments, said in (
            ('breakpoints/add', {'server': 'a'}, 'step'),
            ('breakpoints/add', {'step': 'copy'}, 'name a server or a kind of saga'),
            ('breakpoints/add', {'step': '', 'server': 'a'}, 'step'),
            ('breakpoints/add', {'step': 'copy', 'server': 'a', 'host': 'b'}, 'host'),
            ('breakpoints/remove', {'id': 'all'}, 'id'),
            ('saga/go', {}, 'server'),
            ('saga/step', {'server': 7}, 'server'),
            ('saga/kill-here', {'server': 'a', 'uuid': 'b'}, 'uuid'),
        ):
            status, error = self.ask('POST', name, arguments)
            self.assertEqual(400, status, (name, arguments, error))
            self.assertIn(said, error)
        for query in ('', 'server=a&uuid=b'):
            status, error = self.ask('GET', 'saga', query=query)
            self.assertEqual(400, status, error)
            self.assertIn('either the argument server or the argument uuid', error)
        self.assertEqual(404, self.ask('POST', 'breakpoints/add', {'step': 'a', 'kind': 'b'})[0])

    def test_during_a_reset(self):
        asked = {'server': 'a'}
        for request in (
            ('GET', 'breakpoints'),
            ('GET', 'saga', None, 'server=a'),
            ('POST', 'breakpoints/add', {'step': 'copy', **asked}),
            ('POST', 'saga/go', asked),
            ('POST', 'saga/kill-here', asked),
        ):
            status, error = self.ask(*request)
            self.assertEqual(503, status, (request, error))
            self.assertIn('it starts or is being reset', error)

    def test_a_cloud_without_a_debugger(self):
        """It has nothing stopped, and says why nothing can be."""
        control = endpoint.Endpoint(self.useFixture(fixtures.TempDir()).path)
        breakpoints.refuse(control, 'Use another cloud')
        self.assertEqual(
            {'breakpoints': [], 'stopped': []}, control._call('GET', '/control/breakpoints', {})
        )
        self.control, server = control, {'server': 'a'}
        for request in (
            ('GET', 'saga', None, 'server=a'),
            ('POST', 'breakpoints/add', {'step': 'copy', **server}),
            ('POST', 'breakpoints/remove', {}),
            *(('POST', f'saga/{verb}', server) for verb in ('go', 'step', 'kill-here')),
        ):
            self.assertEqual((501, 'Use another cloud'), self.ask(*request), request)
