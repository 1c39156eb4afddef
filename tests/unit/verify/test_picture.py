"""What is read from the logs of a cloud."""

import os

import fixtures
import testtools

from nova_lite.verify import picture

LINE = '{} INFO {} [None req-1] 127.0.0.1 "GET /x" status: {} len: 0 microversion: 2.1\n'


class ServerErrorsTest(testtools.TestCase):
    def found(self, *lines):
        directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(directory, 'log'))
        with open(os.path.join(directory, 'log', 'api.top.log'), 'w') as log:
            log.writelines(LINE.format(*line) for line in lines)
        return picture.server_errors(directory)

    def test_of_the_compute_api(self):
        (line,) = self.found(
            (1, 'nova_lite.wsgi.request_log', 500), (2, 'nova_lite.wsgi.request_log', 503)
        )
        self.assertTrue(line.startswith('1 '))

    def test_of_placement(self):
        self.assertEqual([], self.found((1, 'placement.requestlog', 500)))
