"""Servers of a cloud whose Keystone, Glance, Neutron and Cinder are all the real ones.

A member of a project makes them, with the real clients, and an administrator moves them.
"""

from openstack import exceptions

from tests.fixtures import cli
from tests.fixtures import commands
from tests.fixtures import real_cloud
from tests.neighbours import base


class LifeTest(base.CloudTest):
    # ---- lives ----

    def test_the_openstack_client(self):
        """The life of a server, with the openstack client alone."""
        demo, admin = (self.useFixture(cli.Cli(self.cloud, name)) for name in ('demo', 'admin'))
        demo.openstack('volume', 'create', '--size', '1', 'data')
        self.until('available', lambda: demo.show('volume', 'show', 'data')['status'])
        words = ('--image', 'cirros', '--flavor', 'm1.tiny', '--network', 'private')
        demo.openstack('server', 'create', *words, '--wait', 'life')
        demo.openstack('server', 'add', 'volume', 'life', 'data')
        self.until('in-use', lambda: demo.show('volume', 'show', 'data')['status'])
        demo.openstack('server', 'image', 'create', '--name', 'picture', '--wait', 'life')
        demo.openstack('server', 'resize', '--flavor', 'm1.small', '--wait', 'life')
        demo.openstack('server', 'resize', 'confirm', 'life')
        shown = demo.show('server', 'show', 'life')
        self.until('ACTIVE', lambda: demo.show('server', 'show', 'life')['status'])
        admin.openstack('server', 'migrate', '--live-migration', '--wait', shown['id'])
        demo.openstack('server', 'shelve', '--wait', 'life')
        self.until('SHELVED_OFFLOADED', lambda: demo.show('server', 'show', 'life')['status'])
        demo.openstack('server', 'unshelve', '--wait', 'life')
        self.assertEqual('ACTIVE', demo.show('server', 'show', 'life')['status'])
        demo.openstack('server', 'remove', 'volume', 'life', 'data')
        self.until('available', lambda: demo.show('volume', 'show', 'data')['status'])
        demo.openstack('server', 'delete', '--wait', 'life')
        demo.openstack('image', 'delete', 'picture')
        demo.openstack('volume', 'delete', 'data')

    def test_verify(self):
        """The command, while a server has something in each service."""
        self.boot()
        code, printed, errors = commands.run('verify', '--state-dir', self.cloud.state_dir)
        self.assertEqual(0, code, printed + errors)

    def test_boot_and_delete(self):
        server = self.boot()
        self.reach(server, 'ACTIVE', self.looking.host(server))
        (port,) = self.looking.ports(server)
        (address,) = self.demo.compute.get_server(server.id).addresses['private']
        self.assertEqual(port.fixed_ips[0]['ip_address'], address['addr'])
        project = self.demo.current_project_id
        self.assertEqual(project, port.project_id)
        (volume,) = self.looking.volumes().values()
        self.assertEqual(project, volume.project_id)
        self.demo.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.assertEqual([], self.looking.ports(server))
        self.until({}, self.looking.volumes)

    def test_boot_from_a_volume(self):
        """From one that exists, and from one that is made of the image."""
        volume = self.volume(image_id=self.cloud.image_id())
        existing = {'source_type': 'volume', 'uuid': volume.id, 'destination_type': 'volume'}
        server = self.demo.compute.create_server(
            name='existing',
            flavor_id=self.cloud.flavor_id('m1.tiny'),
            networks=[{'uuid': self.cloud.network_id()}],
            block_device_mapping=[{'boot_index': 0, **existing}],
        )
        self.cloud.wait(server)
        for each in (server, self.moving.boot_from_volume('made', connection=self.demo)):
            host = self.looking.host(each)
            self.reach(each, 'ACTIVE', host)
            (attachment,) = self.looking.attachments(each)
            found = self.looking.volumes()[attachment['volume_id']].attachments
            self.assertEqual(['/dev/vda'], [held['device'] for held in found])

    # ---- volumes and interfaces ----

    def test_attach_and_detach(self):
        server = self.cloud.boot(connection=self.demo)
        volume = self.volume()
        self.demo.compute.create_volume_attachment(server, volume_id=volume.id)
        connected = ('in-use', 'attached', self.looking.host(server))
        self.until([connected], self.looking.connected, server)
        self.demo.compute.delete_volume_attachment(server, volume.id)
        self.until([], self.looking.attachments, server)
        self.assertEqual('available', self.looking.volumes()[volume.id].status)

    def test_volume_that_moves_to_another_back_end(self):
        """Cinder moves it, and has our API swap it for the new one."""
        server = self.boot()
        connected = ('in-use', 'attached', self.looking.host(server))
        ((volume_id, volume),) = self.looking.volumes().items()
        (target,) = base.BACKENDS - {volume.host}
        self.admin.block_storage.migrate_volume(volume, host=target)
        self.until((volume_id, target), self.place_of_volume)
        self.until([connected], self.looking.connected, server)
        (attachment,) = self.demo.compute.volume_attachments(server)
        self.assertEqual(volume_id, attachment.volume_id)
        # The guest has it by that ID, too.
        self.assertEqual([], self.cloud.findings())
        self.demo.compute.delete_volume_attachment(server, volume_id)
        self.until([], self.looking.attachments, server)

    def test_swap_that_an_administrator_asks_for(self):
        """Cinder does not migrate the volume, and refuses to complete that."""
        server = self.boot()
        ((_id, old),) = self.looking.volumes().items()
        new, storage = self.volume(), self.admin.block_storage
        storage.reset_volume_status(old, migration_status='migrating')
        self.admin.compute.update_volume_attachment(server, old.id, volume_id=new.id)
        self.until(
            [new.id], lambda: [each['volume_id'] for each in self.looking.attachments(server)]
        )
        connected = ('in-use', 'attached', self.looking.host(server))
        self.until([connected], self.looking.connected, server)
        # Cinder shows no change of the status of a volume that it migrates.
        storage.reset_volume_status(
            old, status='available', attach_status='detached', migration_status='none'
        )

    def place_of_volume(self):
        """(id, back end) of the only volume; None while there is another."""
        found = [(each.id, each.host) for each in self.looking.volumes().values()]
        return found[0] if len(found) == 1 else None

    def test_interfaces(self):
        server = self.boot()
        interface = self.demo.compute.create_server_interface(
            server, net_id=self.cloud.network_id()
        )
        plugged = ('ACTIVE', {self.looking.host(server): base.PLUGGED})
        self.until([plugged, plugged], self.looking.plugged, server)
        self.demo.compute.delete_server_interface(interface.port_id, server)
        self.until([plugged], self.looking.plugged, server)

    # ---- images ----

    def test_snapshot(self):
        """Of a server with a disk of its own; another is made from it."""
        server = self.boot()
        image = self.demo.compute.create_server_image(server, 'snapshot', wait=True)
        found = self.looking.images()['snapshot']
        project = self.demo.current_project_id
        self.assertEqual(('active', project), (found.status, found.owner))
        self.assertEqual(server.id, found.instance_uuid)
        self.boot_bare(image.id)
        self.demo.image.delete_image(image.id)

    def test_location_of_a_snapshot(self):
        """Before microversion 2.45 a header names the image, below Glance's endpoint."""
        server = self.boot()
        answer = self.moving.act(
            server, 'createImage', {'name': 'located'}, version='2.1', cloud='demo'
        )
        location = answer.headers['Location']
        image = self.demo.image.find_image('located')
        self.assertEqual(f'{self.cloud.glance.url}/images/{image.id}', location)
        self.cloud.wait(server)
        self.demo.image.delete_image(image.id)

    def test_snapshot_of_a_server_on_a_volume(self):
        """The image has snapshots of its volumes; another server is made from them."""
        server = self.moving.boot_from_volume('server', connection=self.demo)
        image = self.demo.compute.create_server_image(server, 'snapshot', wait=True)
        (snapshot,) = self.looking.volume_snapshots()
        self.assertEqual('available', snapshot.status)
        self.assertIn(snapshot.id, str(image.properties['block_device_mapping']))
        other = self.demo.compute.create_server(
            name='other',
            image_id=image.id,
            flavor_id=self.cloud.flavor_id('m1.tiny'),
            networks=[{'uuid': self.cloud.network_id()}],
        )
        self.cloud.wait(other)
        self.reach(other, 'ACTIVE', self.looking.host(other))
        self.demo.image.delete_image(image.id)

    def test_shelve_and_unshelve(self):
        server = self.boot()
        self.demo.compute.shelve_server(server)
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.assertEqual('active', self.looking.images()[f'{server.name}-shelved'].status)
        (port,) = self.looking.ports(server)
        self.assertEqual('unbound', port.binding_vif_type)
        self.assertEqual([('reserved', 'reserved', None)], self.looking.connected(server))
        self.demo.compute.unshelve_server(server)
        self.cloud.wait(server)
        self.reach(server, 'ACTIVE', self.looking.host(server))
        self.until({real_cloud.IMAGE}, lambda: set(self.looking.images()))

    def test_rebuild(self):
        """Of servers with another image, one of which is on a volume that Cinder writes again."""
        other = self.demo.image.create_image(
            'other', disk_format='raw', container_format='bare', data=b'other'
        )
        for server in (self.boot(), self.moving.boot_from_volume('root', connection=self.demo)):
            host = self.looking.host(server)
            self.moving.act(server, 'rebuild', {'imageRef': other.id}, cloud='demo')
            self.reach(server, 'ACTIVE', host)
        ((_id, volume),) = [each for each in self.looking.volumes().items() if each[1].is_bootable]
        self.assertEqual('other', volume.volume_image_metadata['image_name'])
        self.demo.image.delete_image(other)

    def test_image_of_another_project(self):
        """The member may use it; what is made of it is his own."""
        image, project = self.admin.image, self.demo.current_project_id
        shared = image.create_image(
            'shared',
            disk_format='raw',
            container_format='bare',
            visibility='shared',
            data=b'shared',
        )
        image.add_member(shared, member_id=project)
        server = self.boot_bare(shared.id)
        made = self.demo.compute.create_server_image(server, 'snapshot', wait=True)
        found = self.looking.images()['snapshot']
        self.assertEqual(('private', project), (found.visibility, found.owner))
        self.assertEqual([project], [each.member_id for each in image.members(shared)])
        for each in (shared, made):
            image.delete_image(each.id)

    # ---- events ----

    def test_port_that_is_deleted(self):
        """Neutron reports it, and the server loses it. A member may not do that."""
        server = self.boot()
        (port,) = self.looking.ports(server)
        self.assertRaises(exceptions.ForbiddenException, self.demo.network.delete_port, port)
        self.admin.network.delete_port(port)
        self.until({}, lambda: self.demo.compute.get_server(server.id).addresses)
        self.assertEqual([], self.looking.ports(server))

    def test_floating_address(self):
        """Neutron reports it when a server gets and loses one."""
        server, network = self.boot(), self.admin.network
        public = network.create_network(
            name='public',
            is_router_external=True,
            provider_network_type='flat',
            provider_physical_network='public',
        )
        network.create_subnet(network_id=public.id, ip_version=4, cidr='192.0.2.0/24')
        router = network.create_router(external_gateway_info={'network_id': public.id})
        (subnet,) = network.get_network(self.cloud.network_id()).subnet_ids
        network.add_interface_to_router(router, subnet_id=subnet)
        (port,) = self.looking.ports(server)
        given = self.demo.network.create_ip(floating_network_id=public.id, port_id=port.id)
        fixed = port.fixed_ips[0]['ip_address']
        self.until({fixed, given.floating_ip_address}, self.addresses, server)
        self.demo.network.delete_ip(given)
        self.until({fixed}, self.addresses, server)
        network.remove_interface_from_router(router, subnet_id=subnet)
        network.delete_router(router)
        network.delete_network(public)

    def addresses(self, server):
        (found,) = self.demo.compute.get_server(server.id).addresses.values()
        return {each['addr'] for each in found}

    def test_security_groups_of_a_port(self):
        """Neutron reports their change, and the server shows them without asking it."""
        server, network = self.boot(), self.demo.network
        self.assertEqual(['default'], self.groups(server))
        (port,) = self.looking.ports(server)
        web = network.create_security_group(name='web')
        updated = self.demo.compute.get_server(server.id).updated_at
        network.update_port(port.id, security_groups=[*port.security_group_ids, web.id])
        self.until(['default', 'web'], self.groups, server)
        self.demo.compute.remove_security_group_from_server(server, web)
        self.assertEqual(['default'], self.groups(server))
        network.update_port(port.id, security_groups=[])
        self.until([], self.groups, server)
        self.assertEqual(updated, self.demo.compute.get_server(server.id).updated_at)
        network.delete_security_group(web)

    def groups(self, server):
        found = self.demo.compute.get_server(server.id).security_groups or []
        return sorted(each['name'] for each in found)

    def test_volume_that_is_extended(self):
        """Cinder reports it."""
        server = self.boot()
        ((volume_id, _volume),) = self.looking.volumes().items()
        answer = self.demo.block_storage.post(
            f'/volumes/{volume_id}/action',
            json={'os-extend': {'new_size': 2}},
            microversion='3.42',
        )
        answer.raise_for_status()
        reported = f'Event volume-extended {volume_id} of server {server.id}'
        self.until(True, lambda: reported in self.cloud.log('api.top'))
        self.until('in-use', lambda: self.looking.statuses()[volume_id])
        self.assertEqual(2, self.looking.volumes()[volume_id].size)

    # ---- moves ----

    def test_live_migration(self):
        server = self.boot()
        host = self.looking.host(server)
        self.admin.compute.live_migrate_server(server, block_migration='auto')
        self.until(self.near(host), self.looking.host, server)
        self.reach(server, 'ACTIVE', self.near(host))

    def resize_within_cell(self, server):
        """Resize a server to the other host of its cell; return where it was."""
        host = self.looking.host(server)
        self.demo.compute.resize_server(server, self.cloud.flavor_id('m1.small'))
        self.reach(server, 'VERIFY_RESIZE', self.near(host), host)
        return host

    def test_resize_and_confirm(self):
        server = self.boot()
        host = self.resize_within_cell(server)
        self.demo.compute.confirm_server_resize(server)
        self.reach(server, 'ACTIVE', self.near(host))

    def test_resize_and_revert(self):
        server = self.boot()
        host = self.resize_within_cell(server)
        self.demo.compute.revert_server_resize(server)
        self.reach(server, 'ACTIVE', host)

    def resize_to_another_cell(self, server):
        """Resize a server whose cell has no other host that takes it; return where it was."""
        host = self.looking.host(server)
        with self.moving.disabled(self.near(host)):
            self.admin.compute.resize_server(server, self.cloud.flavor_id('m1.small'))
            self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertNotEqual(host[:5], self.looking.host(server)[:5])
        self.reach(server, 'VERIFY_RESIZE', self.looking.host(server), host)
        return host

    def test_resize_to_another_cell_and_confirm(self):
        server = self.boot()
        self.resize_to_another_cell(server)
        self.demo.compute.confirm_server_resize(server)
        self.reach(server, 'ACTIVE', self.looking.host(server))

    def test_resize_to_another_cell_and_revert(self):
        server = self.boot()
        host = self.resize_to_another_cell(server)
        self.demo.compute.revert_server_resize(server)
        self.reach(server, 'ACTIVE', host)

    def test_migration_of_a_server_on_a_volume(self):
        """Within its cell and back, and to the other cell."""
        server = self.moving.boot_from_volume('server', connection=self.demo)
        host = self.looking.host(server)
        self.admin.compute.migrate_server(server, host=self.far(host))
        self.reach(server, 'VERIFY_RESIZE', self.far(host), host)
        self.admin.compute.confirm_server_resize(server)
        self.reach(server, 'ACTIVE', self.far(host))
