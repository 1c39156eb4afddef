"""The unmodified command line client creates ports with guarantees, as the guide says.

It runs as a process, so these tests are not played in the simulation.
"""

from tests.fixtures import cli as cli_fixture
from tests.fixtures import guarantees
from tests.functional import base

SINCE = ('--os-compute-api-version', '2.72')


class ResourceRequestClientTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 2, 'profile': guarantees.PROFILE}

    def test_guide(self):
        cli = self.useFixture(cli_fixture.Cli(self.cloud))
        types = {each['Type'] for each in cli.show('network', 'qos', 'rule', 'type', 'list')}
        self.assertLessEqual({'minimum_bandwidth', 'minimum_packet_rate'}, types)
        cli.openstack('network', 'qos', 'policy', 'create', 'gold')
        rule = ('network', 'qos', 'rule', 'create', 'gold', '--type')
        cli.openstack(*rule, 'minimum-bandwidth', '--min-kbps', '1000', '--egress')
        cli.openstack(*rule, 'minimum-packet-rate', '--min-kpps', '5', '--any')
        port = ('port', 'create', '--network', 'private', '--qos-policy', 'gold')
        ports = [cli.show(*port, f'port{number}')['id'] for number in (1, 2)]
        server = ('server', 'create', '--flavor', 'm1.tiny', '--image', 'cirros', '--wait')
        cli.openstack('--os-compute-api-version', '2.71', *server, '--port', 'port1', 's', status=1)
        made = cli.show(*SINCE, *server, '--port', 'port1', 'server1')
        self.assertEqual('ACTIVE', made['status'])
        shown = cli.show('port', 'show', 'port1')
        groups = {group['id'] for group in shown['resource_request']['request_groups']}
        self.assertEqual(groups, shown['binding_profile']['allocation'].keys())
        held = cli.show('resource', 'provider', 'allocation', 'show', made['id'])
        self.assertLessEqual(
            set(shown['binding_profile']['allocation'].values()),
            {each['resource_provider'] for each in held},
        )
        # The host has no more bandwidth; without the other port it has.
        cli.openstack('server', 'add', 'port', 'server1', 'port2', status=1)
        cli.openstack('server', 'remove', 'port', 'server1', 'port1')
        self.cloud.wait_for(self.cloud.is_consistent, 'the port to be released')
        cli.openstack('server', 'add', 'port', 'server1', 'port2')
        self.delete(self.cloud.admin.compute.get_server(made['id']))
        for port_id in ports:
            self.cloud.admin.network.delete_port(port_id)
        cli.openstack('network', 'qos', 'policy', 'delete', 'gold')
