"""A test of a client with testtools: python -m testtools.run test_servers"""

import os

import testtools

from nova_lite.lab.testing import fixture


class ServersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        cloud = self.useFixture(fixture.NovaCloud())
        # With the variables OS_* of its user in the environment.
        self.project = self.useFixture(fixture.Project(cloud, export=True)).project

    def test_boot(self):
        self.assertEqual(self.project.name, os.environ['OS_PROJECT_NAME'])
        compute = self.project.connect().compute
        flavor = compute.find_flavor('m1.tiny', ignore_missing=False)
        image = next(iter(compute.images()))
        server = compute.create_server(
            name='web', flavor_id=flavor.id, image_id=image.id, networks='auto'
        )
        server = compute.wait_for_server(server, interval=0.05)
        self.assertEqual(['private'], list(server.addresses))
