"""Ports at which processes tell how they are."""

import fixtures
import requests
import testtools

from nova_lite import conf as conf_module
from nova_lite.daemons import monitor
from nova_lite.daemons.monitoring import app
from nova_lite.daemons.wsgi import server


def refuse():
    raise OSError('refused')


class ServeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger('nova_lite.daemons.monitor'))
        self.port = server.free_port(count=2)
        self.conf = conf_module.make_conf(files=[])
        self.conf.set_override('port', self.port, group='health')

    def serve(self, workers):
        found = monitor.serve(self.conf, [monitor.Service('toy', {})], workers=workers)
        if found is not None:
            self.addCleanup(found.stop)
        return found

    def test_each_worker_has_a_port(self):
        told = [self.serve(workers=2).url for _worker in range(2)]
        self.assertEqual([f'http://127.0.0.1:{self.port + number}' for number in range(2)], told)
        for url in told:
            answer = requests.get(f'{url}/healthcheck', timeout=30)
            self.assertEqual({'toy'}, {each['daemon'] for each in answer.json()['daemons']})
        self.assertIsNone(self.serve(workers=2))
        self.assertIn(f'port {self.port + 1}', self.log.output)

    def test_a_worker_takes_the_port_of_one_that_ended(self):
        first, second = self.serve(workers=2), self.serve(workers=2)
        first.stop()
        self.assertEqual(first.url, self.serve(workers=2).url)
        self.assertNotEqual(first.url, second.url)


class Inner:
    app = 'what it serves'

    def __call__(self, environ, start_response):
        return [b'inner']


class BalancedTest(testtools.TestCase):
    def ask(self, method, path, check):
        """(status, body) of the answer; the application's own is (None, 'inner')."""
        said = []
        application = app.Balanced(Inner(), 'api', {'database': check})
        self.assertEqual(Inner.app, application.app)
        environ = {'REQUEST_METHOD': method, 'PATH_INFO': path}
        body = b''.join(application(environ, lambda status, headers: said.append(status)))
        return (said[0] if said else None), body.decode()

    def test_well_or_not_without_a_cause(self):
        status, body = self.ask('GET', '/healthcheck', lambda: None)
        self.assertEqual('200 OK', status)
        self.assertIn('true', body)
        status, body = self.ask('GET', '/healthcheck', refuse)
        self.assertEqual('503 Service Unavailable', status)
        self.assertIn('false', body)
        self.assertNotIn('refused', body)
        self.assertEqual(('200 OK', ''), self.ask('HEAD', '/healthcheck', lambda: None))

    def test_all_else_is_the_application_s(self):
        for method, path in (('GET', '/'), ('GET', '/v2.1/healthcheck'), ('POST', '/healthcheck')):
            self.assertEqual((None, 'inner'), self.ask(method, path, refuse))
