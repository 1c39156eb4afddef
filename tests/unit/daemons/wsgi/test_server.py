"""HTTP servers, and ports for daemons that do not listen on them yet."""

import contextlib
import http.client
import signal
import socket
import struct
import sys
import urllib.parse

import fixtures
import requests
import testtools

from nova_lite import runtime
from nova_lite.daemons.wsgi import server
from tests.fixtures import imported
from tests.fixtures import ports
from tests.fixtures import processes

SERVE = """
import sys
from nova_lite import runtime
from nova_lite.daemons.wsgi import server


class Application:
    def __call__(self, environ, start_response):
        runtime.spawn(runtime.Event().wait, daemon=False)  # as a server's thread does
        start_response('204 No Content', [])
        return []

    def close(self):
        print('closed', flush=True)


server.serve(Application, host='127.0.0.1', port=int(sys.argv[1]))
"""
ASK_AND_WAIT = """
import signal
from nova_lite.daemons.wsgi import server
print(server.free_port(), flush=True)
signal.pause()
"""
HOST = '127.0.0.1'


# How long a client may take that reads nothing is longer.
STOP_S = 30


class InProcessTest(testtools.TestCase):
    def test_a_stop_does_not_wait_for_who_reads_nothing(self):
        begun = runtime.Event()

        def application(_environ, start_response):
            start_response('200 OK', [])
            while True:
                yield b'x' * (1 << 16)
                begun.set()

        running = server.InProcess(application)
        running.start()
        url = urllib.parse.urlsplit(running.url)
        with socket.create_connection((url.hostname, url.port)) as client:
            client.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
            begun.wait()
            stopping = runtime.spawn(running.stop)
            stopping.join(STOP_S)
            self.assertFalse(stopping.is_alive())

    def test_a_stop_wakes_the_server(self):
        """It ends at once, however seldom the server looks for idle connections."""
        self.useFixture(fixtures.MonkeyPatch('nova_lite.daemons.wsgi.server.EXPIRE_S', 3600))

        def application(_environ, start_response):
            start_response('204 No Content', [])
            return []

        for host in (HOST, '0.0.0.0'):
            running = server.InProcess(application, host=host)
            running.start()
            port = urllib.parse.urlsplit(running.url).port
            with requests.Session() as client:
                self.assertEqual(204, client.get(f'http://{HOST}:{port}').status_code)
                stopping = runtime.spawn(running.stop)
                stopping.join(STOP_S)
                self.assertFalse(stopping.is_alive())

    def connect(self, application):
        """Return an http.client connection to a server of an application."""
        running = server.InProcess(application, threads=1)
        self.addCleanup(running.stop)
        running.start()
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(running.url).netloc)
        self.addCleanup(connection.close)
        return connection

    def test_what_follows_on_a_connection(self):
        """An application may ignore a body, and return one for HEAD."""

        def application(_environ, start_response):
            start_response('200 OK', [('Content-Length', '2')])
            return [b'{}']

        connection = self.connect(application)
        for method, body, answer in (
            ('HEAD', None, b''),
            ('PUT', iter([b'x' * 100, b'y' * 100_000]), b'{}'),
            ('PUT', b'x' * 100_000, b'{}'),
            ('GET', None, b'{}'),
        ):
            connection.request(method, '/', body, encode_chunked=not isinstance(body, bytes))
            found = connection.getresponse()
            self.assertEqual((200, answer), (found.status, found.read()))
            self.assertIsNone(found.getheader('Connection'))

    def test_a_cut_after_the_client_has_gone(self):
        begun, gone, cut = runtime.Event(), runtime.Event(), runtime.Event()

        def application(environ, start_response):
            begun.set()
            gone.wait()
            environ[server.CUT]()
            cut.set()
            start_response('200 OK', [])
            return []

        connection = self.connect(application)
        connection.request('GET', '/')
        begun.wait()
        # It resets the connection.
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        connection.close()
        gone.set()
        self.assertTrue(runtime.wait(cut, STOP_S))


class FreePortTest(testtools.TestCase):
    def claim(self, port):
        with contextlib.ExitStack() as claims:
            return server.claim(HOST, port, claims)

    def test_not_twice(self):
        port = server.free_port()
        self.assertFalse(self.claim(port))

    def test_all_of_several(self):
        port = server.free_port(count=2)
        self.assertEqual([False, False], [self.claim(port), self.claim(port + 1)])

    def test_where_someone_listens(self):
        with socket.create_server((HOST, 0)) as listener:
            self.assertFalse(self.claim(listener.getsockname()[1]))

    def test_of_ipv6(self):
        port = server.free_port('::1')
        running = server.InProcess(lambda _environ, _start: [], host='::1', port=port)
        self.addCleanup(running.stop)
        running.start()
        self.assertEqual(f'http://[::1]:{port}', running.url)

    def test_where_nobody_can_listen(self):
        for host in ('192.0.2.1', 'no such host'):
            self.assertRaises(OSError, server.free_port, host)

    def test_a_claim_ends(self):
        with contextlib.ExitStack() as claims:
            port = server.free_port()
            while not server.claim(HOST, port, claims):
                port += 1
            self.assertFalse(self.claim(port))
        self.assertTrue(self.claim(port))

    def test_of_another_process(self):
        other = self.useFixture(imported.Script(ASK_AND_WAIT, name='other'))
        other.start()
        port = int(other.wait_for(other.log_text, 60, 'a port'))
        self.assertFalse(self.claim(port))


class StopTest(testtools.TestCase):
    """The end of a process that serves with gunicorn."""

    def test_threads_that_never_end(self):
        """They are not waited for until gunicorn kills the worker; its application is closed."""
        port = self.useFixture(ports.Port()).number
        command = [sys.executable, '-c', SERVE, str(port)]
        daemon = self.useFixture(processes.Daemon(command, name='served', env={'PYTHONPATH': '.'}))
        daemon.start()

        def answers():
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(f'http://{HOST}:{port}/', timeout=60).status_code == 204

        daemon.wait_for(answers, 60, 'an answer')
        daemon.signal(signal.SIGTERM)
        self.assertEqual(0, daemon.wait(60))
        self.assertIn('closed', daemon.log_text())
        self.assertNotIn('SIGKILL', daemon.log_text())
