"""`nova-lite up -f --bus --db`: a file that describes a cloud, over RabbitMQ and MariaDB."""

import os

import fixtures
import testtools
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tests.fixtures import mariadb
from tests.fixtures import rabbit
from tests.fixtures import servers

RUN_S, STOP_S = 300, 60
CLOUD = """
cells: [{hosts: 2}]
profile: instant
projects: [{name: ci, quotas: {compute: {instances: 4}}}]
users: [{name: bob, projects: {ci: [member]}}]
flavors: [{name: small, vcpus: 1, ram: 128, disk: 1}]
servers: [{name: web, project: ci, flavor: small, image: cirros, host: cell1-host2}]
"""


class CloudFileTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        broker, self.database = map(servers.shared, (rabbit.Rabbit, mariadb.MariaDB))
        broker.renew('top', 'cell1')
        base = self.useFixture(fixtures.TempDir())
        self.state_dir = base.join('cloud')
        self.path = base.join('cloud.yaml')
        texts = {
            'cloud.yaml': CLOUD,
            'bus': broker.vhost_url('/') + '{cell}\n',
            'db': self.database.root_url + '\n',
        }
        for name, text in texts.items():
            with open(base.join(name), 'w') as file:
                file.write(text)
        self.urls = ['--bus-file', base.join('bus'), '--db-file', base.join('db')]
        self.addCleanup(running.stop, self.state_dir, STOP_S)

    def run_command(self, *words, code=0):
        argv = (*words, '--state-dir', self.state_dir)
        found, out, errors = commands.forked(argv, timeout_s=RUN_S)
        self.assertEqual(code, found, f'{words}: {out}{errors}')
        return errors if code else out

    def up(self, code=0):
        return self.run_command(
            'up', '-f', self.path, *self.urls, '--port', '0', '--detach', code=code
        )

    def test_a_cloud(self):
        self.up()
        self.check_objects()
        described = yaml.safe_load(self.run_command('up', '--print-config'))
        self.assertEqual(['ci'], [each['name'] for each in described['projects']])
        self.assertEqual(['web'], [each['name'] for each in described['servers']])
        self.run_command('verify')
        self.run_command('stop')
        # The same file continues with the same servers; another one is refused.
        self.up()
        self.check_objects()
        self.run_command('stop')
        with open(self.path, 'a') as file:
            file.write('networks: [{name: lan}]\n')
        self.assertIn('does not describe the cloud', self.up(code=2))
        self.assertEqual(4, len(self.databases()))
        self.assertEqual(4, self.run_command('stop', '--delete').count('database nova_lite_'))
        self.assertEqual([], self.databases())
        self.assertFalse(os.path.exists(self.state_dir))

    def check_objects(self):
        path = os.path.join(self.state_dir, 'clouds.yaml')
        user = client_connections.connect(path, 'nova-lite-bob')
        self.addCleanup(user.close)
        found = [(each.name, each.status) for each in user.compute.servers()]
        self.assertEqual([('web', 'ACTIVE')], found)
        self.assertEqual(4, user.compute.get_limits().absolute.instances)

    def databases(self):
        places = layout.Layout(layout.Settings(state_dir=self.state_dir))
        with database_servers.connected(self.database.root_url) as connection:
            prefix = places.database_name('')
            return [each for each in database_servers.names(connection) if each.startswith(prefix)]
