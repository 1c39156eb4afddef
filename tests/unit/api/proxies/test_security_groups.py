"""/os-security-groups and /os-security-group-rules, on the simulated network service."""

from nova_lite import runtime
from tests.fixtures import compute_api
from tests.unit.api.proxies import base

PATH, RULES = '/os-security-groups', '/os-security-group-rules'
WEB = {'security_group': {'name': 'web', 'description': 'a description'}}


class TestSecurityGroups(base.Case):
    def setUp(self):
        super().setUp()
        self.web = self.ok('POST', PATH, WEB).json['security_group']

    def names(self, query='', **options):
        found = self.ok('GET', PATH + query, **options).json['security_groups']
        return [group['name'] for group in found]

    def test_created_changed_and_deleted(self):
        group_id = self.web['id']
        self.assertEqual(
            {
                'id': group_id,
                'name': 'web',
                'description': 'a description',
                'tenant_id': 'alpha',
                'rules': [],
            },
            self.web,
        )
        one = f'{PATH}/{group_id}'
        self.assertEqual({'security_group': self.web}, self.ok('GET', one).json)
        changed = {'security_group': {'name': 'www', 'description': ''}}
        shown = self.ok('PUT', one, changed).json['security_group']
        self.assertEqual(('www', ''), (shown['name'], shown['description']))
        self.assertEqual(['default', 'www'], self.names())
        self.ok('DELETE', one, code=202)
        self.refused('DELETE', one, code=404, text=group_id)
        self.assertEqual(['default'], self.names())

    def test_pages_and_projects(self):
        self.assertEqual(['default'], self.names('?limit=1'))
        self.assertEqual(['web'], self.names('?offset=1'))
        self.assertEqual(['default'], self.names(who=compute_api.OTHER))
        everyone = self.names('?all_tenants=1', who=compute_api.ADMIN)
        self.assertEqual(['default', 'default', 'default', 'web'], sorted(everyone))
        self.assertEqual(['default', 'web'], self.names('?all_tenants=1'))
        for query in ('?limit=-1', '?offset=x'):
            self.refused('GET', PATH + query, code=400)

    def test_refused(self):
        for content in ({}, {'name': 'x'}, {'name': 'x' * 256, 'description': ''}, {'name': 1}):
            self.refused('POST', PATH, {'security_group': content}, code=400)
        long = {'security_group': {'name': 'x', 'description': 'x' * 256}}
        self.refused('POST', PATH, long, code=400, text='description')
        self.refused('POST', PATH, WEB, code=403, who=compute_api.READER)
        for group_id, code in (('x', 400), (runtime.new_uuid(), 404)):
            for method, path, *body in (
                ('GET', PATH),
                ('PUT', PATH, WEB),
                ('DELETE', PATH),
                ('DELETE', RULES),
            ):
                self.refused(method, f'{path}/{group_id}', *body, code=code, text=group_id)
        self.refused('GET', f'{PATH}/{self.web["id"]}', code=404, who=compute_api.OTHER)

    def test_a_group_in_use(self):
        uuid = self.api.add_server()
        self.api.plug(uuid, self.api.add_network()['id'])
        self.act(uuid, 'addSecurityGroup', {'name': 'web'})
        self.refused('DELETE', f'{PATH}/{self.web["id"]}', code=400, text='in use')

    def test_a_quota(self):
        quota = {'quota': {'security_group': 2}}
        self.api.network.service.call(self.api.context_of(compute_api.ADMIN), 'PUT',
                                      '/quotas/alpha', json=quota)  # fmt: skip
        self.refused('POST', PATH, WEB, code=403, text='uota')

    def test_gone_from_2_36(self):
        one, rule = f'{PATH}/{self.web["id"]}', {'security_group_rule': {}}
        self.assert_ends(
            ('GET', PATH), ('POST', PATH, WEB), ('GET', one), ('PUT', one, WEB), ('DELETE', one),
            ('POST', RULES, rule), ('DELETE', f'{RULES}/1'),
        )  # fmt: skip

    # ---- rules ----

    def rule(self, **values):
        return {'security_group_rule': {'parent_group_id': self.web['id'], **values}}

    def allow(self, **values):
        return self.ok('POST', RULES, self.rule(**values)).json['security_group_rule']

    def listed(self):
        return self.ok('GET', f'{PATH}/{self.web["id"]}').json['security_group']['rules']

    def test_rules(self):
        made = self.allow(ip_protocol='TCP', from_port='22', to_port=23, cidr='10.1.2.3/8')
        self.assertEqual(
            {
                'id': made['id'],
                'parent_group_id': self.web['id'],
                'ip_protocol': 'tcp',
                'from_port': 22,
                'to_port': 23,
                'group': {},
                'ip_range': {'cidr': '10.1.2.3/8'},
            },
            made,
        )
        self.assertEqual([made], self.listed())
        self.ok('DELETE', f'{RULES}/{made["id"]}', code=202)
        self.assertEqual([], self.listed())
        self.refused('DELETE', f'{RULES}/{made["id"]}', code=404, text=made['id'])

    def test_kinds_of_rules(self):
        ping = self.allow(ip_protocol='icmp', from_port=-1, to_port=-1)
        self.assertEqual((-1, -1), (ping['from_port'], ping['to_port']))
        self.assertEqual({'cidr': '0.0.0.0/0'}, ping['ip_range'])
        every = self.allow(ip_protocol='udp', from_port=-1, to_port=-1, cidr='2001:db8::/32')
        self.assertEqual((1, 65535), (every['from_port'], every['to_port']))
        self.assertEqual({'cidr': '2001:db8::/32'}, every['ip_range'])
        inner = self.allow(group_id=self.web['id'])
        self.assertEqual({'name': 'web', 'tenant_id': 'alpha'}, inner['group'])
        self.assertEqual((None, {}), (inner['ip_protocol'], inner['ip_range']))
        self.assertEqual(3, len(self.listed()))
        odd = self.allow(ip_protocol='tcp', from_port=True, to_port=2.5, cidr=[], more='x')
        self.assertEqual((1, 2), (odd['from_port'], odd['to_port']))
        self.assertEqual({'cidr': '0.0.0.0/0'}, odd['ip_range'])

    def test_rules_that_cannot_be(self):
        ports = {'from_port': 80, 'to_port': 81}
        for values in (
            {},
            ports,
            {'ip_protocol': 'tcp', 'from_port': 80},
            {'ip_protocol': 'tcp', 'from_port': 81, 'to_port': 80},
            {'ip_protocol': 'tcp', 'from_port': -1, 'to_port': 80},
            {'ip_protocol': 'tcp', 'from_port': 1, 'to_port': 65536},
            {'ip_protocol': 'icmp', 'from_port': 256, 'to_port': 0},
            {'ip_protocol': 'gre', **ports},
            {'ip_protocol': True, **ports},
            {'ip_protocol': 'tcp', 'from_port': [], 'to_port': 80},
            {'ip_protocol': 'tcp', 'from_port': 'x', 'to_port': 80},
            {'ip_protocol': 'icmp', 'from_port': -2, 'to_port': 0},
            {'ip_protocol': 'tcp', **ports, 'cidr': 7},
            {'ip_protocol': 'tcp', **ports, 'cidr': '10.0.0.0/33'},
            {'ip_protocol': 'tcp', **ports, 'cidr': '10.0.0.1'},
            {'ip_protocol': 'tcp', **ports, 'cidr': 'fe80::1%eth0/64'},
            {'ip_protocol': 'tcp', **ports, 'group_id': 'x'},
        ):
            self.refused('POST', RULES, self.rule(**values), code=400)
        missing = runtime.new_uuid()
        values = {'ip_protocol': 'tcp', **ports, 'group_id': missing}
        self.refused('POST', RULES, self.rule(**values), code=404, text=missing)
        self.allow(ip_protocol='tcp', **ports)
        again = self.rule(ip_protocol='tcp', **ports)
        self.refused('POST', RULES, again, code=400, text='already exists')
