"""Security groups of servers, on the simulated network service."""

from nova_lite import exception
from nova_lite.db.cell import instances
from tests.fixtures import compute_api
from tests.fixtures import neighboured_api
from tests.unit.api.servers import base


class TestSecurityGroups(base.Case):
    def make_api(self):
        return neighboured_api.NeighbouredApi()

    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server(security_groups=['default'])
        self.port = self.api.plug(self.uuid, self.api.add_network()['id'])
        self.notify()
        self.web = self.api.make('/security-groups', {'security_group': {'name': 'web'}})

    def notify(self):
        """Report to the API that a port of the server has changed."""
        event = {'name': 'network-changed', 'server_uuid': self.uuid}
        body = {'events': [event]}
        self.ok('POST', '/os-server-external-events', body, who=base.ADMIN)

    def change(self, *groups):
        """Give the port these groups in the network service itself, which reports it."""
        values = {'port': {'security_groups': [group['id'] for group in groups]}}
        self.ask_network('PUT', f'/ports/{self.port["id"]}', json=values)
        self.notify()

    def ask_network(self, method, path, **options):
        return self.api.network.service.call(self.api.ctxt, method, path, **options)

    def count_requests(self):
        """Return the list of the paths that the network service is asked for from now on."""
        call, asked = self.api.network.service.call, []

        def count(ctxt, method, path, **options):
            asked.append(path)
            return call(ctxt, method, path, **options)

        self.api.network.service.call = count
        return asked

    def be_silent(self):
        """Make the network service not answer. Return the list of the paths of requests."""
        asked = []

        def fail(ctxt, method, path, **options):
            asked.append(path)
            raise exception.Unavailable(service='network', reason='test')

        self.api.network.service.call = fail
        return asked

    def forget_ports(self):
        """Record the ports without their groups, as an earlier release did."""
        (vif,) = self.api.row(self.uuid).network_info
        values = {'network_info': [{**vif, 'security_groups': None}]}
        self.api.cell('cell1').db.write(instances.update, self.uuid, values)

    def allow(self, **values):
        rule = {'security_group_id': self.web['id'], 'direction': 'ingress', **values}
        return self.api.make('/security-group-rules', {'security_group_rule': rule})

    def listed(self):
        body = self.ok('GET', f'/servers/{self.uuid}/os-security-groups').json
        return {group['name']: group for group in body['security_groups']}

    def shown(self):
        """The names that the server itself shows."""
        server = self.ok('GET', f'/servers/{self.uuid}').json['server']
        return [group['name'] for group in server['security_groups']]

    def on_port(self):
        port = self.api.network.get_port(self.api.ctxt, self.port['id'])
        return port['security_groups']

    def test_added_and_removed(self):
        for _ in range(2):
            self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
            self.assertIn(self.web['id'], self.on_port())
            self.assertEqual(['default', 'web'], sorted(self.shown()))
        self.assertEqual({'default', 'web'}, set(self.listed()))
        self.act(self.uuid, 'removeSecurityGroup', {'name': self.web['id']})
        self.assertNotIn(self.web['id'], self.on_port())
        self.assertEqual(['default'], self.shown())
        self.assertEqual(['default'], list(self.listed()))

    def test_a_name_is_that_of_a_group_of_the_caller(self):
        """As in nova, which asks for the groups of the project of the caller."""
        who = {**base.ADMIN, 'project': 'beta'}
        values = {'security_group': {'name': 'web', 'project_id': 'beta'}}
        other = self.ask_network('POST', '/security-groups', json=values).json()['security_group']
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'}, who=who)
        self.assertIn(other['id'], self.on_port())
        self.assertNotIn(self.web['id'], self.on_port())
        self.act(self.uuid, 'addSecurityGroup', {'name': self.web['id']}, who=who)
        self.assertIn(self.web['id'], self.on_port())

    def test_of_the_ports_and_not_of_the_record(self):
        values = {'security_groups': [self.web['id']]}
        self.api.cell('cell1').db.write(instances.update, self.uuid, values)
        self.assertEqual(['default'], self.shown())
        self.change(self.web)
        self.assertEqual(['web'], self.shown())
        listed = self.ok('GET', '/servers/detail').json['servers']
        self.assertEqual([[{'name': 'web'}]], [each['security_groups'] for each in listed])
        # One for each port, as in nova.
        self.api.plug(self.uuid, self.port['network_id'])
        self.notify()
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertEqual(['default', 'web', 'web'], sorted(self.shown()))

    def test_a_port_without_groups(self):
        self.change()
        self.assertNotIn('security_groups', self.ok('GET', f'/servers/{self.uuid}').json['server'])
        (listed,) = self.ok('GET', '/servers/detail').json['servers']
        self.assertNotIn('security_groups', listed)

    def test_a_group_that_the_caller_may_not_see(self):
        """As in nova, which asks the network service with the token of the caller."""
        values = {'security_group': {'name': 'other', 'project_id': 'beta'}}
        made = self.ask_network('POST', '/security-groups', json=values).json()
        self.change(made['security_group'], self.web)
        self.assertEqual(['web'], self.shown())
        server = self.ok('GET', f'/servers/{self.uuid}', who=base.ADMIN).json['server']
        self.assertEqual({'other', 'web'}, {each['name'] for each in server['security_groups']})

    def test_requests(self):
        """One for the names of all groups, which are known for a while."""
        self.change(self.web)
        asked = self.count_requests()
        for _each in range(2):
            self.ok('GET', '/servers')
            self.ok('GET', '/servers/detail')
            self.assertEqual(['web'], self.shown())
            self.assertEqual(['/security-groups'], asked)

    def test_a_record_without_the_groups_of_ports(self):
        """It shows those as of the creation, by name, or as of the last change by this API."""
        self.forget_ports()
        self.assertEqual(['default'], self.shown())
        values = {'security_groups': [self.web['id']]}
        self.api.cell('cell1').db.write(instances.update, self.uuid, values)
        self.assertEqual(['web'], self.shown())
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertEqual(['default', 'web'], sorted(self.shown()))

    def test_a_network_service_that_does_not_answer(self):
        """The recorded names are shown, and it is asked once in a while."""
        self.change(self.web)
        asked = self.be_silent()
        for _each in range(3):
            self.assertEqual(['default'], self.shown())
        self.assertEqual(['/security-groups'], asked)

    def test_a_caller_whom_the_network_service_refuses(self):
        """The callers of other projects are not refused with them."""
        self.change(self.web)
        call = self.api.network.service.call

        def refuse(ctxt, *args, **options):
            if ctxt.project_id == 'alpha':
                raise exception.NeighbourForbids(service='network', reason='test')
            return call(ctxt, *args, **options)

        self.api.network.service.call = refuse
        self.assertEqual(['default'], self.shown())
        who = {**base.ADMIN, 'project': 'beta'}
        server = self.ok('GET', f'/servers/{self.uuid}', who=who).json['server']
        self.assertEqual([{'name': 'web'}], server['security_groups'])

    def test_updated(self):
        before = self.api.row(self.uuid).updated_at
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertEqual(before, self.api.row(self.uuid).updated_at)

    def test_a_server_without_ports(self):
        uuid = self.api.add_server(security_groups=['default'], vm_state='error', host=None)
        for path, name in ((f'/servers/{uuid}', 'server'), ('/servers/detail', 'servers')):
            shown = self.ok('GET', path).json[name]
            server = shown[0] if name == 'servers' else shown
            self.assertEqual(uuid, server['id'])
            self.assertNotIn('security_groups', server)

    def test_a_server_that_is_being_built_with_the_id(self):
        self.uuid = self.api.add_server(security_groups=[self.web['id']], vm_state='building')
        self.assertEqual([self.web['id']], self.shown())

    def test_two_groups_at_once(self):
        other = self.api.make('/security-groups', {'security_group': {'name': 'other'}})
        groups = self.api.network.security_groups
        on_ports, racing = groups.on_ports, [other]

        def change_meanwhile(ctxt, uuid):
            found = on_ports(ctxt, uuid)
            if racing:
                groups.add(ctxt, uuid, racing.pop())
            return found

        groups.on_ports = change_meanwhile
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertEqual(['default', 'other', 'web'], sorted(self.shown()))

    def test_a_port_that_is_refused(self):
        """The record tells what the ports before it have."""
        self.api.plug(self.uuid, self.port['network_id'])
        call, changes = self.api.network.service.call, []

        def refuse_second(ctxt, method, path, **options):
            if method == 'PUT':
                changes.append(path)
                if len(changes) == 2:
                    raise exception.Unavailable(service='network', reason='it is stopping')
            return call(ctxt, method, path, **options)

        self.api.network.service.call = refuse_second
        self.refused_act(self.uuid, 'addSecurityGroup', {'name': 'web'}, code=503)
        self.assertEqual(['default', 'web'], self.shown())
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertIn(self.web['id'], self.on_port())

    def test_rules(self):
        made = self.allow(protocol='tcp', port_range_min=80, port_range_max=81)
        group = {'name': 'default', 'tenant_id': 'alpha'}
        default = self.listed()['default']['id']
        for values in (
            {'protocol': 'udp', 'remote_ip_prefix': '10.0.0.0/8'},
            {'protocol': 'icmp', 'remote_group_id': default},
            {'ethertype': 'IPv6'},
        ):
            self.allow(**values)
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        found = self.listed()['web']
        self.assertEqual(
            {'id': self.web['id'], 'name': 'web', 'description': '', 'tenant_id': 'alpha'},
            {name: found[name] for name in found if name != 'rules'},
        )
        self.assertIn(
            {
                'id': made['id'],
                'parent_group_id': self.web['id'],
                'ip_protocol': 'tcp',
                'from_port': 80,
                'to_port': 81,
                'group': {},
                'ip_range': {'cidr': '0.0.0.0/0'},
            },
            found['rules'],
        )
        brief = {
            (rule['ip_protocol'], rule['from_port'], rule['to_port']): (
                rule['group'],
                rule['ip_range'],
            )
            for rule in found['rules']
        }
        self.assertEqual(
            {
                ('tcp', 80, 81): ({}, {'cidr': '0.0.0.0/0'}),
                ('udp', 1, 65535): ({}, {'cidr': '10.0.0.0/8'}),
                ('icmp', -1, -1): (group, {}),
                (None, None, None): ({}, {'cidr': '::/0'}),
            },
            brief,
        )

    def test_a_source_that_the_server_does_not_have(self):
        other = self.api.make('/security-groups', {'security_group': {'name': 'other'}})
        self.allow(remote_group_id=other['id'])
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        (rule,) = self.listed()['web']['rules']
        self.assertEqual({'name': 'other', 'tenant_id': 'alpha'}, rule['group'])

    def test_a_source_that_the_caller_does_not_see(self):
        listed = self.api.network.list
        default = listed(self.api.context_of(compute_api.OTHER), 'security-groups', as_user=True)
        self.allow(remote_group_id=default[0]['id'])
        self.act(self.uuid, 'addSecurityGroup', {'name': 'web'})
        self.assertEqual([], self.listed()['web']['rules'])

    def test_refused(self):
        for action in ('addSecurityGroup', 'removeSecurityGroup'):
            for value in ({'name': ''}, {'name': ' '}, {'name': 1}, {}, None):
                self.refused_act(self.uuid, action, value, code=400)
            self.refused_act(self.uuid, action, {'name': 'x'}, code=404, text='group x')
            bare = self.api.add_server()
            self.refused_act(bare, action, {'name': 'web'}, code=404, text='no ports')
            reader = compute_api.READER
            self.refused_act(self.uuid, action, {'name': 'web'}, code=403, who=reader)
        self.refused_act(self.uuid, 'removeSecurityGroup', {'name': 'web'}, code=404, text='web')
        self.api.make('/security-groups', {'security_group': {'name': 'web'}})
        self.refused_act(self.uuid, 'addSecurityGroup', {'name': 'web'}, code=409, text='web')
        self.assertEqual(['default'], self.shown())
