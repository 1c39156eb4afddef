"""Allocations without a consumer are released; others stay."""

from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import placement
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

SOME = {'VCPU': 1}


@sample.in_turns(2)
class OrphansTest(moves_base.MovesTest):
    def setUp(self):
        super().setUp()
        self.boss = self.cloud.cloud.daemons['super-conductor'].manager
        self.nodes = {node.name: node.id for node in self.cloud.admin.compute.hypervisors()}

    def hold(self, consumer, host):
        """The consumer holds something of a host, besides what it holds."""
        client, ctxt = self.stage.world.placement, context.admin()
        before = client.holding(ctxt, consumer)
        held = {**before.allocations, self.nodes[host]: SOME}
        wanted = {provider: {'resources': resources} for provider, resources in held.items()}
        owner = placement.Consumer(consumer, 'a-project', 'a-user')
        client.replace(ctxt, owner, wanted, before.generation)

    def hosts(self, consumer):
        held = self.stage.allocations(consumer)
        return [host for host, uuid in sorted(self.nodes.items()) if uuid in held]

    def test_what_a_server_left_on_another_host(self):
        server = self.boot()
        other = self.stage.other_hosts(server)[0]
        self.hold(server.id, other)
        self.boss.audit_allocations()
        # It might have been claimed for work that has only begun.
        self.assertEqual(sorted([server.compute_host, other]), self.hosts(server.id))
        self.boss.audit_allocations()
        self.assertEqual([server.compute_host], self.hosts(server.id))

    def test_of_a_server_that_is_deleted(self):
        server = self.boot()
        host = server.compute_host
        self.delete(server)
        self.hold(server.id, host)
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual([], self.hosts(server.id))

    def test_of_a_move_that_is_over(self):
        server = self.boot()
        self.stage.resize(server, 'm1.small')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        uuid = self.stage.migration(server)['uuid']
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual([server.compute_host], self.hosts(uuid))
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')
        self.stage.wait_idle(server)
        self.hold(uuid, server.compute_host)
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual([], self.hosts(uuid))

    def test_of_an_undone_move_that_could_not_give_it_back(self):
        """The server gets what its migration has of the host that it is on."""
        server = self.boot()
        client, ctxt = self.stage.world.placement, context.admin()
        self.stage.resize(server, 'm1.small')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.stage.act(server, 'revertResize')
        self.cloud.wait(server, 'ACTIVE')
        self.stage.wait_idle(server)
        uuid = self.stage.migration(server)['uuid']
        before = self.stage.allocations(server.id)
        self.assertTrue(client.move_allocations(ctxt, server.id, uuid))
        self.hold(server.id, self.stage.other_hosts(server)[0])
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual(before, self.stage.allocations(server.id))
        self.assertEqual([], self.hosts(uuid))

    def test_what_is_claimed_meanwhile(self):
        """Of a server that begins to move after it was looked at, nothing is taken."""
        server = self.boot()
        other = self.stage.other_hosts(server)[0]
        self.hold(server.id, other)
        client, ctxt = self.stage.world.placement, context.admin()
        given = client.release(ctxt, server.id, {self.nodes[other]}, unless=lambda: True)
        self.assertFalse(given)
        self.assertEqual(sorted([server.compute_host, other]), self.hosts(server.id))

        def claimed():
            if len(self.hosts(server.id)) == 2:
                self.hold(server.id, self.stage.other_hosts(server)[1])
            return True

        client.release(ctxt, server.id, {self.nodes[other]}, unless=claimed)
        self.assertEqual(3, len(self.hosts(server.id)))
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual([server.compute_host], self.hosts(server.id))

    def test_what_is_not_ours_stays(self):
        stranger, host = runtime.new_uuid(), min(self.nodes)
        self.hold(stranger, host)
        for _number in range(2):
            self.boss.audit_allocations()
        self.assertEqual([host], self.hosts(stranger))
        self.stage.world.placement.delete_allocations(context.admin(), stranger, force=True)
