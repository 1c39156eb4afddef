"""Requests handed on to another process: in pieces, within limits, with honest errors."""

import contextlib
import http.client
import json
import socket

import testtools

from nova_lite import runtime
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import proxy
from tests.fixtures import http as http_fixture
from tests.fixtures import ports

UPLOAD = '/image/v2/images/x/file'
LIMIT, DATA_LIMIT = 1000, 200_000
LONG_S = 60


class Service:
    """Notes each request and answers with what it is told; the body is read piece by piece."""

    def __init__(self):
        self.environ, self.received, self.first = {}, b'', runtime.Event()
        self.headers, self.pieces, self.requests = [], [b'done'], 0

    def __call__(self, environ, start_response):
        self.requests += 1
        self.environ = environ
        stream = environ['wsgi.input']
        length = environ.get('CONTENT_LENGTH')
        self.received = stream.read(min(5, int(length or 5)))
        self.first.set()
        self.received += stream.read(int(length) - len(self.received)) if length else stream.read()
        start_response('200 OK', self.headers)
        return self.pieces


class ProxyTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.service = Service()
        self.back = self.useFixture(http_fixture.Http({'/': self.service}))
        self.front = self.serve(self.back.url)

    def serve(self, url, **options):
        application = proxy.Proxy(url, body_limit=LIMIT, data_limit=DATA_LIMIT, **options)
        return self.useFixture(http_fixture.Http({'/': application}))

    def connect(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.front.port, timeout=LONG_S)
        self.addCleanup(connection.close)
        return connection

    def call(self, method, path, **request):
        connection = self.connect()
        connection.request(method, path, **request)
        answer = connection.getresponse()
        return answer, answer.read()

    def test_data_is_passed_on_as_it_comes(self):
        """The service has the first piece before the client has sent the second."""
        connection, first = self.connect(), b'x' * proxy.PIECE_BYTES

        def pieces():
            yield first
            self.assertTrue(self.service.first.wait(LONG_S))
            yield b'second'

        for headers in ({}, {'Content-Length': str(len(first) + 6)}):
            self.service.first.clear()
            connection.request(
                'PUT', UPLOAD, body=pieces(), headers=headers, encode_chunked=not headers
            )
            self.assertEqual(b'done', connection.getresponse().read())
            self.assertEqual(first + b'second', self.service.received)

    def test_answers_are_passed_on_as_they_come(self):
        seen = runtime.Event()

        def pieces():
            yield b'x' * proxy.PIECE_BYTES
            seen.wait(LONG_S)
            yield b'end'

        self.service.pieces = pieces()
        connection = self.connect()
        connection.request('GET', UPLOAD)
        answer = connection.getresponse()
        self.assertEqual(proxy.PIECE_BYTES, len(answer.read(proxy.PIECE_BYTES)))
        seen.set()
        self.assertEqual(b'end', answer.read())

    def test_a_chunked_request(self):
        pieces = [b'{"a":', b' 1}']
        _, body = self.call('POST', '/network/v2.0/ports', body=iter(pieces), encode_chunked=True)
        self.assertEqual((b'done', b'{"a": 1}'), (body, self.service.received))
        self.assertEqual('8', self.service.environ['CONTENT_LENGTH'])
        self.assertNotIn('HTTP_TRANSFER_ENCODING', self.service.environ)

    def test_too_large_is_refused_before_it_is_read(self):
        for path, limit in (('/network/v2.0/ports', LIMIT), (UPLOAD, DATA_LIMIT)):
            connection = self.connect()
            connection.putrequest('PUT', path)
            connection.putheader('Content-Length', str(limit + 1))
            connection.endheaders()
            answer = connection.getresponse()
            self.assertEqual(413, answer.status)
            self.assertIn(str(limit), json.loads(answer.read())['error']['message'])
        self.assertEqual(0, self.service.requests)

    def test_too_large_without_a_length(self):
        def pieces():
            for _ in range(11):
                yield b'x' * (LIMIT // 10)

        answer, _ = self.call('POST', '/volume/v3/p/volumes', body=pieces(), encode_chunked=True)
        self.assertEqual(413, answer.status)
        self.assertEqual(0, self.service.requests)

    def test_headers_of_one_connection(self):
        self.service.headers = [
            ('X-Kept', 'yes'), ('Connection', 'X-Own'), ('X-Own', 'no'), ('Keep-Alive', '5')
        ]  # fmt: skip
        answer, _ = self.call(
            'GET', '/', headers={'Connection': 'X-Mine', 'X-Mine': 'a', 'TE': 'b', 'X-Other': 'c'}
        )
        self.assertEqual(('yes', None), (answer.getheader('X-Kept'), answer.getheader('X-Own')))
        environ = self.service.environ
        self.assertEqual('c', environ['HTTP_X_OTHER'])
        self.assertEqual([], [name for name in ('HTTP_X_MINE', 'HTTP_TE') if name in environ])

    def test_a_path_with_other_letters(self):
        self.call('GET', '/image/v2/metadefs/%C3%A4%20%3F?q=%C3%A4')
        self.assertEqual('/image/v2/metadefs/ä ?'.encode(), self._path())
        self.assertEqual('q=%C3%A4', self.service.environ['QUERY_STRING'])

    def test_a_query_is_passed_on_as_it_is(self):
        for query in ('a=%c3%a4&b=%2f', 'name=100%&q=%20', 'a[]={"x|y"}^`', 'r=(a+b)*&x=/..//.?'):
            with socket.create_connection(('127.0.0.1', self.front.port), LONG_S) as sock:
                sock.sendall(
                    f'GET /image/v2/images?{query} HTTP/1.1\r\nHost: x\r\n'
                    'Connection: close\r\n\r\n'.encode()
                )
                while sock.recv(proxy.PIECE_BYTES):
                    pass
            self.assertEqual(query, self.service.environ['QUERY_STRING'])

    def test_below_a_path(self):
        self.front = self.serve(f'{self.back.url}/base/')
        self.call('GET', '/x/y?q=1')
        self.assertEqual(b'/base/x/y', self._path())
        self.front = self.serve(f'{self.back.url}/base')
        self.call('GET', '/x')
        self.assertEqual(b'/base/x', self._path())

    def _path(self):
        environ = self.service.environ
        return (environ['SCRIPT_NAME'] + environ['PATH_INFO']).encode('latin-1')

    def test_a_service_that_is_down(self):
        self.front = self.serve(f'http://127.0.0.1:{self.useFixture(ports.Port()).number}')
        self.assertEqual(503, self.call('POST', '/x', body=b'{}')[0].status)

    def test_a_service_that_accepts_no_connection(self):
        """Its answer may take long; to connect may not."""
        with contextlib.ExitStack() as stack:
            listener = stack.enter_context(socket.create_server(('127.0.0.1', 0), backlog=0))
            port = listener.getsockname()[1]
            with contextlib.suppress(TimeoutError):
                while True:  # until its queue is full
                    stack.enter_context(socket.create_connection(('127.0.0.1', port), 0.5))
            self.front = self.serve(f'http://127.0.0.1:{port}', connect_s=0.2)
            answer, _ = self.call('POST', '/x', body=b'{}')
        self.assertEqual(503, answer.status)

    def test_a_process_that_hangs_leaves_threads_for_others(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            hung = f'http://127.0.0.1:{listener.getsockname()[1]}'
            urls = {'/image': hung, '/network': hung, '/volume': self.back.url}
            routes = proxy.services(urls, threads=4)
            application = front.Front(routes, keep=routes)
            self.front = self.useFixture(http_fixture.Http({'/': application}, threads=4))
            waiting, accepted = [], []
            for number in range(3):
                waiting.append(self.connect())
                waiting[-1].request('POST', ('/image', '/network')[number % 2])
                accepted.append(listener.accept()[0])
            answer, body = self.call('GET', '/network/v2.0/ports')
            self.assertEqual((503, '5'), (answer.status, answer.getheader('Retry-After')))
            self.assertIn('Too many', json.loads(body)['error']['message'])
            self.assertEqual(200, self.call('GET', '/volume/v3')[0].status)
        # It breaks, and the places are free again.
        for each in accepted:
            each.close()
        for each in waiting:
            self.assertEqual(502, each.getresponse().status)
        answer, body = self.call('GET', '/image/v2')
        self.assertIn('does not answer', json.loads(body)['error']['message'])

    def test_a_service_that_does_not_answer(self):
        """It may have done what was asked: that is not `unavailable`, which is repeated."""
        with socket.create_server(('127.0.0.1', 0)) as listener:
            self.front = self.serve(f'http://127.0.0.1:{listener.getsockname()[1]}', timeout_s=0.2)
            self.assertEqual(504, self.call('POST', '/x', body=b'{}')[0].status)

    def test_a_service_that_closes_the_connection(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:

            def serve():
                connection, _ = listener.accept()
                connection.recv(65536)
                connection.close()

            thread = runtime.spawn(serve)
            self.front = self.serve(f'http://127.0.0.1:{listener.getsockname()[1]}')
            self.assertEqual(502, self.call('POST', '/x', body=b'{}')[0].status)
            thread.join()
