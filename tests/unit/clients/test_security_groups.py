"""Security groups of servers, on the simulated network service."""

from nova_lite import exception
from nova_lite.clients import port_changes
from tests.unit.clients import networks


class SecurityGroupTest(networks.NetworkTestCase):
    """Groups by name or id."""

    def setUp(self):
        super().setUp()
        self.groups = self.network.security_groups
        self.web = self.make('security_group', name='web')['id']

    def names(self):
        return {group['name'] for group in self.groups.of_server(self.admin, self.owner.uuid)}

    def test_validate(self):
        self.assertEqual([], self.groups.validate(self.member, ['default']))
        self.assertEqual([self.web], self.groups.validate(self.member, ['web', self.web]))
        self.assertRaises(
            exception.SecurityGroupNotUsable, self.groups.validate, self.member, ['nonsense']
        )

    def test_a_name_given_twice(self):
        self.make('security_group', name='web')
        self.assertRaises(exception.NoUniqueMatch, self.groups.validate, self.member, ['web'])

    def test_default(self):
        self.allocate({'network_id': self.make_network()})
        self.assertEqual({'default'}, self.names())

    def test_on_new_ports(self):
        self.allocate({'network_id': self.make_network()}, groups=['web', 'default'])
        self.assertEqual({'web', 'default'}, self.names())

    def find(self, name):
        return self.groups.find(self.member, name)

    def test_added_and_removed(self):
        self.allocate({'network_id': self.make_network()})
        group = self.find('web')
        self.assertEqual(group, self.find(self.web))
        for _ in range(2):
            self.groups.add(self.member, self.owner.uuid, group)
            self.assertEqual({'web', 'default'}, self.names())
        self.groups.remove(self.member, self.owner.uuid, group)
        self.assertEqual({'default'}, self.names())
        self.assertRaises(
            exception.SecurityGroupNotOnServer,
            self.groups.remove,
            self.member,
            self.owner.uuid,
            group,
        )
        self.assertRaises(exception.SecurityGroupNotFound, self.find, 'nonsense')

    def before_next_change(self, change):
        """Make another change just before the next one of a port is sent."""
        call = self.network.service.call

        def first(ctxt, method, path, **options):
            if method == 'PUT':
                self.network.service.call = call
                change(path)
            return call(ctxt, method, path, **options)

        self.network.service.call = first

    def test_two_changes_at_once(self):
        self.allocate({'network_id': self.make_network()}, groups=['default'])
        other = self.make('security_group', name='other')
        for change, before, after in (
            (self.groups.add, self.groups.add, {'default', 'other', 'web'}),
            (self.groups.remove, self.groups.remove, {'default'}),
        ):
            self.before_next_change(
                lambda _path, before=before: before(self.member, self.owner.uuid, other)
            )
            change(self.member, self.owner.uuid, self.find('web'))
            self.assertEqual(after, self.names())

    def test_changes_without_end(self):
        self.allocate({'network_id': self.make_network()})
        call = self.network.service.call

        def change_before(ctxt, method, path, **options):
            if method == 'PUT':
                values = {'name': options['headers']['If-Match']}
                call(self.admin, 'PUT', path, json={'port': values})
            return call(ctxt, method, path, **options)

        self.network.service.call = change_before
        self.assertRaises(
            port_changes.PortChanged,
            self.groups.add,
            self.member,
            self.owner.uuid,
            self.find('web'),
        )
        self.assertEqual({'default'}, self.names())

    def test_a_port_deleted_meanwhile(self):
        network_id = self.make_network()
        self.allocate({'network_id': network_id}, {'network_id': network_id})
        self.before_next_change(lambda path: self.network.service.call(self.admin, 'DELETE', path))
        self.groups.add(self.member, self.owner.uuid, self.find('web'))
        (left,) = self.on_server()
        self.assertIn(self.web, left['security_groups'])

    def test_a_group_deleted_meanwhile(self):
        self.allocate({'network_id': self.make_network()})
        path = f'/security-groups/{self.web}'
        self.before_next_change(lambda _path: self.network.service.call(self.admin, 'DELETE', path))
        group = self.find('web')
        error = self.assertRaises(
            exception.SecurityGroupNotFound, self.groups.add, self.member, self.owner.uuid, group
        )
        self.assertIn('web', str(error))

    def test_ports_that_take_no_groups(self):
        """Without an address, or without port security. As in nova, ports before them change."""
        self.allocate({'network_id': self.make_network()})
        for values in (
            {'network_id': self.make_network('bare', cidr=None)},
            {'network_id': self.make_network('open'), 'port_security_enabled': False},
        ):
            port = self.make('port', **values)
            self.network.attach(
                self.admin, self.owner, {'port_id': port['id']}, host=networks.HOST, known=[]
            )
            error = self.assertRaises(
                exception.SecurityGroupCannotBeApplied,
                self.groups.add,
                *(self.member, self.owner.uuid, self.find('web')),
            )
            self.assertIn(port['id'], str(error))
            having = [each for each in self.on_server() if self.web in each['security_groups']]
            self.assertNotIn(port['id'], [each['id'] for each in having])
            self.network.service.call(self.admin, 'DELETE', f'/ports/{port["id"]}')

    def test_no_ports(self):
        self.assertEqual([], self.groups.of_server(self.admin, self.owner.uuid))
        for change in (self.groups.add, self.groups.remove):
            self.assertRaises(
                exception.ServerHasNoPorts,
                change,
                self.member,
                self.owner.uuid,
                self.find('web'),
            )
