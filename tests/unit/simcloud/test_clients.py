"""Real clients against simcloud on a socket: openstacksdk and keystonemiddleware."""

import io

import falcon.testing
from keystonemiddleware import auth_token
import openstack
from openstack import exceptions
import testtools

from nova_lite.simcloud import seed
from tests.fixtures import simcloud

SERVER = '11111111-1111-4111-8111-111111111111'


def connection_of(cloud, username, project):
    """openstacksdk as this user; settings of the surroundings are not looked at."""
    login = cloud.login(username, project)
    del login['auth_type']
    return openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth=login,
        region_name='RegionOne',
        interface='public',
    )


class SdkTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud())
        self.admin = self.connect('admin', 'admin')
        self.demo = self.connect('demo', 'demo')

    def connect(self, username, project):
        connection = connection_of(self.cloud, username, project)
        self.addCleanup(connection.close)
        return connection

    def test_identity(self):
        project = self.admin.identity.create_project(name='p', description='d')
        user = self.admin.identity.create_user(
            name='u', password=simcloud.PASSWORD, default_project_id=project.id
        )
        role = self.admin.identity.find_role('member')
        self.admin.identity.assign_project_role_to_user(project, user, role)
        self.assertEqual(project.id, self.connect('u', 'p').current_project_id)
        self.assertEqual(['p'], [one.name for one in self.admin.identity.user_projects(user)])
        self.admin.identity.delete_user(user)
        self.admin.identity.delete_project(project)
        self.assertRaises(exceptions.ForbiddenException, list, self.demo.identity.users())

    def test_shares(self):
        client = self.demo.shared_file_system
        share = client.create_share(name='s', size=1, share_protocol='NFS')
        self.assertEqual('available', client.wait_for_status(share, 'available').status)
        self.assertEqual(share.id, client.find_share('s').id)
        self.assertEqual([share.id], [one.id for one in client.shares()])
        (location,) = client.export_locations(share)
        self.assertTrue(location.is_preferred)
        rule = client.create_access_rule(share.id, access_type='ip', access_to='10.0.0.1')
        self.assertEqual([rule.id], [one.id for one in client.access_rules(share)])
        client.delete_access_rule(rule.id, share.id)
        lock = client.create_resource_lock(resource_id=share.id, resource_type='share')
        self.assertRaises(exceptions.ConflictException, client.delete_share, share)
        client.delete_resource_lock(lock.id)
        client.delete_share(share)

    def test_image(self):
        data = b'some data' * 1000
        image = self.demo.create_image(
            'i',
            data=data,
            disk_format='raw',
            container_format='bare',
            wait=True,
            visibility='private',
            hw_disk_bus='virtio',
        )
        self.assertEqual(('active', len(data)), (image.status, image.size))
        self.demo.image.update_image(image.id, name='j', min_disk=1, os_distro='x')
        shown = self.demo.image.find_image('j')
        self.assertEqual((1, 'x'), (shown.min_disk, shown.os_distro))
        saved = io.BytesIO()
        self.demo.image.download_image(image.id, output=saved)
        self.assertEqual(data, saved.getvalue())
        self.demo.image.delete_image(image.id)
        self.assertIsNone(self.demo.image.find_image(image.id))
        self.assertEqual(
            sorted(seed.IMAGES), sorted(one.name for one in self.demo.image.images(limit=1))
        )

    def test_upload_without_a_known_length(self):
        image = self.demo.image.create_image(
            name='k', disk_format='raw', container_format='bare', allow_duplicates=True
        )
        self.demo.image.put(
            f'/images/{image.id}/file',
            data=iter((b'one', b'two')),
            headers={'Content-Type': 'application/octet-stream'},
        )
        self.assertEqual(6, self.demo.image.get_image(image.id).size)

    def test_network(self):
        network = self.demo.network.create_network(name='n')
        subnet = self.demo.network.create_subnet(
            network_id=network.id, ip_version=4, cidr='192.0.2.0/24'
        )
        port = self.demo.network.create_port(network_id=network.id)
        self.assertEqual(subnet.id, port.fixed_ips[0]['subnet_id'])
        group = self.demo.network.create_security_group(name='g')
        self.demo.network.create_security_group_rule(
            security_group_id=group.id,
            direction='ingress',
            protocol='tcp',
            port_range_min=80,
            port_range_max=80,
        )
        self.demo.network.update_port(port, security_groups=[group.id])
        self.assertEqual(
            [port.id], [one.id for one in self.demo.network.ports(network_id=network.id)]
        )
        self.assertRaises(exceptions.ConflictException, self.demo.network.delete_network, network)
        self.demo.network.delete_port(port)
        self.demo.network.delete_network(network)
        self.assertEqual(
            {'public', 'private', 'shared'},
            {one.name for one in self.demo.network.networks(limit=1)},
        )

    def test_subnet_pools(self):
        client = self.demo.network
        scope = client.create_address_scope(name='scope', ip_version=4)
        pool = client.create_subnet_pool(
            name='pool', prefixes=['10.0.0.0/16'], address_scope_id=scope.id
        )
        self.assertEqual(pool.id, client.find_subnet_pool('pool').id)
        network = client.create_network(name='pooled')
        subnet = client.create_subnet(
            network_id=network.id, ip_version=4, subnet_pool_id=pool.id, prefix_length=26
        )
        self.assertEqual(('10.0.0.0/26', pool.id), (subnet.cidr, subnet.subnet_pool_id))
        client.delete_network(network)
        client.delete_subnet_pool(pool)
        client.delete_address_scope(scope)
        self.assertEqual([], [*client.subnet_pools(), *client.address_scopes()])

    def test_port_bindings(self):
        port = self.admin.network.create_port(
            network_id=self.admin.network.find_network('shared').id,
            device_owner='compute:nova',
            binding_host_id='h1',
        )
        self.admin.network.create_port_binding(port, host='h2')
        (binding,) = (one for one in self.admin.network.port_bindings(port) if one.host == 'h2')
        self.assertEqual('INACTIVE', binding.status)
        self.admin.network.activate_port_binding(port, host='h2')
        self.assertEqual('h2', self.admin.network.get_port(port).binding_host_id)
        self.admin.network.delete_port_binding(port, host='h1')
        self.assertEqual(['h2'], [one.host for one in self.admin.network.port_bindings(port)])

    def test_volume(self):
        volumes = self.demo.block_storage
        volume = self.demo.create_volume(1, name='v', image='cirros', wait=True)
        self.assertTrue(volume.is_bootable)
        attachment = volumes.create_attachment(volume, instance=SERVER, connector={})
        volumes.update_attachment(attachment, connector={'host': 'h'})
        volumes.complete_attachment(attachment)
        self.assertEqual('in-use', volumes.get_volume(volume).status)
        self.assertEqual([attachment.id], [one.id for one in volumes.attachments()])
        self.assertRaises(exceptions.ConflictException, volumes.delete_attachment, attachment)
        service = self.connect('nova', 'service')
        gone = volumes.delete(
            f'/attachments/{attachment.id}',
            headers={'X-Service-Token': service.auth_token},
            microversion='3.44',
        )
        self.assertEqual(200, gone.status_code)
        snapshot = volumes.create_snapshot(volume_id=volume.id, name='s')
        volumes.wait_for_status(snapshot)
        volumes.delete_snapshot(snapshot)
        self.demo.delete_volume(volume.id, wait=True)
        self.assertEqual([], list(volumes.volumes()))
        self.assertEqual(2, len(list(volumes.types())))

    def test_group_types(self):
        client = self.admin.block_storage
        made = client.create_group_type(name='kind', description='d')
        self.assertTrue(made.is_public)
        client.create_group_type_group_specs(made, {'a': '1'})
        client.update_group_type_group_specs_property(made, 'a', '2')
        self.assertEqual('2', client.get_group_type_group_specs_property(made, 'a'))
        for read in (
            lambda block: block.get_group_type_group_specs_property(made, 'a'),
            lambda block: block.fetch_group_type_group_specs(made),
        ):
            read(client)
            self.assertRaises(exceptions.ForbiddenException, read, self.demo.block_storage)
        client.delete_group_type_group_specs_property(made, 'a')
        self.assertEqual('e', client.update_group_type(made.id, description='e').description)
        self.assertEqual([made.id], [each.id for each in self.demo.block_storage.group_types()])
        self.assertRaises(
            exceptions.ForbiddenException, self.demo.block_storage.delete_group_type, made
        )
        client.delete_group_type(made)
        self.assertEqual([], list(client.group_types()))


