"""The network agents of simulated hosts."""

import testtools

from nova_lite.virt.sim import agents
from nova_lite.virt.sim import profile

DOCUMENT = """
hosts:
  - match: 'h*'
    network_agent:
      physical_networks:
        phys-1: {egress_kbps: 2000, ingress_kbps: 1000}
      tunnels: {egress_kbps: 500}
      packet_rate: {any_kpps: 10}
  - match: 'h2'
    network_agent: {packet_rate: {egress_kpps: 3, ingress_kpps: 4}}
"""


class AgentTests(testtools.TestCase):
    def providers(self, host, text=DOCUMENT):
        behaviour = profile.parse(text).behaviour(host)
        return {each.name: each for each in agents.nested_providers(behaviour)}

    def test_none_without_an_agent(self):
        self.assertEqual({}, self.providers('other'))

    def test_tree(self):
        found = self.providers('h1')
        agent = found.pop('Open vSwitch agent')
        self.assertEqual(
            (None, ('CUSTOM_VNIC_TYPE_NORMAL',), {'NET_PACKET_RATE_KILOPACKET_PER_SEC': 10}),
            (agent.parent, agent.traits, agent.totals),
        )
        self.assertEqual({agent.name}, {each.parent for each in found.values()})
        bridge = found['Open vSwitch agent:br-phys-1']
        self.assertEqual(('CUSTOM_VNIC_TYPE_NORMAL', 'CUSTOM_PHYSNET_PHYS_1'), bridge.traits)
        self.assertEqual(
            {'NET_BW_EGR_KILOBIT_PER_SEC': 2000, 'NET_BW_IGR_KILOBIT_PER_SEC': 1000},
            bridge.totals,
        )
        tunnels = found['Open vSwitch agent:rp_tunnelled']
        self.assertIn('CUSTOM_NETWORK_TUNNEL_PROVIDER', tunnels.traits)
        self.assertEqual({'NET_BW_EGR_KILOBIT_PER_SEC': 500}, tunnels.totals)

    def test_later_rules_prevail(self):
        found = self.providers('h2')
        self.assertEqual(
            {
                'NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC': 3,
                'NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC': 4,
            },
            found['Open vSwitch agent'].totals,
        )
        self.assertIn('Open vSwitch agent:br-phys-1', found)

    def test_refusals(self):
        for settings, reason in (
            ('{bandwidth: {}}', "unknown key 'bandwidth'"),
            ('{packet_rate: {any_kpps: 1, egress_kpps: 1}}', 'together with a direction'),
            ('{physical_networks: {p: {egress: 1}}}', "unknown key 'egress'"),
            ('{physical_networks: {p-1: {}, p_1: {}}}', 'have the same trait'),
            ('{tunnels: {egress_kbps: 0}}', 'must be an integer'),
            ('{packet_rate: 5}', 'must be a mapping'),
        ):
            text = f'hosts: [{{network_agent: {settings}}}]'
            refused = self.assertRaises(profile.ProfileError, profile.parse, text)
            self.assertIn(reason, str(refused))
