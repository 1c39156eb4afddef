"""The owner deletes a security group of a server at any time: the server stays usable."""

import fixtures

from nova_lite.clients import network
from tests.fixtures import owners
from tests.functional import own_cloud
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
EVERY = 12


class BuildTest(own_cloud.OwnCloudTest):
    """The group goes between the acceptance of a server and its ports."""

    settings = own_cloud.FOUR_HOSTS

    def test_build(self):
        """As in nova the build fails at once. Nothing of it stays, and another one succeeds."""
        options = owners.own_group(self.moving)
        neutron = self.cloud.admin.network
        name = options['security_groups'][0]['name']
        allocate = network.Network.allocate
        hosts = []

        def late(self_, *args, **values):
            hosts.append(values['host'])
            if found := neutron.find_security_group(name):
                neutron.delete_security_group(found)
            return allocate(self_, *args, **values)

        with fixtures.MonkeyPatch('nova_lite.clients.network.Network.allocate', late):
            server = self.cloud.boot(status='ERROR', **options)
        fault = self.cloud.admin.compute.get_server(server.id).fault
        self.assertIn(name, fault['message'])
        self.assertEqual(1, len(hosts))
        self.assertEqual([], owners.ports(self.moving, server))
        del options['security_groups']
        self.cloud.boot(**options)


globals().update(owners_table.classes(__name__, 'DeletedGroup', owners.DELETED_GROUP, every=EVERY))
