"""Answers of local endpoints that end too early, because the process of the cloud was killed."""

import contextlib
import json
import os
import socket

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import local_endpoint
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.launcher import layout

BEGUN = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
BEAT, LINE = b'1\r\n\n\r\n', b'10\r\n{"dropped": 100}\r\n'
ANSWERS = (
    b'',
    b'HTTP/1.1',
    b'HTTP/1.1 200 OK\r\nContent',
    BEGUN,
    BEGUN + BEAT,
    BEGUN + BEAT + LINE[:9],
    BEGUN + BEAT + LINE,
    BEGUN + BEAT + b'5\r\n{"dro\r\n',
    # The whole end of an answer.
    BEGUN + b'0\r\n\r\n',
    BEGUN + BEAT + b'0\r\n\r\n',
)


class CutAnswersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        places = layout.Layout(layout.Settings(state_dir=self.directory))
        places.hold()
        self.addCleanup(places.release)
        self.listener = self.enterContext(socket.create_server(('127.0.0.1', 0)))
        os.makedirs(os.path.join(self.directory, 'run'), exist_ok=True)

    @contextlib.contextmanager
    def answering(self, name, answer):
        """Answer one request to an endpoint, and end the connection."""
        url = f'http://127.0.0.1:{self.listener.getsockname()[1]}'
        with open(local_endpoint.path_of(self.directory, name), 'w') as file:
            json.dump({'url': url, 'key': 'a'}, file)

        def serve():
            connection, _address = self.listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)

        thread = runtime.spawn(serve)
        yield
        thread.join()

    def test_control(self):
        client = control_client.Client(self.directory)
        for answer in ANSWERS:
            with self.answering('control', answer):
                error = self.assertRaises(exception.Unavailable, client.get, 'clock')
            self.assertIn(self.directory, str(error), answer)

    def test_events(self):
        """Each end of them is an error: they end with the cloud."""
        for answer in ANSWERS:
            with self.answering('events', answer):
                found = events_endpoint.follow(self.directory)
                self.assertRaises(exception.Unavailable, list, found)
