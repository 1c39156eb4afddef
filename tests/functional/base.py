"""Base class of tests of whole clouds."""

import testtools

from tests.fixtures import cloud as cloud_fixture

VERSION = '2.90'
# Settings of a cloud that many tests share: of cores there are enough.
ROOMY = {'cells': 2, 'hosts': 2, 'options': {'quota': {'cores': -1, 'instances': 12}}}


class CloudTest(testtools.TestCase):
    """All tests of a class share a cloud; each ends without servers or findings.

    settings: arguments of the Cloud
    """

    settings = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cloud = cls.make_cloud()
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)

    @classmethod
    def make_cloud(cls):
        """The fixture, not set up yet."""
        return cloud_fixture.Cloud(**cls.settings)

    def setUp(self):
        super().setUp()
        # The cloud's own belong to no test.
        self.useFixture(cloud_fixture.warnings())

    def tearDown(self):
        try:
            self.assertEqual([], self.cloud.findings())
        finally:
            left = list(self.cloud.admin.compute.servers(all_projects=True, details=False))
            self.delete(*left)
        if left:
            self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def delete(self, *servers):
        """Delete servers and wait until none is found."""
        for server in servers:
            self.cloud.admin.compute.delete_server(server)
        for server in servers:
            self.cloud.wait_gone(server)

    def api(self, method, path, body=None, *, status=200, **options):
        """The decoded answer of a plain request at `VERSION`, None when it is empty."""
        options.setdefault('version', VERSION)
        answer = self.cloud.api(method, path, json=body, **options)
        self.assertEqual(status, answer.status_code, f'{method} {path}: {answer.text}')
        return answer.json() if answer.content else None

    def refused(self, status, method, path, body=None, **options):
        """The message of an error whose status is `status`."""
        (error,) = self.api(method, path, body, status=status, **options).values()
        self.assertEqual(status, error['code'])
        return error['message']

    def soft_delete(self, server):
        """Delete a server so that it can be restored."""
        conf = self.cloud.cloud.confs['control']
        conf.set_override('reclaim_instance_interval', 3600)
        try:
            self.cloud.admin.compute.delete_server(server)
            self.cloud.wait(server, 'SOFT_DELETED')
        finally:
            conf.clear_override('reclaim_instance_interval')

    def status(self, server):
        """A server's status now."""
        return self.cloud.admin.compute.get_server(server.id).status
