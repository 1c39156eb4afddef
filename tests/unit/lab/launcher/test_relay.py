"""A relay of connections that is cut, frozen and healed."""

import contextlib
import gc
import os
import resource
import socket

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.control import faults
from nova_lite.lab.launcher import relay

ANSWER_S = 30
SILENT_S = 0.2


class RelayTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.server = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(self.server.close)
        self.thread = runtime.spawn(self.echo)
        self.received = []
        self.relay = relay.Relay(self.server.getsockname())
        self.relay.start()
        self.addCleanup(self.relay.stop)

    def echo(self):
        """Answer each connection with what it sends, until the server is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _address = self.server.accept()
                runtime.spawn(self.answer, client)

    def answer(self, client):
        with contextlib.suppress(OSError), client:
            while data := client.recv(1024):
                self.received.append(data)
                client.sendall(data)

    def connect(self):
        made = socket.create_connection(('127.0.0.1', self.relay.port), ANSWER_S)
        self.addCleanup(made.close)
        return made

    def assert_passes(self, connection, text=b'hello'):
        connection.settimeout(ANSWER_S)
        connection.sendall(text)
        self.assertEqual(text, connection.recv(1024))

    def assert_ended(self, connection):
        connection.settimeout(ANSWER_S)
        # Either the end, or a reset.
        with contextlib.suppress(ConnectionError):
            connection.sendall(b'lost')
            self.assertEqual(b'', connection.recv(1024))

    def test_cut(self):
        first = self.connect()
        self.assert_passes(first)
        self.relay.switch(faults.CUT)
        self.assert_ended(first)
        self.assert_ended(self.connect())
        self.relay.switch(faults.HEALED)
        self.assert_passes(self.connect())

    def test_frozen(self):
        first = self.connect()
        self.assert_passes(first)
        self.relay.switch(faults.FROZEN)
        second = self.connect()
        for each in (first, second):
            each.sendall(b'late')
            each.settimeout(SILENT_S)
            self.assertRaises(TimeoutError, each.recv, 1024)
        self.relay.switch(faults.HEALED)
        for each in (first, second):
            each.settimeout(ANSWER_S)
            self.assertEqual(b'late', each.recv(1024))

    def test_frozen_and_then_cut(self):
        first = self.connect()
        self.relay.switch(faults.FROZEN)
        first.sendall(b'late')
        self.relay.switch(faults.CUT)
        self.assert_ended(first)
        self.relay.switch(faults.HEALED)
        self.assert_passes(self.connect())
        self.assertNotIn(b'late', self.received)

    def test_too_many_open_files(self):
        """Connections are accepted again when there are fewer."""
        logger = self.useFixture(fixtures.FakeLogger())
        # What other tests have left open is not closed in the middle of this one.
        gc.collect()
        free = os.dup(self.server.fileno())
        os.close(free)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        # One for the client, none for the relay.
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, limits[1]))
        try:
            self.connect()
            deadline = runtime.monotonic() + ANSWER_S
            while 'Too many open files' not in logger.output:
                self.assertTrue(runtime.monotonic() < deadline)
                runtime.sleep(0.02)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        self.assert_passes(self.connect())

    def test_without_the_server(self):
        gone = socket.create_server(('127.0.0.1', 0))
        address = gone.getsockname()
        gone.close()
        made = relay.Relay(address)
        made.start()
        self.addCleanup(made.stop)
        self.assert_ended(socket.create_connection(('127.0.0.1', made.port), ANSWER_S))
