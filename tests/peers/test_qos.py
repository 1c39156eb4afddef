"""simcloud's QoS policies against the real Neutron's."""

import requests

from tests.peers import base
from tests.peers import callers
from tests.peers import networks


class QosTest(networks.NetworkPeersTest):
    def policy(self, peer, **values):
        wanted = {'name': self._testMethodName, **values}
        return peer.made('/qos/policies', {'policy': wanted})['id']

    @base.same
    def test_rule_types(self, peer):
        peer.ask('GET', '/qos/rule-types')
        peer.ask('GET', '/qos/rule-types?all_supported=true')
        peer.ask('GET', '/qos/rule-types?all_rules=true')
        for name in ('dscp_marking', 'bandwidth_limit', 'minimum_bandwidth', 'other'):
            peer.ask('GET', f'/qos/rule-types/{name}')
        for who in (callers.MEMBER, callers.READER):
            peer.headers = callers.by(who)
            peer.ask('GET', '/qos/rule-types')
            peer.ask('GET', '/qos/rule-types/dscp_marking')

    @base.same
    def test_tags(self, peer):
        policy = self.policy(peer)
        path = f'/policies/{policy}/tags'
        peer.ask('PUT', path, {'tags': ['a', 'b']})
        peer.ask('PUT', f'{path}/c')
        for each in ('', '/a', '/x'):
            peer.ask('GET', path + each)
        peer.ask('GET', f'/qos/policies/{policy}')
        for query in ('tags=a', 'tags=a,x', 'tags-any=a,x', 'not-tags=a'):
            peer.ask('GET', f'/qos/policies?name={self._testMethodName}&{query}')
        for tags in (['x' * 256], ['a', 'a'], 'a', [1], [], ['']):
            peer.ask('PUT', path, {'tags': tags})
        peer.ask('PUT', path, {'tags': ['a', 'b']})
        for each in ('/a', '/x', ''):
            peer.ask('DELETE', path + each)
        peer.ask('GET', path)
        peer.ask('GET', f'/policies/{callers.NOWHERE}/tags')

    @base.same
    def test_who_may_tag(self, peer):
        peer.headers = callers.by(callers.ADMINISTRATOR)
        project = callers.MEMBER['project']
        policy = self.policy(peer, project_id=project)
        path = f'/policies/{policy}/tags'
        peer.ask('PUT', path, {'tags': ['a']})
        for who in (callers.MEMBER, callers.READER, callers.STRANGER):
            peer.headers = callers.by(who)
            peer.ask('GET', path)
            peer.ask('PUT', path, {'tags': ['b']})
            peer.ask('DELETE', f'{path}/a')

    @base.same
    def test_default_policies(self, peer):
        policy, other = self.policy(peer, is_default=True), self.policy(peer)
        peer.note('default', self.shown(peer, policy)['is_default'])
        peer.ask('POST', '/qos/policies', {'policy': {'name': 'x', 'is_default': True}})
        peer.ask('PUT', f'/qos/policies/{other}', {'policy': {'is_default': True}})
        peer.ask('PUT', f'/qos/policies/{policy}', {'policy': {'is_default': True}})
        network = self.network(peer)
        self.network(peer, qos_policy_id=other)
        self.network(peer, qos_policy_id=None)
        port = self.port(peer, network)
        peer.ask('GET', port)
        peer.ask('DELETE', f'/qos/policies/{policy}')
        peer.ask('PUT', f'/qos/policies/{policy}', {'policy': {'is_default': False}})
        peer.ask('PUT', f'/qos/policies/{other}', {'policy': {'is_default': True}})
        for each in (policy, other):
            peer.note('default', self.shown(peer, each)['is_default'])
        peer.ask('PUT', f'/qos/policies/{other}', {'policy': {'is_default': False}})

    @staticmethod
    def shown(peer, policy):
        url = f'{peer.url}/qos/policies/{policy}'
        return requests.get(url, headers=peer.headers, timeout=60).json()['policy']

    @base.same
    def test_policies_of_gateways(self, peer):
        policy = self.policy(peer)
        network = self.network(peer, **networks.OUTSIDE)
        one = {'start': '192.0.2.9', 'end': '192.0.2.9'}
        self.subnet(peer, network, allocation_pools=[one])
        gateway = {'network_id': network, 'enable_snat': True}
        router = peer.made('/routers', {'router': {'name': 'a'}})['id']
        for values in ({'qos_policy_id': policy}, {}, {'qos_policy_id': callers.NOWHERE}):
            body = {'router': {'external_gateway_info': {**gateway, **values}}}
            peer.ask('PUT', f'/routers/{router}', body)
            peer.ask('GET', f'/routers/{router}')
        peer.ask('DELETE', f'/qos/policies/{policy}')
        body = {'router': {'external_gateway_info': {**gateway, 'qos_policy_id': None}}}
        peer.ask('PUT', f'/routers/{router}', body)
        peer.ask('DELETE', f'/qos/policies/{policy}')
        peer.ask('DELETE', f'/routers/{router}')
        peer.ask('DELETE', f'/networks/{network}')
