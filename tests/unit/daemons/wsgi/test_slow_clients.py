"""Slow clients of a server of gunicorn's."""

import http.client
import socket

import testtools

from tests.fixtures import served

THREADS = 4
UPLOAD = b'/image/v2/images/x/file'
APPLICATION = """
def application(environ, start_response):
    length = int(environ.get('CONTENT_LENGTH') or 0)
    size = len(environ['wsgi.input'].read(length))
    answer = str(size).encode() if size else b'x' * 64 * 1024 * 1024
    start_response('200 OK', [('Content-Length', str(len(answer)))])
    return [answer]
"""
LONG_S = 60


class SlowClientsTest(testtools.TestCase):
    """More slow clients than threads, and one that is not slow."""

    def setUp(self):
        super().setUp()
        server = self.useFixture(served.Served(APPLICATION, threads=THREADS))
        self.port = server.port
        server.wait_for(lambda: self.post(b'12345') == b'5')

    def post(self, body):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LONG_S)
        try:
            connection.request('POST', '/', body=body)
            return connection.getresponse().read()
        finally:
            connection.close()

    def open(self, request):
        client = socket.create_connection(('127.0.0.1', self.port), timeout=LONG_S)
        self.addCleanup(client.close)
        client.sendall(request)
        return client

    def test_who_sends_slowly(self):
        # An image: other bodies are received before a thread takes the request.
        request = b'PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nbegin' % UPLOAD
        slow = [self.open(request) for _ in range(THREADS + 1)]
        self.assertEqual(b'1000', self.post(b'x' * 1000))
        answer = http.client.HTTPResponse(slow[0])
        answer.begin()
        self.assertEqual((408, 'close'), (answer.status, answer.getheader('Connection')))
        # What is left of the body would be taken for the next request.
        answer.read()
        self.assertEqual(b'', slow[0].recv(65536))

    def test_who_sends_half_a_head(self):
        for _ in range(THREADS + 1):
            self.open(b'POST / HT')
        self.assertEqual(b'1000', self.post(b'x' * 1000))

    def test_who_receives_slowly(self):
        for _ in range(THREADS + 1):
            self.open(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        self.assertEqual(b'1000', self.post(b'x' * 1000))
