"""Base of functional tests: one cloud for all tests of a class.

Each test ends with `verify`; what a test leaves behind is its own business, as
long as it is consistent.
"""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import moving


class CloudTest(testtools.TestCase):
    """settings: of the cloud, as fixtures.cloud.Cloud takes them."""

    settings = {'cells': 1, 'hosts': 3}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cloud = cloud_fixture.Cloud(**cls.settings)
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)
        cls.stage = moving.Moving(cls.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def boot(self, name='server', **options):
        """A server that is deleted after the test."""
        server = self.cloud.boot(name, **options)
        self.addCleanup(self.delete, server)
        return server

    def boot_full(self, **options):
        """A server with a port and a volume that is deleted after the test."""
        server = self.stage.boot_full(**options)
        self.addCleanup(self.delete, server)
        return server

    def delete(self, server):
        """Delete a server if it is there, and wait until it is gone."""
        self.cloud.admin.compute.delete_server(server.id, ignore_missing=True)
        self.cloud.wait_gone(server)
