"""Config drives in a whole cloud, read by `nova-lite config-drive`."""

import base64
import json
import os
import stat

import fixtures

from tests.fixtures import commands
from tests.functional import moves_base

MOTD, SCRIPT = b'hello\n', b'#!/bin/sh\n\xff'
META_DATA = 'openstack/latest/meta_data.json'
WITH_FILES = '2.42'  # the body has personality until 2.56


class ConfigDriveTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def command(self, *args, code=0):
        """The output of the command, of its errors if it fails, with this exit code."""
        found, out, err = commands.run('config-drive', *args, '--state-dir', self.cloud.state_dir)
        self.assertEqual(code, found, err)
        return err if code else out

    def meta_data(self, server):
        return json.loads(self.command(server.id, META_DATA))

    def boot_with_files(self):
        """A server with a config drive, and the password in the answer."""
        contents = base64.b64encode(MOTD).decode()
        body = {
            'name': 'driven',
            'flavorRef': self.cloud.flavor_id('m1.tiny'),
            'imageRef': self.cloud.image_id('cirros'),
            'availability_zone': 'nova:cell1-host1',
            'networks': [{'uuid': self.cloud.network_id('shared')}],
            'config_drive': True,
            'metadata': {'role': 'web'},
            'user_data': base64.b64encode(SCRIPT).decode(),
            'personality': [{'path': '/etc/motd', 'contents': contents}],
        }
        made = self.api('POST', '/servers', {'server': body}, status=202, version=WITH_FILES)
        server = self.cloud.admin.compute.get_server(made['server']['id'])
        return self.cloud.wait(server), made['server']['adminPass']

    def test_what_a_guest_finds(self):
        server, password = self.boot_with_files()
        self.assertTrue(server.has_config_drive)
        listed = self.command('driven')
        for path in (META_DATA, 'openstack/content/0000', 'ec2/2009-04-04/meta-data.json'):
            self.assertIn(f'| {path} ', listed)
        found = self.meta_data(server)
        self.assertEqual(
            (server.id, password, {'role': 'web'}),
            (found['uuid'], found['admin_pass'], found['meta']),
        )
        self.assertEqual([{'path': '/etc/motd', 'content_path': '/content/0000'}], found['files'])
        self.assertEqual(MOTD.decode(), self.command(server.id, 'openstack/content/0000'))
        (port,) = self.cloud.admin.network.ports(device_id=server.id)
        network_data = json.loads(self.command(server.id, 'openstack/latest/network_data.json'))
        self.assertEqual([port.id], [link['vif_id'] for link in network_data['links']])

    def test_written(self):
        server, _password = self.boot_with_files()
        directory = os.path.join(self.useFixture(fixtures.TempDir()).path, 'drive')
        self.command(server.id, '--write', directory)
        self.assertEqual(0o700, stat.S_IMODE(os.stat(directory).st_mode))
        with open(os.path.join(directory, 'openstack', 'latest', 'user_data'), 'rb') as file:
            self.assertEqual(SCRIPT, file.read())
        self.assertIn('File exists', self.command(server.id, '--write', directory, code=2))

    def test_is_as_old_as_its_guest(self):
        """Another guest has another drive, without what was given for the first alone."""
        server, _password = self.boot_with_files()
        self.cloud.admin.compute.set_server_metadata(server, role='database')
        self.stage.act(server, 'reboot', {'type': 'HARD'})
        self.cloud.wait(server)
        self.assertEqual({'role': 'web'}, self.meta_data(server)['meta'])
        for action, content in (
            ('rebuild', {'imageRef': self.cloud.image_id('cirros')}),
            ('migrate', {'host': 'cell2-host1'}),
        ):
            self.stage.act(server, action, content)
            self.cloud.wait(server, 'VERIFY_RESIZE' if action == 'migrate' else 'ACTIVE')
            found = self.meta_data(server)
            self.assertEqual({'role': 'database'}, found['meta'])
            self.assertEqual(set(), {'admin_pass', 'files'} & set(found))
        self.stage.act(server, 'revertResize')
        self.cloud.wait(server)
        self.assertEqual({'role': 'database'}, self.meta_data(server)['meta'])

    def test_what_is_not_there(self):
        server = self.cloud.boot('plain')
        self.assertIn('no guest with a config drive', self.command('plain', code=2))
        self.assertIn('could not be found', self.command('nobody', code=2))
        driven, _password = self.boot_with_files()
        self.assertIn('has no file', self.command(driven.id, 'nothing', code=2))
        self.delete(server, driven)
        self.assertIn('no guest with a config drive', self.command(driven.id, code=2))
