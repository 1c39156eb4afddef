"""Requests to the control endpoint that no cloud can answer."""

import io
import json
import os

import fixtures
import testtools

from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import state_control


class SnapshotTest(testtools.TestCase):
    def test_paths_that_are_refused(self):
        directory = self.useFixture(fixtures.TempDir()).path
        os.mkfifo(os.path.join(directory, 'pipe'))
        control = endpoint.Endpoint(directory)
        # The cloud is not asked.
        state_control.register(control, None, take=None, restore=None, gate=None)
        for path in (
            'a.snapshot',
            directory,
            f'{directory}/pipe',
            f'{directory}/',
            f'{directory}/no/a.snapshot',
            f'{__file__}/a.snapshot',
            f'{directory}/a\0b',
            f'{directory}/\ud800',
        ):
            status, text = self.post(control, {'file': path})
            self.assertEqual(400, status, path)
            self.assertRegex(text, 'absolute path|cannot be written|is not a regular file')

    def post(self, control, arguments):
        """The status and the error of a request for a snapshot."""
        body = json.dumps(arguments).encode()
        status, answer = control.answer(
            {
                'REQUEST_METHOD': 'POST',
                'PATH_INFO': '/control/snapshot',
                'CONTENT_TYPE': 'application/json',
                'wsgi.input': io.BytesIO(body),
            }
        )
        return status, json.loads(b''.join(answer))['error']
