"""Names of security groups, which are kept by what Neutron decides by."""

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import network_lists
from tests.unit.clients import networks


class GroupNamesTest(networks.NetworkTestCase):
    def setUp(self):
        super().setUp()
        self.names = self.network.security_groups.names
        self.web = self.make('security_group', name='web')['id']
        self.asked = []

    def system(self):
        """A caller without a project."""
        return context.RequestContext(
            user_id='sam', system_scope='all', roles=['reader'], overwrite=False
        )

    def refuse(self, error, *refused):
        """Make the service raise an error to these callers. Callers are kept in `asked`."""
        call = self.network.service.call

        def refusing(ctxt, *args, **options):
            self.asked.append(ctxt)
            if ctxt in refused:
                raise error
            return call(ctxt, *args, **options)

        self.network.service.call = refusing

    def of(self, ctxt):
        return self.names.of(ctxt, [self.web])

    def test_a_refused_caller_without_project_silences_no_other(self):
        system = self.system()
        error = exception.NeighbourForbids(service='network', reason='test')
        self.refuse(error, system)
        for _each in range(2):
            self.assertIsNone(self.of(system))
        self.assertEqual({self.web: 'web'}, self.of(self.member))
        self.assertEqual([system, system, self.member], self.asked)

    def test_a_service_that_is_away_is_asked_for_nobody(self):
        error = exception.Unavailable(service='network', reason='test')
        self.refuse(error, self.member)
        for ctxt in (self.member, self.admin, self.system()):
            self.assertIsNone(self.of(ctxt))
        self.assertEqual([self.member], self.asked)

    def test_a_hidden_group_is_hidden_from_callers_of_the_same_roles(self):
        other = self.make('security_group', self.admin, name='other', project_id='other')['id']
        self.refuse(None)
        for _each in range(2):
            self.assertEqual({}, self.names.of(self.member, [other]))
        self.assertEqual(1, len(self.asked))
        self.assertEqual({other: 'other'}, self.names.of(self.admin, [other]))

    def test_callers_of_other_roles_are_asked_for_themselves(self):
        self.of(self.member)
        self.refuse(None)
        self.of(self.member)
        reader = self.context_of('carol', self.member.project_id, 'reader')
        self.of(reader)
        self.assertEqual([reader], self.asked)

    def test_one_request_for_fifty_groups(self):
        ids = [self.web, *(f'{number:032}' for number in range(network_lists.MOST_IDS))]
        self.refuse(None)
        self.assertEqual({self.web: 'web'}, self.names.of(self.member, ids))
        self.assertEqual(2, len(self.asked))
