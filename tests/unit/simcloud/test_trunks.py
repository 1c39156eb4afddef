"""Trunks: who may be in them, where their ports are, and what is refused."""

from tests.unit.simcloud import base

V2 = '/network/v2.0'


class TrunksTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.parent, self.one, self.two = (self.new_port() for _ in range(3))

    def new_port(self, **values):
        return self.port(self.demo, 'private', **values)

    def subport(self, port, number=7, **values):
        segment = {'segmentation_type': 'vlan', 'segmentation_id': number}
        return {'port_id': port['id'], **segment, **values}

    def trunk(self, *subports, expect=201, parent=None, **values):
        wanted = {'port_id': (parent or self.parent)['id'], 'sub_ports': list(subports), **values}
        answer = self.demo.post(f'{V2}/trunks', {'trunk': wanted}, expect=expect)
        return answer.get('trunk') or answer['NeutronError']

    def change(self, trunk, verb, *subports, expect=200, client=None):
        path = f'{V2}/trunks/{trunk["id"]}/{verb}_subports'
        answer = (client or self.demo).put(path, {'sub_ports': list(subports)}, expect=expect)
        return answer if expect == 200 else answer['NeutronError']['type']

    def shown(self, port):
        return self.admin.get(f'{V2}/ports/{port["id"]}')['port']

    def bind(self, host):
        """Bind the parent as the compute service does for a server."""
        wanted = {'binding:host_id': host, 'device_id': 'server', 'device_owner': 'compute:nova'}
        self.admin.put(f'{V2}/ports/{self.parent["id"]}', {'port': wanted})

    def test_subports_follow_their_parent(self):
        made = self.trunk(self.subport(self.one))
        self.assertEqual('DOWN', made['status'])
        self.bind('a')
        path = f'{V2}/trunks/{made["id"]}'
        self.assertEqual('ACTIVE', self.demo.get(path)['trunk']['status'])
        self.change(made, 'add', self.subport(self.two, 8))
        bindings = f'{V2}/ports/{self.parent["id"]}/bindings'
        self.admin.post(bindings, {'binding': {'host': 'b'}})
        for host in ('a', 'b'):
            for port in (self.one, self.two):
                found = self.shown(port)
                self.assertEqual(
                    (host, 'ACTIVE', 'trunk:subport'),
                    (found['binding:host_id'], found['status'], found['device_owner']),
                )
            if host == 'a':
                self.admin.put(f'{bindings}/b/activate')
        for host in ('a', 'b'):
            self.admin.delete(f'{bindings}/{host}')
        self.assertEqual('DOWN', self.shown(self.one)['status'])
        self.admin.post(bindings, {'binding': {'host': 'd'}})
        self.assertEqual('d', self.shown(self.one)['binding:host_id'])
        self.bind('c')
        self.demo.delete(path)
        self.assertEqual(
            ('', 'c'),
            tuple(self.shown(port)['binding:host_id'] for port in (self.one, self.parent)),
        )

    def test_ports_are_in_one_trunk(self):
        made = self.trunk(self.subport(self.one))
        for port, kind in ((self.parent, 'ParentPortInUse'), (self.one, 'TrunkPortInUse')):
            self.assertEqual(kind, self.trunk(parent=port, expect=409)['type'])
            wanted = self.subport(port, 8)
            self.assertEqual(kind, self.change(made, 'add', wanted, expect=409))
        for port, kind in ((self.parent, 'TrunkParent'), (self.one, 'SubPort')):
            answer = self.demo.delete(f'{V2}/ports/{port["id"]}', expect=409)
            self.assertEqual(f'PortInUseAs{kind}', answer['NeutronError']['type'])
        gone = {'port_id': self.two['id']}
        self.assertEqual('SubPortNotFound', self.change(made, 'remove', gone, expect=404))
        left = self.change(made, 'remove', {'port_id': self.one['id']})
        self.assertEqual([], left['sub_ports'])
        self.demo.delete(f'{V2}/ports/{self.one["id"]}')

    def test_subports_that_cannot_be(self):
        made = self.trunk(self.subport(self.one))
        for values, word in (
            ({'segmentation_type': 'vxlan'}, 'vxlan'),
            ({'segmentation_id': 4095}, '4095'),
            ({'segmentation_type': 'inherit'}, 'vxlan'),
        ):
            wanted = self.subport(self.two, **values)
            answer = self.trunk(wanted, parent=self.new_port(), expect=400)
            self.assertIn(word, answer['message'])
        bare = {'port_id': self.two['id']}
        self.assertEqual('InvalidInput', self.change(made, 'add', bare, expect=400))
        same = self.subport(self.two)
        self.assertEqual('DuplicateSubPort', self.change(made, 'add', same, expect=409))
        used = self.subport(self.new_port(device_id='server'), 9)
        self.assertEqual('PortInUse', self.change(made, 'add', used, expect=409))
        # Nothing of a refused creation stays.
        self.assertEqual(1, len(self.demo.get(f'{V2}/trunks')['trunks']))
        text = self.subport(self.two, '10')
        found = self.change(made, 'add', text)['sub_ports']
        self.assertEqual({7, 10}, {one['segmentation_id'] for one in found})

    def test_disabled_trunks_keep_their_subports(self):
        made = self.trunk(self.subport(self.one), admin_state_up=False)
        gone = {'port_id': self.one['id']}
        self.assertEqual('TrunkDisabled', self.change(made, 'remove', gone, expect=409))
        self.demo.put(f'{V2}/trunks/{made["id"]}', {'trunk': {'admin_state_up': True}})
        self.change(made, 'remove', gone)

    def test_projects_are_apart(self):
        made = self.trunk(self.subport(self.one))
        path = f'{V2}/trunks/{made["id"]}'
        other = self.believed('u', 'p', 'member')
        other.get(path, expect=404)
        other.delete(path, expect=404)
        other.get(f'{path}/get_subports', expect=404)
        self.assertEqual([], other.get(f'{V2}/trunks')['trunks'])
        wanted = {'trunk': {'port_id': self.two['id']}}
        answer = other.post(f'{V2}/trunks', wanted, expect=404)
        self.assertEqual('PortNotFound', answer['NeutronError']['type'])
        reader = self.believed('u', self.parent['project_id'], 'reader')
        kind = self.change(made, 'remove', {'port_id': self.one['id']}, client=reader, expect=403)
        self.assertEqual('PolicyNotAuthorized', kind)

    def test_quotas_and_tags(self):
        project_id = self.parent['project_id']
        self.admin.put(f'{V2}/quotas/{project_id}', {'quota': {'trunk': 1}})
        made = self.trunk()
        self.assertEqual('OverQuota', self.trunk(parent=self.one, expect=409)['type'])
        self.demo.put(f'{V2}/trunks/{made["id"]}/tags', {'tags': ['blue']})
        (found,) = self.demo.get(f'{V2}/trunks?tags=blue')['trunks']
        self.assertEqual(made['id'], found['id'])

    def test_a_router_keeps_its_ports_of_trunks(self):
        network = self.demo.post(f'{V2}/networks', {'network': {}})['network']['id']
        wanted = {'network_id': network, 'ip_version': 4, 'cidr': '192.0.2.0/24'}
        self.demo.post(f'{V2}/subnets', {'subnet': wanted})
        parent, one = (
            self.demo.post(f'{V2}/ports', {'port': {'network_id': network}})['port']
            for _ in range(2)
        )
        made = self.trunk(self.subport(one), parent=parent)
        for port, role in ((parent, 'TrunkParent'), (one, 'SubPort')):
            router = self.demo.post(f'{V2}/routers', {'router': {}})['router']['id']
            path, wanted = f'{V2}/routers/{router}', {'port_id': port['id']}
            self.demo.put(f'{path}/add_router_interface', wanted)
            answer = self.demo.put(f'{path}/remove_router_interface', wanted, expect=409)
            self.assertEqual(f'PortInUseAs{role}', answer['NeutronError']['type'])
        self.demo.delete(f'{V2}/trunks/{made["id"]}')
        self.demo.put(f'{path}/remove_router_interface', wanted)

    def test_a_subport_may_be_given_to_a_server(self):
        made = self.trunk(self.subport(self.one))
        wanted = {'device_id': 'server', 'device_owner': 'compute:nova', 'binding:host_id': 'a'}
        self.admin.put(f'{V2}/ports/{self.one["id"]}', {'port': wanted})
        (left,) = self.demo.get(f'{V2}/trunks/{made["id"]}')['trunk']['sub_ports']
        self.assertEqual(self.one['id'], left['port_id'])
        # It stays the server's.
        self.demo.delete(f'{V2}/trunks/{made["id"]}')
        found = self.shown(self.one)
        self.assertEqual(('compute:nova', 'a'), (found['device_owner'], found['binding:host_id']))
