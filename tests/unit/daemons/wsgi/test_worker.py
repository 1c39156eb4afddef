"""gunicorn's worker answers a connection that asks again at once in the same thread."""

import http.client
import socket

import testtools

from nova_lite import runtime
from tests.fixtures import served

THREADS = 4
APPLICATION = """
def application(environ, start_response):
    start_response('200 OK', [('Content-Length', '2')])
    return [b'ok']
"""
LONG_S = 60
REQUESTS = 20
ASKED = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'


class WorkerTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        server = self.useFixture(served.Served(APPLICATION, threads=THREADS))
        self.port = server.port
        server.wait_for(lambda: self.ask(self.connect()))

    def connect(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LONG_S)
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection):
        """Send a request; return the body of the answer."""
        connection.request('GET', '/')
        return connection.getresponse().read()

    def test_connections_that_always_ask_do_not_keep_others_waiting(self):
        ended = runtime.Event()

        def hold():
            connection = self.connect()
            while not ended.is_set():
                self.ask(connection)

        busy = [runtime.spawn(hold) for _ in range(3 * THREADS)]
        connections = [self.connect() for _ in range(3 * THREADS)]
        for _request in range(REQUESTS):
            for connection in connections:
                self.assertEqual(b'ok', self.ask(connection))
        ended.set()
        for each in busy:
            each.join()

    def test_requests_that_arrive_together(self):
        with socket.create_connection(('127.0.0.1', self.port), timeout=LONG_S) as client:
            client.sendall(ASKED * REQUESTS)
            with client.makefile('rb') as stream:
                for _request in range(REQUESTS):
                    self.assertEqual(b'HTTP/1.1 200 OK\r\n', stream.readline())
                    while stream.readline() != b'\r\n':
                        pass
                    self.assertEqual(b'ok', stream.read(2))

    def test_a_client_that_has_gone(self):
        for _client in range(2 * THREADS):
            connection = self.connect()
            self.ask(connection)
            connection.close()
        self.assertEqual(b'ok', self.ask(self.connect()))
