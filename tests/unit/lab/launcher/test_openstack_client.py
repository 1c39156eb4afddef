"""`nova-lite openstack` without the program, and without a cloud that runs."""

import os
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import openstack_client
from nova_lite.lab.launcher import which_cloud
from tests.fixtures import commands


class OpenstackClientTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        for name, text in (
            ('metadata-secret', 'x'),
            ('clouds.yaml', 'clouds: {nova-lite: {auth: {auth_url: "http://[::1]/"}, '
             'region_name: R, identity_api_version: "3"}}'),
        ):  # fmt: skip
            with open(os.path.join(self.directory, name), 'w') as file:
                file.write(text)

    def test_a_cloud_that_is_stopped(self):
        code, out, errors = commands.run(
            'openstack', '--state-dir', self.directory, 'server', 'list'
        )
        self.assertEqual((2, ''), (code, out))
        self.assertIn(f'The cloud in {self.directory} does not run', errors)
        self.assertIn('Start it with `nova-lite up', errors)

    def test_a_user_that_does_not_exist(self):
        code, _out, errors = commands.run(
            'openstack', '--cloud', 'bob', '--state-dir', self.directory, 'server', 'list'
        )
        self.assertEqual(2, code)
        self.assertIn('has no cloud bob. Use one of: nova-lite', errors)

    def test_without_the_program(self):
        self.useFixture(fixtures.MonkeyPatch('sys.executable', f'{self.directory}/python'))
        self.useFixture(fixtures.EnvironmentVariable('PATH', self.directory))
        cloud = which_cloud.Cloud(self.directory, '')
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova_lite.lab.launcher.which_cloud.Cloud.state', lambda cloud: which_cloud.RUNNING
            )
        )
        error = self.assertRaises(
            openstack_client.NotInstalled, openstack_client.run, cloud, 'nova-lite', []
        )
        self.assertIn('pip install python-openstackclient', str(error))
        self.assertFalse(os.path.exists(sys.executable))

    def test_words_of_the_client(self):
        """Options before the first other word are ours; the rest, options as well, is passed on."""
        given = []
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova_lite.lab.launcher.openstack_client.run',
                lambda cloud, user, words: given.append((cloud.directory, user, words)),
            )
        )
        ours = ['--state-dir', self.directory]
        for words, user, passed in (
            ([], 'nova-lite', []),
            (['--version'], 'nova-lite', ['--version']),
            (['--', '--version'], 'nova-lite', ['--version']),
            (['--os-cloud', 'x', 'server', 'list'], 'nova-lite', ['--os-cloud', 'x', 'server', 'list']),
            (['--cloud', 'bob', 'server', 'show', '--help'], 'bob', ['server', 'show', '--help']),
            (['--cloud=bob', '-v', 'server', '--cloud', 'x'], 'bob', ['-v', 'server', '--cloud', 'x']),
            (['server', 'ssh', 'web', '--', '-v'], 'nova-lite', ['server', 'ssh', 'web', '--', '-v']),
        ):  # fmt: skip
            code, _out, errors = commands.run('openstack', *ours, *words)
            self.assertEqual(0, code, errors)
            self.assertEqual((self.directory, user, passed), given.pop(), words)
