"""Base classes of tests of server operations."""

import logging

import fixtures
import testtools

from nova_lite.api import microversion
from tests.fixtures import compute_api
from tests.fixtures import servers_api

NEWEST = str(microversion.MAXIMUM)
ADMIN = {**compute_api.ADMIN, 'project': compute_api.MEMBER['project']}


class Case(testtools.TestCase):
    """`api` is the fixture; `ok` and `refused` send a request and check the code."""

    overrides = ()

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.api = self.start_api()
        self.addCleanup(self._check_declarations)

    def start_api(self):
        """The fixture, started."""
        return self.useFixture(self.make_api())

    def make_api(self):
        """The fixture."""
        return servers_api.ServersApi(overrides=self.overrides)

    def _check_declarations(self):
        """No answer may have an error code that its operation does not declare."""
        self.assertEqual([], list(self.api.app.undeclared))

    def ok(self, method, path, body=None, *, code=200, **options):
        answer = self.api.call(method, path, body, **options)
        self.assertEqual(code, answer.status_code, answer.text)
        return answer

    def refused(self, method, path, body=None, *, code, text='', **options):
        answer = self.api.call(method, path, body, **options)
        self.assertEqual(code, answer.status_code, answer.text)
        (error,) = answer.json.values()
        self.assertEqual(code, error['code'])
        self.assertIn(text, error['message'])
        return answer

    def act(self, uuid, action, value=None, *, code=202, **options):
        """Send an action of the server."""
        return self.ok('POST', f'/servers/{uuid}/action', {action: value}, code=code, **options)

    def refused_act(self, uuid, action, value=None, *, code, **options):
        path = f'/servers/{uuid}/action'
        return self.refused('POST', path, {action: value}, code=code, **options)

    def sent(self, cell='cell1'):
        """[(method, arguments)] cast or called to the computes of a cell."""
        return self.api.compute[cell].calls
