"""The recorder of answers 5xx that functional tests fail for (I10)."""

import testtools

from tests.fixtures import server_errors


class ServerErrorsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.errors = server_errors.ServerErrors()

    def answer(self, status):
        """Call a WSGI application that answers with a status. Return the findings."""

        def application(environ, start_response):
            start_response(status, [])
            return [b'body']

        environ = {'REQUEST_METHOD': 'GET', 'PATH_INFO': '/servers'}
        body = self.errors.wrap(application)(environ, lambda *args: None)
        self.assertEqual([b'body'], list(body))
        return [(each.invariant, each.what, each.detail) for each in self.errors.take()]

    def test_only_faults_of_the_server(self):
        self.assertEqual([], self.answer('404 Not Found'))
        for status in (500, 503):
            self.assertEqual(
                [('I10', 'GET /servers', f'was answered with {status}')],
                self.answer(f'{status} Oops'),
            )
        self.assertEqual([], self.errors.take())

    def test_announced(self):
        with self.errors.announced(503):
            self.assertEqual([], self.answer('503 Away'))
            self.assertEqual(1, len(self.answer('500 Oops')))
        self.assertEqual(1, len(self.answer('503 Away')))
