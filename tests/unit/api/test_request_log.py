"""The request log: what a line has, and when the file is made again."""

import json
import pathlib
import shutil

import fixtures

from nova_lite import conf as configuration
from nova_lite.api import request_log
from tests.unit.api import base

AGENT = {'User-Agent': 'openstacksdk/4.22.0'}
KEYS = ('operation', 'project_id', 'status')


class RequestLogTest(base.ApiTest):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'requests.jsonl')
        self.api.app.request_log = request_log.RequestLog(str(self.path))

    def lines(self):
        """Return the decoded lines, without those that differ between runs."""
        found = [json.loads(line) for line in self.path.read_text().splitlines()]
        for line in found:
            self.assertRegex(line.pop('request_id'), '^req-')
            self.assertRegex(line.pop('time'), r'^\d{4}-\d\d-\d\dT.*\+00:00$')
            self.assertGreaterEqual(line.pop('seconds'), 0)
        return found

    def test_a_request(self):
        self.get('/flavors/nine', version='2.61', status=404, headers=AGENT)
        self.assertEqual(
            [
                {
                    'method': 'GET',
                    'path': '/v2.1/flavors/nine',
                    'operation': 'GET /flavors/{flavor_id}',
                    'microversion': '2.61',
                    'client': 'openstacksdk/4.22.0',
                    'project_id': 'alpha',
                    'status': 404,
                }
            ],
            self.lines(),
        )

    def test_a_request_without_an_operation(self):
        self.api.call('GET', '/flavours')
        self.api.call('GET', '/', headers={'X-User-Id': ''})
        nowhere, document = self.lines()
        self.assertEqual((None, 404), (nowhere['operation'], nowhere['status']))
        self.assertEqual((None, None, 200), tuple(document[key] for key in KEYS))

    def test_a_file_that_was_moved_away(self):
        self.get('/flavors')
        self.path.rename(self.path.with_suffix('.1'))
        self.get('/flavors')
        self.assertEqual(1, len(self.lines()))

    def test_a_file_that_cannot_be_made_again(self):
        log = self.useFixture(fixtures.FakeLogger('nova_lite.api.request_log'))
        kept = self.path.parent.with_name('kept')
        self.path.parent.rename(kept)
        self.addCleanup(shutil.rmtree, kept)
        self.get('/flavors')
        self.assertIn('Cannot write request req-', log.output)
        self.assertIn('No such file or directory', log.output)
        self.path.parent.mkdir()
        self.get('/flavors')
        self.assertEqual(1, len(self.lines()))

    def test_no_log_has_the_token_of_a_console(self):
        log = self.useFixture(fixtures.FakeLogger('nova_lite.api'))
        self.get('/os-console-auth-tokens/open-sesame', version='2.31', status=403)
        (line,) = self.lines()
        self.assertEqual('/v2.1/os-console-auth-tokens/TOKEN', line['path'])
        self.assertIn('GET /v2.1/os-console-auth-tokens/TOKEN"', log.output)
        self.assertNotIn('sesame', log.output)

    def test_none(self):
        conf = configuration.make_conf([], files=[])
        self.assertIsNone(request_log.of(conf))
