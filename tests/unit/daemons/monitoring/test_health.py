"""Health: causes, hanging checks, and how often is looked."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons.monitoring import app
from nova_lite.daemons.monitoring import health
from tests.fixtures import clock


class HealthTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.asked = []
        self.health = self.health_of({'bus': lambda: self.asked.append('bus')})

    def health_of(self, checks):
        found = health.Health('toy', checks)
        self.addCleanup(found.close)
        return found

    def test_well(self):
        wanted = {'daemon': 'toy', 'healthy': True, 'checks': {'bus': None}}
        self.assertEqual((True, wanted), self.health.report())

    def test_the_cause(self):
        def refuse():
            raise exception.Unavailable(service='The database', reason='refused')

        healthy, report = self.health_of({'database': refuse, 'bus': lambda: None}).report()
        self.assertFalse(healthy)
        self.assertIn('refused', report['checks']['database'])
        self.assertIsNone(report['checks']['bus'])

    def test_who_asks_often_is_told_what_was_found(self):
        time = clock.ManualRuntime()
        with runtime.install(time):
            for _number in range(3):
                self.health.report()
            self.assertEqual(['bus'], self.asked)
            time.advance(health.KEPT_S)
            self.health.report()
        self.assertEqual(['bus', 'bus'], self.asked)

    def test_one_that_hangs_holds_up_nobody_and_is_not_asked_twice(self):
        self.patch(health, 'LIMIT_S', 0.2)
        self.patch(health, 'KEPT_S', 0)
        end, begun = runtime.Event(), []
        self.addCleanup(end.set)

        def hang():
            begun.append(1)
            end.wait()

        found = self.health_of({'bus': hang, 'database': lambda: None})
        for _number in range(2):
            _healthy, report = found.report()
            self.assertEqual({'bus': health.NO_ANSWER, 'database': None}, report['checks'])
        self.assertEqual([1], begun)


class PagesTests(testtools.TestCase):
    def ask(self, path, method='GET'):
        told = []
        pages = app.Monitoring([])
        environ = {'PATH_INFO': path, 'REQUEST_METHOD': method}
        (body,) = pages(environ, lambda status, headers: told.append((status, dict(headers))))
        ((status, headers),) = told
        return status, headers, body

    def test_others_are_not_found(self):
        status, _headers, body = self.ask('/')
        self.assertEqual('404 Not Found', status)
        self.assertIn(b'/healthcheck', body)

    def test_only_reading(self):
        self.assertEqual('405 Method Not Allowed', self.ask('/metrics', 'POST')[0])

    def test_head_has_no_body(self):
        status, headers, body = self.ask('/healthcheck', 'HEAD')
        self.assertEqual(('200 OK', b''), (status, body))
        self.assertNotEqual('0', headers['Content-Length'])
