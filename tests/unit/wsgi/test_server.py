"""Ports for daemons that do not listen on them yet."""

import contextlib
import socket
import sys

import testtools

from nova_lite.wsgi import server
from tests.fixtures import processes

ASK_AND_WAIT = """
import signal
from nova_lite.wsgi import server
print(server.free_port(), flush=True)
signal.pause()
"""
HOST = '127.0.0.1'


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

    def test_a_claim_ends(self):
        with contextlib.ExitStack() as claims:
            port = server.free_port()
            while not server.claim(HOST, port, claims):
                port += 1
            self.assertFalse(self.claim(port))
        self.assertTrue(self.claim(port))

    def test_of_another_process(self):
        command = [sys.executable, '-c', ASK_AND_WAIT]
        other = self.useFixture(processes.Daemon(command, name='other', env={'PYTHONPATH': '.'}))
        other.start()
        port = int(other.wait_for(other.log_text, 60, 'a port'))
        self.assertFalse(self.claim(port))
