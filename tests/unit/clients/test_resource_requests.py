"""Requests of ports to placement, in both formats of the network service."""

import json

import testtools

from nova_lite import runtime
from nova_lite.clients import resource_requests
from nova_lite.objects import flavor as flavors
from nova_lite.objects import request_spec
from nova_lite.objects import selection as selections

BANDWIDTH, RATE = 'NET_BW_EGR_KILOBIT_PER_SEC', 'NET_PACKET_RATE_KILOPACKET_PER_SEC'
FORMER = {
    'id': 'former',
    'resource_request': {'required': ['CUSTOM_A'], 'resources': {BANDWIDTH: 1}},
}
PORT = {
    'id': 'port',
    'resource_request': {
        'request_groups': [
            {'id': 'g1', 'required': ['CUSTOM_A', 'CUSTOM_B'], 'resources': {BANDWIDTH: 2}},
            {'id': 'g2', 'required': ['CUSTOM_B'], 'resources': {RATE: 3}},
        ],
        'same_subtree': ['g1', 'g2'],
    },
}
PLAIN = {'id': 'plain', 'resource_request': None}
MAPPINGS = {'': ['node'], 'former': ['bridge'], 'g1': ['bridge'], 'g2': ['agent']}


class ResourceRequestsTest(testtools.TestCase):
    def selection(self, mappings=MAPPINGS):
        return selections.Selection(
            service_host='host',
            nodename='host',
            compute_node_uuid=runtime.new_uuid(),
            cell_uuid=runtime.new_uuid(),
            allocation_request=json.dumps({'allocations': {}, 'mappings': mappings}),
        )

    def test_in_a_spec(self):
        flavor = flavors.Flavor(id=1, flavorid='1', name='f', vcpus=1, memory_mb=1)
        spec = request_spec.RequestSpec(
            instance_uuid=runtime.new_uuid(), project_id='p', user_id='u', flavor=flavor
        )
        resource_requests.put_in(spec, [FORMER, PORT, PLAIN])
        self.assertEqual(
            [('former', {BANDWIDTH: 1}), ('g1', {BANDWIDTH: 2}), ('g2', {RATE: 3})],
            [(group.suffix, group.resources) for group in spec.requested_resources],
        )
        self.assertEqual(['CUSTOM_B'], spec.requested_resources[2].required_traits)
        self.assertEqual(['g1,g2'], spec.same_subtree)

    def test_allocations(self):
        given = resource_requests.mappings(self.selection())
        self.assertEqual('bridge', resource_requests.allocation(FORMER, given))
        expected = {'g1': 'bridge', 'g2': 'agent'}
        self.assertEqual(expected, resource_requests.allocation(PORT, given))
        for port in (FORMER, PORT, PLAIN):
            self.assertIsNone(resource_requests.allocation(port, {'': ['node']}))

    def test_of_requested_networks(self):
        network = {'network_id': 'n', 'port_id': None}
        named = {'port_id': 'port', 'resource_request': PORT['resource_request']}
        found = resource_requests.allocated([network, named], self.selection())
        self.assertEqual(network, found[0])
        self.assertEqual({'g1': 'bridge', 'g2': 'agent'}, found[1]['allocation'])
        for other in ('auto', 'none', None, [network]):
            self.assertEqual(other, resource_requests.allocated(other, self.selection()))

    def test_amounts(self):
        for port, allocation, expected in (
            (FORMER, 'bridge', {'bridge': {BANDWIDTH: 1}}),
            (PORT, {'g1': 'one', 'g2': 'one'}, {'one': {BANDWIDTH: 2, RATE: 3}}),
            (PORT, {'g1': 'one'}, {'one': {BANDWIDTH: 2}}),
            (PORT, None, {}),
            (PLAIN, {'g1': 'one'}, {}),
        ):
            profile = resource_requests.profile({'other': 1}, allocation)
            bound = {**port, 'binding:profile': profile}
            self.assertEqual(expected, resource_requests.amounts(bound))
        self.assertEqual({'other': 1}, resource_requests.profile(profile, None))
