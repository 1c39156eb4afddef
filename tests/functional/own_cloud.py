"""Tests that have a cloud each, and ask for moves within it."""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving


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
