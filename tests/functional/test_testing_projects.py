"""Projects for tests of clients: nothing of them stays, whatever the test has made."""

import os

import fixtures
from openstack import exceptions as sdk_exceptions

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import running
from nova_lite.lab.testing import admin_requests
from nova_lite.lab.testing import clouds
from nova_lite.lab.testing import fixture
from nova_lite.lab.testing import projects
from nova_lite.simcloud import bodies
from tests.functional import base

# Lists for one project: (service, path, further filters).
OF_PROJECT = (
    ('compute', '/servers', {'all_tenants': True, 'soft_deleted': True}),
    (admin_requests.VOLUME, '/volumes', {'all_tenants': True}),
    (admin_requests.VOLUME, '/snapshots', {'all_tenants': True}),
    (admin_requests.VOLUME, '/backups', {'all_tenants': True}),
    (admin_requests.SHARE, '/shares', {'all_tenants': 1}),
    *(
        ('network', f'/{kind}', {})
        for kind in bodies.words(
            'floatingips routers ports networks subnets trunks subnetpools address-scopes'
        )
    ),
)


class ProjectsTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 2}

    def setUp(self):
        super().setUp()
        places = self.cloud.cloud.places
        self.found = clouds.Cloud(self.cloud.state_dir, running.of(places))

    def remaining(self, project):
        """Return what the services still list for a project and its user."""
        admin = self.found.requests
        found = [
            (path, each['id'])
            for service, path, filters in OF_PROJECT
            for each in admin.list(service, path, project_id=project.id, **filters)
        ]
        found += [
            ('image', each['id']) for each in admin.list('image', '/images', owner=project.id)
        ]
        groups = admin.list('compute', '/os-server-groups', all_projects=True)
        found += [('server group', each['id']) for each in groups]
        # A list for the project alone would make its default group.
        groups = admin.list('network', '/security-groups')
        found += [
            ('security group', each['id']) for each in groups if each['project_id'] == project.id
        ]
        for kind, own in (('projects', project.id), ('users', project.user_id)):
            found += [
                (kind, each['id'])
                for each in admin.list('identity', f'/{kind}')
                if each['id'] == own
            ]
        return found

    def test_everything_is_removed(self):
        with projects.project(self.found) as project:
            self.fill(project)
            self.soft_delete(self.cloud.boot(connection=project.connect()))
            self.assertNotEqual([], self.remaining(project))
        self.assertEqual([], self.remaining(project))
        self.assertFalse(os.path.exists(project.clouds_yaml))

    def fill(self, project):
        """Hold something of each kind, as the member."""
        connection = project.connect()
        network, volumes = connection.network, connection.block_storage
        connection.compute.create_keypair(name='key')
        group = connection.compute.create_server_group(name='apart', policy='anti-affinity')
        server = self.cloud.boot(
            connection=connection,
            networks=[{'uuid': project.network_id}],
            key_name='key',
            scheduler_hints={'group': group.id},
        )
        connection.compute.create_server_image(server, 'copy')
        connection.compute.lock_server(server)
        image = connection.image.create_image(name='mine', wait=False)
        connection.image.update_image(image, is_protected=True)
        volume = volumes.create_volume(name='data', size=1)
        volumes.create_snapshot(volume_id=volume.id, name='then')
        for is_incremental in (False, True):
            volumes.create_backup(volume_id=volume.id, is_incremental=is_incremental)
        connection.shared_file_system.create_share(size=1, share_protocol='NFS', name='files')
        (outer,) = network.networks(is_router_external=True)
        (port,) = network.ports(device_id=server.id)
        network.create_ip(floating_network_id=outer.id, port_id=port.id)
        child = network.create_port(network_id=project.network_id)
        segment = {'segmentation_type': 'vlan', 'segmentation_id': 7}
        network.create_trunk(port_id=port.id, sub_ports=[{'port_id': child.id, **segment}])
        network.create_subnet_pool(name='pool', prefixes=['10.0.0.0/8'])
        network.create_address_scope(name='scope', ip_version=4)
        network.create_security_group(name='open')

    def test_fixtures(self):
        """They use the cloud of the variable; the user is in the environment, and not limited."""
        running.write(self.cloud.state_dir, self.found.running)
        self.useFixture(fixtures.EnvironmentVariable('NOVA_LITE_STATE', self.cloud.state_dir))
        cloud = self.useFixture(fixture.NovaCloud())
        self.assertEqual(self.found, cloud.cloud)
        made = self.useFixture(fixture.Project(cloud, export=True))
        self.assertEqual(made.project.name, os.environ['OS_PROJECT_NAME'])
        connection = client_connections.connect(
            os.environ['OS_CLIENT_CONFIG_FILE'], 'nova-lite-test'
        )
        self.addCleanup(connection.close)
        limits = connection.compute.get_limits().absolute
        self.assertEqual((-1, -1), (limits.instances, limits.total_cores))
        with fixture.Fault(cloud, service='network', request='GET /v2.0/ports*', status=409):
            self.assertRaises(sdk_exceptions.ConflictException, list, connection.network.ports())
        self.assertEqual(2, len(list(connection.network.ports())))

    def test_faults_that_are_gone_already(self):
        """As after a reset; others stay."""
        faults = self.cloud.cloud.faults
        self.addCleanup(faults.clear)
        entries = [{'service': 'share', 'status': status} for status in (500, 501, 502)]
        number = faults.add(entries[0])
        with self.found.faults(entries[1:]):
            faults.clear(number + 1)
            self.assertEqual(2, len(faults.show()['failures']))
        self.assertEqual([{'id': number, **entries[0]}], faults.show()['failures'])
