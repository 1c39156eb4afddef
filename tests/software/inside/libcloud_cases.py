"""apache-libcloud's OpenStack driver, as a user of one project."""

import unittest

import cloud
from libcloud.compute import providers
from libcloud.compute import types

STATES = types.NodeState


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make = providers.get_driver(types.Provider.OPENSTACK)
        demo = cloud.SETTINGS['demo']
        cls.driver = make(
            demo['username'],
            demo['password'],
            api_version='2.2',
            ex_force_auth_url=demo['auth_url'].removesuffix('/v3'),
            ex_force_auth_version='3.x_password',
            ex_tenant_name=demo['project_name'],
            ex_domain_name='Default',
            ex_force_service_region='RegionOne',
        )
        cls.sizes = {size.name: size for size in cls.driver.list_sizes()}
        (cls.image,) = [
            each for each in cls.driver.list_images() if each.name == cloud.SETTINGS['image']
        ]
        (cls.network,) = [
            each for each in cls.driver.ex_list_networks() if each.name == cloud.SETTINGS['network']
        ]

    def make(self, **values):
        """A server that runs, deleted after the case."""
        size = self.sizes[cloud.SETTINGS['flavor']]
        node = self.driver.create_node(
            name=self._testMethodName,
            size=size,
            image=self.image,
            networks=[self.network],
            **values,
        )
        self.addCleanup(self.destroy, node)
        ((node, _addresses),) = self.driver.wait_until_running(
            [node], wait_period=1, ssh_interface='private_ips'
        )
        return node

    def destroy(self, node):
        """Delete a server, and wait until it is gone."""
        self.assertTrue(self.driver.destroy_node(node))
        cloud.wait('deleted', lambda: node.id not in [each.id for each in self.driver.list_nodes()])

    def become(self, node, status):
        cloud.wait(
            status,
            lambda: (
                self.driver.ex_get_node_details(node.id).extra['vm_state'] == status
                and self.driver.ex_get_node_details(node.id).extra['task_state'] is None
            ),
        )

    def test_power(self):
        node = self.make()
        for act, status in (
            (self.driver.ex_stop_node, 'stopped'),
            (self.driver.ex_start_node, 'active'),
            (self.driver.ex_pause_node, 'paused'),
            (self.driver.ex_unpause_node, 'active'),
            (self.driver.ex_suspend_node, 'suspended'),
            (self.driver.ex_resume_node, 'active'),
            (self.driver.ex_soft_reboot_node, 'active'),
            (self.driver.ex_hard_reboot_node, 'active'),
        ):
            self.assertTrue(act(node))
            self.become(node, status)
        self.driver.ex_get_console_output(node)

    def test_resize(self):
        node, larger = self.make(), self.sizes[cloud.SETTINGS['flavor_alt']]
        for ends in (self.driver.ex_revert_resize, self.driver.ex_confirm_resize):
            self.assertTrue(self.driver.ex_resize(node, larger))
            self.become(node, 'resized')
            self.assertTrue(ends(node))
            self.become(node, 'active')

    def test_metadata_keys_and_groups(self):
        pair = self.driver.create_key_pair(name='libcloud')
        self.addCleanup(self.driver.delete_key_pair, pair)
        group = self.driver.ex_create_security_group('libcloud', 'd')
        self.addCleanup(self.driver.ex_delete_security_group, group)
        self.driver.ex_create_security_group_rule(group, 'tcp', 22, 22, cidr='0.0.0.0/0')
        node = self.make(
            ex_keyname=pair.name,
            ex_userdata='#!/bin/sh',
            ex_config_drive=True,
            ex_metadata={'a': 'b'},
            ex_security_groups=[group],
        )
        self.assertEqual({'a': 'b'}, self.driver.ex_get_metadata(node))
        self.driver.ex_set_metadata(node, {'c': 'd'})
        self.assertEqual('libcloud', node.extra['key_name'])
        self.assertTrue(node.private_ips)

    def test_volumes(self):
        node = self.make()
        volume = self.driver.create_volume(1, 'libcloud')
        volume = cloud.wait('available', lambda: self.volume(volume, 'available'))
        self.assertTrue(self.driver.attach_volume(node, volume))
        volume = cloud.wait('in use', lambda: self.volume(volume, 'inuse'))
        self.assertTrue(self.driver.detach_volume(volume))
        volume = cloud.wait('available', lambda: self.volume(volume, 'available'))
        snapshot = self.driver.create_volume_snapshot(volume, 'libcloud')
        self.assertTrue(self.driver.destroy_volume_snapshot(snapshot))
        cloud.wait('no snapshot', lambda: not self.driver.ex_list_snapshots())
        self.assertTrue(self.driver.destroy_volume(volume))

    def volume(self, volume, state):
        """The volume, if it is in a state."""
        found = self.driver.ex_get_volume(volume.id)
        return found if found.state == state else None

    def test_images(self):
        node = self.make()
        image = self.driver.create_image(node, 'libcloud')
        self.addCleanup(self.driver.delete_image, image)
        cloud.wait(
            'active', lambda: self.driver.get_image(image.id).extra['status'].lower() == 'active'
        )


if __name__ == '__main__':
    cloud.main()
