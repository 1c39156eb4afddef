"""The memory that a large upload takes in the process that hands it on."""

import http.client
import re
import sys

import testtools

from tests.fixtures import http as http_fixture
from tests.fixtures import ports
from tests.fixtures import processes

# As the API daemon serves its front; `/memory` answers with the status of the worker.
SERVE = """
import pathlib
import sys
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import proxy
from nova_lite.daemons.wsgi import server


def memory(environ, start_response):
    start_response('200 OK', [])
    return [pathlib.Path('/proc/self/status').read_bytes()]


def load():
    routes = proxy.services({'/image': sys.argv[2]}, threads=4)
    return front.Front({**routes, '/memory': memory}, keep=routes)


server.serve(load, host='127.0.0.1', port=int(sys.argv[1]), threads=4)
"""
HIGH_WATER = re.compile(r'VmHWM:\s+(\d+) kB')
UPLOAD = '/image/v2/images/x/file'
MIB = 1024 * 1024
SIZE, MOST_GROWTH = 200 * MIB, 20 * MIB
LONG_S = 60


def count(environ, start_response):
    """Answer with the number of bytes of the body, which is read to its end and dropped."""
    size, stream = 0, environ['wsgi.input']
    while piece := stream.read(MIB):
        size += len(piece)
    start_response('200 OK', [])
    return [str(size).encode()]


class MemoryTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        back = self.useFixture(http_fixture.Http({'/': count}))
        self.port = self.useFixture(ports.Port()).number
        command = [sys.executable, '-c', SERVE, str(self.port), back.url]
        daemon = self.useFixture(processes.Daemon(command, name='front', env={'PYTHONPATH': '.'}))
        daemon.start()
        daemon.wait_for(self.answers, LONG_S, 'an answer')

    def answers(self):
        try:
            return self.call('GET', '/memory')
        except OSError:
            return None

    def call(self, method, path, **request):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LONG_S)
        try:
            connection.request(method, path, **request)
            answer = connection.getresponse().read()
        finally:
            connection.close()
        return answer.decode()

    def upload(self, size):
        """Send that many bytes in chunks, none of which is kept; returns the answer."""
        piece = b'x' * MIB
        body = (piece for _ in range(size // MIB))
        return self.call('PUT', UPLOAD, body=body, encode_chunked=True)

    def high_water(self):
        """The most memory that the worker has had so far, in bytes."""
        return int(HIGH_WATER.search(self.call('GET', '/memory'))[1]) * 1024

    def test_a_large_upload_in_chunks(self):
        self.assertEqual(str(MIB), self.upload(MIB))
        before = self.high_water()
        self.assertEqual(str(SIZE), self.upload(SIZE))
        self.assertLess(self.high_water() - before, MOST_GROWTH)
