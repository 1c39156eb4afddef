"""Fixtures for tests with testtools, before they are set up."""

import testtools

from nova_lite.testing import fixture


class NovaCloudTest(testtools.TestCase):
    def test_a_snapshot_with_another_profile(self):
        for options in ({'profile': 'default'}, {'failures': [{'verb': 'spawn'}]}):
            with testtools.ExpectedException(ValueError, '.*omit profile and failures'):
                fixture.NovaCloud(snapshot='/x', **options)
