"""Requests on real connections, to cheroot in this process and to gunicorn in another one."""

import contextlib
import http.client
import json
import socket
import urllib.parse

import testtools

from nova_lite.daemons.wsgi import heads
from nova_lite.daemons.wsgi import reception
from nova_lite.daemons.wsgi import server
from tests.fixtures import hostile_clients
from tests.fixtures import served

THREADS = 2
APPLICATION = """
import json

def application(environ, start_response):
    names = ('REQUEST_METHOD', 'PATH_INFO', 'QUERY_STRING', 'CONTENT_LENGTH', 'HTTP_X_A_B')
    found = {name: environ.get(name) for name in names}
    size = int(environ.get('CONTENT_LENGTH') or 0)
    if not environ['PATH_INFO'].startswith('/image'):
        found['body'] = environ['wsgi.input'].read(size).decode('latin-1')
    answer = json.dumps(found).encode()
    start_response('200 OK', [('Content-Length', str(len(answer)))])
    return [answer]
"""
LONG_S = 60
HOST = b'Host: x\r\n'
CHUNKED = b'Transfer-Encoding: chunked\r\n'


def _echo():
    names = {}
    exec(APPLICATION, names)  # as the other process does
    return names['application']


class _Tests:
    """Mixed into a class whose setUp sets `place`."""

    def connect(self):
        client = socket.create_connection(self.place, LONG_S)
        self.addCleanup(client.close)
        return client

    def read(self, client, method='GET'):
        answer = http.client.HTTPResponse(client, method=method)
        answer.begin()
        return answer.status, answer.getheader('Connection'), answer.read()

    def ask(self, *parts, method='GET'):
        """Send the parts one by one; return (status, what the application has found)."""
        client = self.connect()
        for part in parts:
            client.sendall(part)
        status, _connection, text = self.read(client, method)
        return status, json.loads(text)

    def refused(self, *parts):
        """Check that a connection is closed after the refusal; return its status."""
        client = self.connect()
        for part in parts:
            client.sendall(part)
        status, connection, text = self.read(client)
        self.assertEqual('close', connection)
        self.assertEqual(status, json.loads(text)['error']['code'])
        self.assertEqual(b'', client.recv(1))
        return status

    def test_a_request_that_comes_byte_by_byte(self):
        request = b'\r\nPOST /a HTTP/1.1\r\n' + HOST + b'Content-Length: 2\r\n\r\nab'
        status, found = self.ask(*(request[at : at + 1] for at in range(len(request))))
        self.assertEqual(
            (200, 'POST', '/a', 'ab'),
            (status, found['REQUEST_METHOD'], found['PATH_INFO'], found['body']),
        )

    def test_paths(self):
        """Escapes are decoded once, and slashes that follow each other are one."""
        for target, path in (
            (b'//v2.1//servers//', '/v2.1/servers/'),
            (b'/v2.1%2F%2fservers', '/v2.1/servers'),
            (b'/%252F', '/%2F'),
            (b'http://other/a?b=//c', '/a'),
            (b'/;a/%3F%23', '/;a/?#'),
            ('/ü'.encode(), '/' + 'ü'.encode().decode('latin-1')),
        ):
            status, found = self.ask(b'GET %s HTTP/1.1\r\n%s\r\n' % (target, HOST))
            self.assertEqual((200, path), (status, found['PATH_INFO']))
            self.assertEqual('b=//c' if b'?' in target else '', found['QUERY_STRING'])

    def test_headers(self):
        _status, found = self.ask(
            b'GET / HTTP/1.1\r\n', HOST, b'X-A-B: 1\r\nX_A_B: 2\r\nx-a-b: 3\r\n\r\n'
        )
        self.assertEqual('1, 3', found['HTTP_X_A_B'])

    def test_bodies_in_chunks(self):
        begin = b'POST / HTTP/1.1\r\n' + HOST + CHUNKED + b'\r\n'
        chunk = b'8000\r\n' + b'x' * 0x8000 + b'\r\n'
        for chunks, body in (
            (b'0\r\n\r\n', ''),
            (b'3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nA: trailer\r\n\r\n', 'abcde'),
            (chunk * 5 + b'000\r\n\r\n', 'x' * 5 * 0x8000),
        ):
            status, found = self.ask(begin + chunks)
            self.assertEqual(
                (200, body, str(len(body))), (status, found['body'], found['CONTENT_LENGTH'])
            )
        status, found = self.ask(begin, *[b'1\r\n', b'a\r', b'\n0', b'\r\n\r', b'\n'])
        self.assertEqual((200, 'a'), (status, found['body']))
        trailers = b'0\r\n' + b'A: trailer\r\n' * 1000
        for chunks in (
            b'x\r\n',
            b'-1\r\n',
            b'1\r\nab\r\n',
            b'1' * 300,
            b'fffffffff\r\n',
            trailers,
        ):
            self.assertEqual(400, self.refused(begin, chunks))
        most = b'%x\r\n' % (heads.BODY_LIMIT // 2)
        for chunks in (
            b'fffffff\r\n',
            (most + b'y' * (heads.BODY_LIMIT // 2) + b'\r\n') * 2 + b'1\r\n',
        ):
            self.assertEqual(413, self.refused(begin, chunks))

    def test_requests_that_come_together(self):
        """Whatever the first one is, the second one is read from its beginning."""
        client = self.connect()
        second = b'GET /second HTTP/1.1\r\n' + HOST + b'\r\n'
        with client.makefile('rb') as stream:
            for first in (
                b'POST / HTTP/1.1\r\n' + HOST + b'Content-Length: 3\r\n\r\nabc',
                b'HEAD / HTTP/1.1\r\n' + HOST + b'\r\n',
                b'POST / HTTP/1.1\r\n' + HOST + CHUNKED + b'\r\n3\r\nabc\r\n0\r\n\r\n',
            ):
                client.sendall(first + second * 2)
                self.skim(stream, has_body=not first.startswith(b'HEAD'))
                for _answer in range(2):
                    self.assertEqual('/second', json.loads(self.skim(stream))['PATH_INFO'])

    def skim(self, stream, *, has_body=True):
        """Read an answer, and no more; return its body."""
        self.assertEqual(b'HTTP/1.1 200 OK\r\n', stream.readline())
        headers = http.client.parse_headers(stream)
        self.assertNotEqual('close', headers['Connection'])
        return stream.read(int(headers['Content-Length'])) if has_body else b''

    def test_a_client_that_waits_to_be_asked_for_the_body(self):
        client = self.connect()
        begin = b'POST / HTTP/1.1\r\n' + HOST + b'Expect: 100-continue\r\nContent-Length: 3\r\n\r\n'
        for parts in ((begin, b'ab', b'c'), (begin + b'abc',)):
            client.sendall(parts[0])
            if len(parts) > 1:
                self.assertEqual(reception.ASKED, client.recv(len(reception.ASKED)))
            for part in parts[1:]:
                client.sendall(part)
            self.assertEqual('abc', json.loads(self.read(client)[2])['body'])

    def test_what_is_no_request(self):
        line = b'GET / HTTP/1.1\r\n'
        for status, request in (
            (400, b'\x16\x03\x01\x02'),
            (400, b'GET /\r\n\r\n'),
            (400, line + b'\r\n'),
            (400, line + HOST + HOST + b'\r\n'),
            (400, line + HOST + b'A: \0\r\n\r\n'),
            (400, line + HOST + b'A: b\rc\r\n\r\n'),
            (400, line + HOST + b'A: b\nC: d\r\n\r\n'),
            (400, b'POST / HTTP/1.1\r\n' + HOST + CHUNKED + b'Content-Length: 3\r\n\r\n0\r\n\r\n'),
            (414, b'GET /%s HTTP/1.1\r\n' % (b'a' * 9000) + HOST + b'\r\n'),
            (431, line + HOST + b'A: b\r\n' * 100 + b'\r\n'),
            (431, line + b'A: ' + b'b' * (heads.MOST_BYTES + 1)),
            (
                413,
                b'POST / HTTP/1.1\r\n' + HOST + b'Content-Length: 1048577\r\n\r\n' + b'x' * 100_000,
            ),
        ):
            self.assertEqual(status, self.refused(request), request[:200])

    def test_data_of_images_is_the_last_on_its_connection(self):
        """An answer before its end is read, and the rest is no request."""
        for frame in (b'Content-Length: 9999999\r\n', CHUNKED):
            client = self.connect()
            client.sendall(b'PUT /image/v2/images/x/file HTTP/1.1\r\n' + HOST + frame + b'\r\n')
            self.assertEqual((200, 'close'), self.read(client)[:2])
            with contextlib.suppress(ConnectionError):
                client.sendall(b'GET / HTTP/1.1\r\n' + HOST + b'\r\n')
                self.assertEqual(b'', client.recv(1))


class InProcessTest(_Tests, testtools.TestCase):
    def setUp(self):
        super().setUp()
        running = server.InProcess(_echo(), threads=THREADS)
        self.addCleanup(running.stop)
        running.start()
        address = urllib.parse.urlsplit(running.url)
        self.place = address.hostname, address.port


class GunicornTest(_Tests, testtools.TestCase):
    def setUp(self):
        super().setUp()
        process = self.useFixture(served.Served(APPLICATION, threads=THREADS))
        self.place = '127.0.0.1', process.port
        self.pid = process.pid
        process.wait_for(lambda: self.ask(b'GET / HTTP/1.1\r\n', HOST, b'\r\n')[0] == 200)

    def test_hostile_clients(self):
        self.assertEqual([], hostile_clients.found(self.pid, self.place))


class ReceptionsTest(testtools.TestCase):
    """Connections that wait are few, and what they have sent is little."""

    def setUp(self):
        super().setUp()
        self.receptions = reception.Receptions(most_bytes=100, most_connections=3, most_queued=120)

    def open(self, data, found=reception.Found.MORE):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        theirs.sendall(data)
        made = self.receptions.receive(ours)
        self.assertIs(found, made.receive())
        made.client = theirs
        return made

    def test_the_oldest_is_cut_for_another_one(self):
        waiting = [self.open(b'GET ') for _number in range(4)]
        self.assertEqual(
            [reception.Found.CLOSED, *[reception.Found.MORE] * 3],
            [each.receive() for each in waiting],
        )

    def test_closed_ones_are_forgotten_first(self):
        """A server closes connections that have been silent for its timeout."""
        first, *others = (self.open(b'GET ') for _number in range(3))
        for other in others:
            other._sock.close()
        for _number in range(2):
            self.open(b'GET ')
        self.assertIs(reception.Found.MORE, first.receive())
        self.open(b'GET ')
        self.assertIs(reception.Found.CLOSED, first.receive())

    def test_as_many_bytes_as_are_kept(self):
        first, second = (self.open(b'GET /' + b'a' * 50) for _number in range(2))
        self.assertIs(reception.Found.CLOSED, first.receive())
        self.assertIs(reception.Found.MORE, second.receive())

    def test_heads_that_came_before_their_bodies_count(self):
        head = b'POST /%s HTTP/1.1\r\n' % (b'a' * 30) + HOST + b'Content-Length: 9\r\n\r\n'
        first, second = self.open(head), self.open(head)
        self.assertIs(reception.Found.CLOSED, first.receive())
        self.assertIs(reception.Found.MORE, second.receive())

    def test_requests_that_wait_for_a_thread_are_few(self):
        request = b'POST / HTTP/1.1\r\n' + HOST + b'Content-Length: 9\r\n\r\n' + b'b' * 9
        first, _second = (self.open(request, reception.Found.WHOLE) for _number in range(2))
        refused = self.open(request)
        self.assertIn(b'503 Service Unavailable', refused.client.recv(100))
        self.assertEqual(request, first.take())
        self.assertEqual(request, self.open(request, reception.Found.WHOLE).take())

    def test_a_look_at_many_chunks_is_short(self):
        """The thread that looks after all connections must not be held by one of them."""
        self.receptions = reception.Receptions()
        sent = b'POST / HTTP/1.1\r\n' + HOST + CHUNKED + b'\r\n' + b'1\r\na\r\n' * 5000
        made = self.open(sent + b'0\r\n\r\n')
        looks = 1
        while made.receive() is not reception.Found.WHOLE:
            looks += 1
        self.assertGreaterEqual(looks, len(sent) // 8192)

    def test_half_of_a_line_break_before_a_request(self):
        made = self.open(b'\r')
        made.client.sendall(b'\nGET / HTTP/1.0\r\n\r\n')
        self.assertIs(reception.Found.WHOLE, made.receive())
