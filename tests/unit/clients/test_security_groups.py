"""Security groups of servers, on the simulated network service."""

from nova_lite import exception
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

    def test_added_and_removed(self):
        self.allocate({'network_id': self.make_network()})
        for _ in range(2):
            self.groups.add(self.member, self.owner, 'web')
            self.assertEqual({'web', 'default'}, self.names())
        self.groups.remove(self.member, self.owner, self.web)
        self.assertEqual({'default'}, self.names())
        for name in ('web', 'nonsense'):
            self.assertRaises(
                exception.SecurityGroupNotFound, self.groups.remove, self.member, self.owner, name
            )

    def test_no_ports(self):
        self.assertEqual([], self.groups.of_server(self.admin, self.owner.uuid))
