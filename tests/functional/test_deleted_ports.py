"""The owner deletes a port of a server at any time: the server stays usable."""

from nova_lite import context
from nova_lite.db.cell import network_info
from tests.fixtures import owners
from tests.functional import own_cloud
from tests.functional import owners_table
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

SLOW_IMAGES = """
extends: instant
hosts:
  - match: '*'
    delays: {snapshot: 10}
"""
SLOW_BUILDS = "extends: instant\nhosts: [{match: '*', delays: {spawn: 3}}]\n"


@sample.in_turns(2)
class LostPortsTest(own_cloud.OwnCloudTest):
    """A port goes while a task runs that is no saga, or without an event."""

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.server = self.moving.boot_full(**owners.two_networks(self.moving))
        self.lost, self.kept = owners.ports(self.moving, self.server)
        self.network = self.moving.world.network

    def recorded(self):
        """Ids of the ports whose addresses the server shows."""
        found = self.cloud.admin.compute.get_server(self.server.id)
        shown = {each['OS-EXT-IPS-MAC:mac_addr'] for each in sum(found.addresses.values(), [])}
        ports = (self.lost, self.kept)
        return [port.id for port in ports if port.mac_address in shown]

    def wait_followed(self):
        self.cloud.wait_for(lambda: self.recorded() == [self.kept.id], 'the record to follow')

    def move(self):
        self.moving.act(self.server, 'migrate')
        self.cloud.wait(self.server, 'VERIFY_RESIZE')

    def test_during_an_image(self):
        self.moving.behave(SLOW_IMAGES)
        self.moving.act(self.server, 'createImage', {'name': 'copy'})
        owners.delete_port(self.moving, self.server)
        self.wait_followed()
        self.assertIsNotNone(self.cloud.admin.compute.get_server(self.server.id).task_state)
        self.cloud.wait(self.server)
        self.assertEqual([], self.cloud.findings())
        self.move()

    def test_during_a_build(self):
        self.moving.behave(SLOW_BUILDS)
        networks = owners.two_networks(self.moving)['networks']
        self.server = self.cloud.boot(networks=networks, wait=False)

        def bound():
            found = owners.ports(self.moving, self.server)
            return found if all(port.binding_host_id for port in found) and found[1:] else None

        self.lost, self.kept = self.cloud.wait_for(bound, 'bound ports')
        owners.delete_port(self.moving, self.server)
        self.assertEqual('spawning', self.cloud.admin.compute.get_server(self.server.id).task_state)
        self.cloud.wait(self.server)
        self.wait_followed()
        self.assertEqual([], self.cloud.findings())
        self.move()

    def test_without_an_event(self):
        """The network service reports no deletion by ourselves."""
        self.network.release(context.admin(), [{'id': self.lost.id, 'preserve_on_delete': False}])
        self.assertEqual([self.lost.id, self.kept.id], self.recorded())
        self.wait_followed()
        self.assertEqual([], self.cloud.findings())
        self.move()

    def test_of_a_record_alone(self):
        """A saga records the ports that it found last, and its guest may have others."""
        path = f'/ports/{self.lost.id}'
        body = {'device_id': '', 'device_owner': ''}
        self.network.service.call(context.admin(), 'PUT', path, json={'port': body})
        cell = self.moving.world.cells.of_instance(self.server.id)
        cell.db.write(network_info.forget, self.server.id, {self.lost.id})
        self.assertEqual([self.kept.id], self.recorded())
        self.assertEqual({self.lost.id, self.kept.id}, self.plugged())
        self.cloud.wait_for(
            lambda: self.plugged() == {self.kept.id}, 'the guest to follow the record', 180
        )
        self.network.release(context.admin(), [{'id': self.lost.id, 'preserve_on_delete': False}])

    def plugged(self):
        """Ids of the ports of the guest."""
        host = self.server.compute_host
        return {*self.moving.manager.guest_ports(context.admin(), host)[self.server.id]}

    def test_given_to_another_device(self):
        """Changes by its new owner stay."""
        body = {'device_id': 'another', 'binding:host_id': 'of-another'}
        path = f'/ports/{self.lost.id}'
        self.network.service.call(context.admin(), 'PUT', path, json={'port': body})
        self.move()
        self.moving.act(self.server, 'confirmResize', status=204)
        self.cloud.wait(self.server)
        self.wait_followed()
        self.cloud.admin.compute.delete_server(self.server)
        self.cloud.wait_gone(self.server)
        port = self.network.get_port(context.admin(), self.lost.id)
        self.assertEqual(body, {name: port[name] for name in body})
        self.network.release(context.admin(), [{'id': self.lost.id, 'preserve_on_delete': False}])


globals().update(owners_table.classes(__name__, 'DeletedPort', owners.DELETED_PORT))
