"""Requests of commands to the control endpoint of a cloud."""

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout


class ClientTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.client = control_client.Client(self.directory)

    def start(self):
        """Hold the state directory and open its endpoint, as a cloud does."""
        places = layout.Layout(layout.Settings(state_dir=self.directory))
        places.hold()
        self.addCleanup(places.release)
        made = self.made = endpoint.Endpoint(self.directory)
        made.add('POST', 'echo', dict, schema={'type': 'object', 'maxProperties': 1})
        made.add('GET', 'echo', dict, schema={'type': 'object'})
        made.open()
        self.addCleanup(made.close)

    def test_answers(self):
        self.start()
        self.assertEqual({'a': [1]}, self.client.post('echo', a=[1]))
        self.assertEqual({'a': 'b c'}, self.client.get('echo', a='b c'))

    def test_no_proxy_is_told_the_key(self):
        self.start()
        for name in ('http_proxy', 'all_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(name, 'http://127.0.0.1:9'))
        self.useFixture(fixtures.EnvironmentVariable('no_proxy'))
        # It keeps the proxies that it has found.
        self.useFixture(fixtures.MonkeyPatch('urllib.request._opener', None))
        self.assertEqual({'a': 1}, self.client.post('echo', a=1))

    def test_refused(self):
        self.start()
        error = self.assertRaises(control_client.Refused, self.client.post, 'echo', a=1, b=2)
        self.assertIn('too many properties', str(error))
        error = self.assertRaises(control_client.Refused, self.client.get, 'other')
        self.assertIn('GET /control/other does not exist', str(error))

    def test_no_answer_in_time(self):
        """The request goes on, and the message says so."""
        self.start()
        goes_on = runtime.Event()
        self.addCleanup(goes_on.set)
        self.made.add('GET', 'wait', lambda _arguments: goes_on.wait(60))
        client = control_client.Client(self.directory, timeout_s=0.05)
        error = self.assertRaises(exception.Unavailable, client.get, 'wait')
        self.assertIn('within 0.05 s. The request goes on: `nova-lite clock show`', str(error))

    def test_no_cloud(self):
        error = self.assertRaises(exception.Unavailable, self.client.post, 'echo')
        self.assertIn('Start it with `nova-lite up --state-dir ', str(error))

    def test_a_cloud_without_endpoint(self):
        places = layout.Layout(layout.Settings(state_dir=self.directory))
        places.hold()
        self.addCleanup(places.release)
        error = self.assertRaises(exception.Unavailable, self.client.post, 'echo')
        self.assertIn('it starts or stops. Repeat the command', str(error))

    def test_a_killed_cloud(self):
        made = endpoint.Endpoint(self.directory)
        made.open()
        self.addCleanup(made.close)
        self.assertRaises(exception.Unavailable, self.client.post, 'echo')