class Guarded:
    """A WSGI application that says who its caller is."""

    def __call__(self, environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain')])
        who = (environ['HTTP_X_PROJECT_NAME'], environ['HTTP_X_USER_NAME'], environ['HTTP_X_ROLES'])
        return [' '.join(who).encode()]


class MiddlewareTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud())
        login = self.cloud.login('nova', 'service')
        guard = auth_token.AuthProtocol(
            Guarded(),
            {**login, 'www_authenticate_uri': login['auth_url'], 'token_cache_time': '-1'},
        )
        # falcon looks at signatures, and webob's decorated methods have none.
        self.client = falcon.testing.TestClient(
            lambda environ, start_response: guard(environ, start_response)
        )
        connection = connection_of(self.cloud, 'demo', 'demo')
        self.addCleanup(connection.close)
        self.connection = connection
        self.headers = {'X-Auth-Token': connection.auth_token}

    def test_token_is_validated_until_it_is_revoked(self):
        result = self.client.simulate_get('/', headers=self.headers)
        self.assertEqual('demo demo member,reader', result.text)
        self.connection.identity.delete(
            '/auth/tokens', headers={'X-Subject-Token': self.headers['X-Auth-Token']}
        )
        self.assertEqual(401, self.client.simulate_get('/', headers=self.headers).status_code)

    def test_nobody_and_nonsense_are_refused(self):
        for headers in ({}, {'X-Auth-Token': 'nonsense'}):
            result = self.client.simulate_get('/', headers=headers)
            self.assertEqual(401, result.status_code)
            self.assertIn('/identity', result.headers['www-authenticate'])
