"""Security groups that are added while a server is being built or unshelved."""

from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 3}}]\n"


class AddedMeanwhileTest(own_cloud.OwnCloudTest):
    """The host works on the guest with ports that were read before."""

    settings = {'cells': 1, 'hosts': 1}

    def setUp(self):
        super().setUp()
        self.network = self.cloud.admin.network
        self.web = self.network.create_security_group(name='web')
        self.cloud.behave(SLOW)

    def ports(self, server):
        return list(self.network.ports(device_id=server.id))

    def add_when_bound(self, server):
        """Add the group as soon as the host has the port."""

        def is_bound():
            ports = self.ports(server)
            return bool(ports) and all(port.binding_host_id for port in ports)

        self.cloud.wait_for(is_bound, 'a bound port')
        task = self.cloud.admin.compute.get_server(server.id).task_state
        self.assertIn(task, ('spawning', 'unshelving'))
        self.moving.act(server, 'addSecurityGroup', {'name': 'web'})

    def assert_added(self, server):
        self.cloud.wait(server)
        self.moving.wait_idle(server)
        (port,) = self.ports(server)
        self.assertIn(self.web.id, port.security_group_ids)
        found = self.cloud.api('GET', f'/servers/{server.id}').json()['server']
        shown = sorted(group['name'] for group in found['security_groups'])
        self.assertEqual(['default', 'web'], shown)

    def boot(self):
        networks = [{'uuid': self.cloud.network_id()}]
        return self.cloud.boot(networks=networks, wait=False)

    def test_build(self):
        server = self.boot()
        self.add_when_bound(server)
        self.assert_added(server)

    def test_unshelve(self):
        server = self.boot()
        self.cloud.wait(server)
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(server)
        self.moving.act(server, 'unshelve')
        self.add_when_bound(server)
        self.assert_added(server)
