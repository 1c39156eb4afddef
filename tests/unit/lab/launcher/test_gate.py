"""The gate: requests wait while it is closed, but not for ever."""

import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import gate


class GateTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.answered = []

    def application(self, _environ, start_response):
        self.answered.append('request')
        start_response('200 OK', [])
        return [b'']

    def send(self, to):
        """(status, headers) of a request."""
        found = []
        b''.join(to({}, lambda *started: found.append(started)))
        (started,) = found
        return started[0], dict(started[1])

    def body_from(self, to):
        return b''.join(to({}, lambda *_started: None)).decode()

    def test_a_request_waits(self):
        closed = gate.Gate(self.application)
        self.assertEqual('200 OK', self.send(closed)[0])
        with closed.closed():
            waiting = runtime.spawn(self.send, closed)
            waiting.join(0.02)
            self.assertEqual(['request'], self.answered)
        waiting.join()
        self.assertEqual(['request', 'request'], self.answered)

    def test_a_request_in_progress_ends_first(self):
        begun, over = runtime.Event(), runtime.Event()

        def slow(environ, start_response):
            begun.set()
            runtime.wait(over)
            return self.application(environ, start_response)

        closed = gate.Gate(slow)
        request = runtime.spawn(self.send, closed)
        runtime.wait(begun)
        opener = runtime.spawn(over.set)
        with closed.closed():
            self.assertEqual(['request'], self.answered)
        request.join()
        opener.join()

    def test_it_stays_closed_after_an_error(self):
        closed = gate.Gate(self.application, wait_s=0.01)
        with testtools.ExpectedException(KeyError), closed.closed():
            raise KeyError('x')
        status, headers = self.send(closed)
        self.assertEqual('503 Service Unavailable', status)
        self.assertEqual('1', headers['Retry-After'])
        self.assertEqual([], self.answered)

    def test_a_problem(self):
        closed = gate.Gate(self.application)
        with testtools.ExpectedException(KeyError), closed.closed():
            waiting = runtime.spawn(self.send, closed)
            raise KeyError('x')
        closed.refuse('The reason.')
        waiting.join()
        self.assertEqual('503 Service Unavailable', self.send(closed)[0])
        self.assertIn('The reason.', self.body_from(closed))
        self.assertEqual([], self.answered)
        with closed.closed():
            pass
        self.assertIsNone(closed.problem)
        self.assertEqual('200 OK', self.send(closed)[0])
