"""The claim of a server that moves, with what its migration takes over, on the real placement."""

import dataclasses

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import exchanges
from nova_lite.clients import holdings
from nova_lite.clients import placement
from tests.unit.clients import base


class ExchangeTest(base.PlacementTestCase):
    def setUp(self):
        super().setUp()
        self.source, self.dest = self.add_host('source'), self.add_host('dest')
        self.moving, self.migration = base.consumer(), runtime.new_uuid()
        self.assertTrue(
            self.placement.claim(self.admin, self.moving, base.request(self.source), new=True)
        )

    def exchange(self, host, **options):
        return exchanges.claim(
            self.placement,
            self.admin,
            self.moving,
            base.request(host),
            handover=exchanges.Handover(self.migration, lambda: self.source),
            **options,
        )

    def give_back(self):
        return self.placement.move_allocations(self.admin, self.migration, self.moving.uuid)

    def on(self, consumer):
        """The providers on which a consumer has allocations."""
        return set(self.placement.holding(self.admin, consumer).allocations)

    def check(self, server, migration):
        self.assertEqual((server, migration), (self.on(self.moving.uuid), self.on(self.migration)))

    def test_one_request_claims_and_moves(self):
        claimed, requests = self.count_requests(self.exchange, self.dest, new=True)
        self.assertTrue(claimed)
        self.assertEqual(
            [
                ('GET', f'/placement/allocations/{self.moving.uuid}'),
                ('POST', '/placement/allocations'),
            ],
            requests,
        )
        self.check({self.dest}, {self.source})

    def test_there_and_back(self):
        for _ in range(3):
            self.assertTrue(self.exchange(self.dest, new=True))
            self.check({self.dest}, {self.source})
            self.assertEqual({self.source}, set(self.give_back()))
            self.check({self.source}, set())

    def test_a_repetition_changes_nothing(self):
        for new in (True, True, False):
            self.assertTrue(self.exchange(self.dest, new=new))
            self.check({self.dest}, {self.source})

    def test_another_destination_replaces_the_claim(self):
        other = self.add_host('other')
        self.exchange(self.dest, new=True)
        self.assertTrue(self.exchange(other))
        self.check({other}, {self.source})
        self.give_back()
        self.check({self.source}, set())

    def test_a_late_claim_is_refused_after_a_renewal(self):
        """The claim has read the allocations before a saga that was undone has renewed them."""
        held = self.placement.holding(self.admin, self.moving.uuid)
        body = {
            self.moving.uuid: holdings.entry(
                self.moving, base.request(self.dest)['allocations'], held.generation
            ),
            self.migration: holdings.entry(
                self.moving, holdings.as_request(held.allocations), None
            ),
        }
        exchanges.renew(self.placement, self.admin, self.moving.uuid)
        late = self.placement.write(self.admin, 'POST', '/allocations', body)
        self.assertEqual(placement.Outcome.STALE, late)
        self.check({self.source}, set())
        self.assertEqual(
            held.allocations, self.placement.holding(self.admin, self.moving.uuid).allocations
        )

    def test_a_server_without_allocations_at_its_source(self):
        self.placement.delete_allocations(self.admin, self.moving.uuid, force=True)
        other = self.add_host('other')
        self.assertTrue(self.exchange(self.dest, new=True))
        self.check({self.dest}, set())
        for host in (self.dest, other):
            self.assertTrue(self.exchange(host))
            self.check({host}, set())

    def test_nothing_for_nothing_makes_no_consumer(self):
        self.placement.delete_allocations(self.admin, self.moving.uuid, force=True)
        nothing = {'allocations': {}}
        self.assertTrue(
            exchanges.claim(
                self.placement,
                self.admin,
                self.moving,
                nothing,
                handover=exchanges.Handover(self.migration, lambda: self.source),
                new=True,
            )
        )
        self.assertTrue(
            self.placement.claim(self.admin, self.moving, base.request(self.dest), new=True)
        )

    def test_one_without_room_changes_nothing(self):
        small = self.add_host('small', ram_mb=1)
        self.assertFalse(self.exchange(small, new=True))
        self.check({self.source}, set())
        self.exchange(self.dest, new=True)
        self.assertFalse(self.exchange(small))
        self.check({self.dest}, {self.source})

    def test_the_same_host_has_both(self):
        self.assertTrue(self.exchange(self.source, new=True))
        self.check({self.source}, {self.source})

    def test_nodes_to_keep(self):
        lost = self.add_host('lost')
        self.placement.claim(self.admin, self.moving, base.request(lost))
        self.assertTrue(self.exchange(self.dest, new=True, keep={lost}))
        self.check({self.dest, lost}, {self.source})

    def test_a_server_that_holds_nothing(self):
        self.placement.delete_allocations(self.admin, self.moving.uuid, force=True)
        self.assertTrue(self.exchange(self.dest, new=True))
        self.check({self.dest}, set())

    def test_a_migration_that_already_holds_them(self):
        """A former release has moved them in a step of its own, before the scheduler's choice."""
        self.placement.move_allocations(self.admin, self.moving.uuid, self.migration)
        self.assertTrue(self.exchange(self.dest, new=True))
        self.check({self.dest}, {self.source})

    def test_a_try_that_comes_late_is_one_too_many(self):
        """Another try, whose claim is on another host, has been answered since."""
        other, write = self.add_host('other'), self.placement.write

        def late(*args):
            self.placement.write = write
            self.assertTrue(self.exchange(other))
            return write(*args)

        self.placement.write = late
        self.assertTrue(self.exchange(self.dest, new=True))
        self.check({self.dest}, {self.source})

    def test_one_that_another_process_changes_all_the_time(self):
        self.placement.write = lambda *_args: placement.Outcome.STALE
        self.placement.left_behind = lambda *_args: 0
        self.assertRaises(exception.AllocationConflict, self.exchange, self.dest)

    def test_consumers_that_a_killed_placement_left_behind(self):
        target = dataclasses.replace(self.moving, uuid=self.migration)
        self.server.leave_behind(target)
        self.assertTrue(self.exchange(self.dest, new=True))
        self.check({self.dest}, {self.source})
