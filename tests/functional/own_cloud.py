"""Tests that have a cloud each, and ask for moves within it."""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving

# Settings of a cloud whose hosts destroy guests without an owner in the first audit.
NO_GRACE = {'cells': 1, 'hosts': 3, 'options': {'compute': {'stray_grace': 0}}}
# Of one in which shelved servers stay on their hosts until they are asked to leave, and no
# request waits for a saga that meets a fault.
FOUR_HOSTS = {
    'cells': 1,
    'hosts': 4,
    'options': {
        'DEFAULT': {'shelved_offload_time': -1},
        'compute': {'stray_grace': 0},
        'api': {'device_timeout': 0},
    },
}


class OwnCloudTest(testtools.TestCase):
    """At its end nothing is found in the cloud, whose servers may stay.

    settings: arguments of the Cloud; moving: asks for moves and looks at what they leave
    """

    settings = {}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = live_moving.LiveMoving(self.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()
