"""simcloud's QoS policies against the real Neutron's."""

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
