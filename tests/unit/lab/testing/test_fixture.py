"""Fixtures for tests with testtools, before they are set up."""

import testtools

from nova_lite.lab.testing import fixture


class NovaCloudTest(testtools.TestCase):
    def test_a_snapshot_with_another_profile(self):
        for options in ({'profile': 'default'}, {'failures': [{'verb': 'spawn'}]}):
            with testtools.ExpectedException(ValueError, '.*omit profile and failures'):
                fixture.NovaCloud(snapshot='/x', **options)

    def test_a_fresh_one_with_another_profile(self):
        for options in (
            {'profile': 'default'},
            {'failures': [{'verb': 'spawn'}]},
            {'snapshot': '/x'},
        ):
            with testtools.ExpectedException(ValueError, '.*omit profile and failures'):
                fixture.NovaCloud(fresh=True, **options)

    def test_a_fault_of_a_service(self):
        """It would hit the setup of the project."""
        with testtools.ExpectedException(ValueError, '.*a fixture of its own: Fault'):
            fixture.NovaCloud(failures=[{'service': 'network', 'status': 503}])
