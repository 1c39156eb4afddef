"""The hosts' audit beside what users and sagas do: it takes nothing away that is wanted."""

from nova_lite.saga import journal
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 1.5}}]\n"
QUICK = 'extends: instant\n'


class HostAuditTest(moves_base.MovesTest):
    """Guests without an owner go in the first audit that finds them."""

    settings = own_cloud.NO_GRACE

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cloud.behave, QUICK)

    def audit(self):
        """Run the periodic audit of the hosts' daemon."""
        self.cloud.cloud.daemons['compute-cell1'].manager.audit()

    def shelved(self):
        server = self.boot()
        self.stage.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.stage.wait_idle(server)
        return server

    def audit_until(self, ended, what):
        """Audit again and again until something has ended."""

        def over():
            self.audit()
            return ended()

        self.cloud.wait_for(over, what)

    def runs(self, server):
        """Check that the server's host, and no other, runs its guest after an audit."""
        found = self.cloud.wait(server, 'ACTIVE')
        self.audit()
        self.assertEqual([found.compute_host], self.cloud.guests().get(server.id))

    def test_guest_of_a_slow_unshelve_stays(self):
        server = self.shelved()
        self.cloud.behave(SLOW)
        self.stage.act(server, 'unshelve')
        self.audit_until(
            lambda: self.cloud.admin.compute.get_server(server.id).task_state is None,
            'the unshelve to end',
        )
        self.runs(server)

    def test_guest_stays_until_the_unshelve_is_recorded(self):
        """The super-conductor is away between the guest and the record of it."""
        server = self.shelved()
        faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        faults.fault = saga_faults.Fault(
            'unshelve', 'spawn-on-destination', saga_faults.Mode.DIES_AFTER
        )
        self.stage.act(server, 'unshelve')
        self.cloud.wait_for(lambda: faults.fault.met, 'the guest to be made')
        for _audit in range(2):
            self.audit()
        self.assertIn(server.id, self.cloud.guests())
        self.assertEqual(journal.DONE, faults.ended(server).state)
        self.runs(server)
