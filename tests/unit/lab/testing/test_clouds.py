"""Clouds that other processes start, and that end while a test cleans up."""

import os

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from nova_lite.lab.testing import clouds
from nova_lite.lab.testing import project_purge


class CloudsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        os.makedirs(os.path.join(self.directory, 'run'))

    def test_one_that_starts(self):
        """The worker that started it was killed."""
        places = layout.Layout(layout.Settings(state_dir=self.directory, cells=1, hosts=1))
        self.assertIsNone(clouds._started(self.directory))
        places.hold()
        self.addCleanup(places.release)
        found = []
        waiting = runtime.spawn(lambda: found.append(clouds._started(self.directory)))
        ready = running.of(places)
        running.write(self.directory, ready)
        waiting.join()
        self.assertEqual([ready], found)

    def test_one_that_stops(self):
        """A waiting client asks again, and gets an error that the cloud does not answer."""
        endpoint = events_endpoint.EventsEndpoint(self.directory)
        endpoint.open()
        moments = project_purge._moments(self.directory)
        self.addCleanup(moments.close)
        next(moments)
        endpoint.close()
        for _each in range(3):
            next(moments)
