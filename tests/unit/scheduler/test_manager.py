"""Whole requests, over two cells and the real placement."""

import collections
import functools
import inspect
import json

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import placement
from nova_lite.db.api import stamps
from nova_lite.lab import memory_broker
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from tests.fixtures import combining
from tests.fixtures import counting
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class InterfaceTest(cloud.ManagerTestCase):
    def test_the_manager_answers_what_is_declared(self):
        for name in scheduler_rpc.SchedulerAPI.methods:
            declared = scheduler_rpc.SchedulerAPI.methods[name]
            self.assertEqual(
                list(inspect.signature(declared).parameters)[1:],
                list(inspect.signature(getattr(self.scheduler, name)).parameters),
            )

    def test_over_a_bus(self):
        memory_broker.install()
        bus = transport.open_bus(self.conf, f'embedded://{self.id()}')
        self.addCleanup(bus.cleanup)
        server = scheduler_rpc.SchedulerAPI.server(bus, 'scheduler', self.scheduler)
        server.start(override_pool_size=2)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        caller = scheduler_rpc.SchedulerAPI(bus)
        self.add_host('a')
        spec = base.make_spec({'hw:cpu_policy': 'shared'}, requested_networks=[{'network_id': 'n'}])
        spec.destination().host = 'a'
        uuid = runtime.new_uuid()
        ((selection,),) = caller.select_destinations(self.ctxt, spec, [uuid])
        self.assertEqual('a', selection.service_host)
        self.assertEqual('a', caller.why(self.ctxt, uuid)['chosen'])
        spec.destination().host = 'x'
        error = self.assertRaises(
            exception.NoValidHost, caller.select_destinations, self.ctxt, spec, [uuid]
        )
        self.assertEqual('No valid host was found. No such host - x', error.message)
        # Callers get the text of a refusal, too, whose class only this daemon knows.
        spec = base.make_spec({'os:secure_boot': 'x'})
        error = self.assertRaises(
            exception.Invalid, caller.select_destinations, self.ctxt, spec, [uuid]
        )
        self.assertIn("Invalid secure boot policy 'x'.", error.message)


class SelectionTest(cloud.ManagerTestCase):
    def test_a_selection_tells_all_there_is_to_know(self):
        uuid = self.add_host('a')
        ((uuids, (selection,)),) = self.decide().items()
        self.assertEqual('a', selection.service_host)
        self.assertEqual('a', selection.nodename)
        self.assertEqual(uuid, selection.compute_node_uuid)
        self.assertEqual(base.CELL1, selection.cell_uuid)
        self.assertEqual('nova', selection.availability_zone)
        self.assertEqual('1.36', selection.allocation_request_version)
        request = json.loads(selection.allocation_request)
        amounts = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
        self.assertEqual(amounts, request['allocations'][uuid]['resources'])
        self.assertEqual({uuid: amounts}, self.held(uuids))

    def test_the_zone_is_the_hosts(self):
        self.add_host('a')
        self.add_aggregate('west', {'availability_zone': 'az-west'}, ['a'])
        ((selection,),) = self.decide().values()
        self.assertEqual('az-west', selection.availability_zone)

    def test_alternates_are_not_claimed(self):
        for name in 'abcd':
            self.add_host(name)
        self.add_host('elsewhere', base.CELL2)
        self.set('filter_scheduler', weight_classes=['CPUWeigher'])
        self.start()
        ((uuid, selections),) = self.decide().items()
        self.assertEqual(3, len(selections))
        self.assertEqual(1, len(self.held(uuid)))
        self.assertEqual({base.CELL1}, {one.cell_uuid for one in selections})

    def test_no_alternates_if_not_wanted(self):
        for name in 'abc':
            self.add_host(name)
        ((selections),) = self.decide(alternates=False).values()
        self.assertEqual(1, len(selections))

    def test_servers_spread(self):
        for name in 'abcd':
            self.add_host(name, base.CELL1 if name < 'c' else base.CELL2)
        self.assertEqual(set('abcd'), {self.chosen()[0] for _ in range(4)})


class WorkTest(cloud.ManagerTestCase):
    """Decisions in a cloud with more hosts than placement may offer."""

    def setUp(self):
        super().setUp()
        self.set('scheduler', max_placement_results=5)
        for number in range(30):
            self.add_host(f'host{number}')

    def states_read(self, *args):
        """Return how many host states a decision reads once all data have been read."""
        self.decide(*args)
        snapshot = self.scheduler.world.states._snapshot
        snapshot.hosts = counting.Dict(snapshot.hosts)
        self.asked()
        self.decide(*args)
        return snapshot.hosts.read

    def test_only_states_of_offered_hosts_are_read(self):
        self.assertEqual(6, self.states_read())  # five, and that of the chosen host
        self.assertEqual(['PUT /allocations/' + self.uuids[0]], self.asked())

    def test_only_the_state_of_a_named_host_is_read(self):
        spec = base.make_spec()
        spec.destination().host = 'host7'
        self.assertLessEqual(self.states_read(spec), 4)


class OvertakenTest(cloud.ManagerTestCase):
    """Placement offers one host, which another scheduler fills before the first claim."""

    def setUp(self):
        super().setUp()
        self.set('scheduler', max_placement_results=1)
        self.start()
        for name in 'ab':
            self.add_host(name, vcpus=1)
        candidates, self.overtaken = self.placement.candidates, []

        def overtake(*args):
            answer = candidates(*args)
            if not self.overtaken:
                offered = answer['allocation_requests'][0]
                self.overtaken.extend(offered['allocations'])
                consumer = placement.Consumer(runtime.new_uuid(), 'wonderland', 'alice')
                self.placement.claim(self.ctxt, consumer, offered)
            return answer

        self.patch(self.placement, 'candidates', overtake)

    def test_the_other_host_is_found(self):
        (host,) = self.chosen()
        self.assertNotEqual(self.overtaken, [base.uuid_of(host)])

    def test_so_is_that_of_servers_that_are_claimed_together(self):
        self.add_host('c', vcpus=1)
        self.set('scheduler', max_placement_results=2)
        found = self.chosen(count=2)
        self.assertEqual(2, len(set(found)))
        self.assertNotIn(self.overtaken, [[base.uuid_of(host)] for host in found])


class RefusalTest(cloud.ManagerTestCase):
    def test_no_hosts_at_all(self):
        self.assertEqual(
            'No valid host was found. There are not enough hosts available. No host is known.',
            self.refused(),
        )

    def test_too_large(self):
        self.add_host('a')
        self.add_host('b')
        message = self.refused(base.make_spec(sizes={'vcpus': 99}))
        self.assertIn('There are not enough hosts available.', message)
        self.assertIn('Of 2 hosts, refused by: placement 2.', message)

    def test_a_filter(self):
        self.add_host('a')
        self.add_host('b', memory_mb=256)
        self.set_service('a', forced_down=True)
        message = self.refused()
        self.assertIn('Of 2 hosts, refused by: placement 1, ComputeFilter 1.', message)
        self.assertIn('a: ComputeFilter: its compute service is down.', message)

    def test_an_unmapped_host(self):
        self.add_host('a', mapped=False)
        self.assertIn('discover', self.refused())

    def test_a_contradiction(self):
        self.add_host('a')
        message = self.refused(
            base.make_spec(
                {'trait:HW_CPU_X86_AVX': 'forbidden'}, {'trait:HW_CPU_X86_AVX': 'required'}
            )
        )
        self.assertIn('Request to placement failed', message)

    def test_an_unknown_host(self):
        self.add_host('a')
        spec = base.make_spec()
        spec.destination().host = 'x'
        self.assertIn('No such host - x', self.refused(spec))
        self.assertIn('No such host - x', self.refused(base.make_spec(force_hosts=['x'])))

    def test_nothing_is_held_afterwards(self):
        self.add_host('a', vcpus=2)
        self.refused(count=3)
        self.assertEqual([{}, {}, {}], [self.held(uuid) for uuid in self.uuids])

    def test_a_request_filter(self):
        self.add_host('a')
        self.set('scheduler', limit_tenants_to_placement_aggregate=True)
        self.set('scheduler', placement_aggregate_required_for_tenants=True)
        self.assertIn('No hosts available for tenant', self.refused())


class BatchTest(cloud.ManagerTestCase):
    def test_one_request_claims_for_all(self):
        self.add_host('a')
        self.add_host('b')
        self.asked()
        found = self.decide(count=4)
        self.assertEqual(['GET /allocation_candidates', 'POST /allocations'], self.asked())
        self.assertEqual(
            {'a': 2, 'b': 2},
            collections.Counter(selections[0].service_host for selections in found.values()),
        )
        for uuid, selections in found.items():
            self.assertEqual({selections[0].compute_node_uuid}, set(self.held(uuid)))

    def test_it_fills_what_there_is(self):
        self.add_host('a', vcpus=3)
        self.add_host('b', vcpus=2)
        self.assertEqual({'a': 3, 'b': 2}, collections.Counter(self.chosen(count=5)))

    def test_a_batch_that_is_refused_is_claimed_one_by_one(self):
        host = self.add_host('a', vcpus=3)
        self.add_host('b', vcpus=3)
        self.decide()  # so that an answer is kept, which the following makes untrue
        self.placement.claim(
            self.ctxt,
            placement.Consumer(runtime.new_uuid(), 'wonderland', 'alice'),
            {'allocations': {host: {'resources': {'VCPU': 2}}}},
        )
        self.assertEqual({'b': 3}, collections.Counter(self.chosen(count=3)))

    def test_many(self):
        for name in ('a', 'b', 'c'):
            self.add_host(name, vcpus=20, memory_mb=99999, local_gb=99999)
        self.asked()
        self.assertEqual({'a': 15, 'b': 15, 'c': 15}, collections.Counter(self.chosen(count=45)))
        self.assertEqual(3, self.asked().count('POST /allocations'))


class BudgetTest(cloud.ManagerTestCase):
    """Numbers of requests to placement."""

    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.decide()
        self.asked()

    def test_a_reused_answer_costs_the_claim_alone(self):
        self.decide()
        (claim,) = self.asked()
        self.assertIn('PUT /allocations/', claim)

    def test_a_stamp_ends_the_reuse(self):
        self.api_db.write(stamps.bump, stamps.AGGREGATES)
        self.decide()
        self.assertEqual('GET /allocation_candidates', self.asked()[0])

    def test_an_answer_that_leaves_no_host_is_asked_for_anew(self):
        """Room that others gave back since is found."""
        for _ in range(7):
            self.decide()
        last = self.uuids[0]
        self.refused()
        self.placement.delete_allocations(self.ctxt, last)
        self.asked()
        self.decide()
        self.assertEqual(1, self.asked().count('GET /allocation_candidates'))

    def test_a_host_that_is_full_by_our_own_count_is_not_tried(self):
        for _ in range(7):
            self.decide()
        self.asked()
        self.refused()
        self.assertEqual(['GET /allocation_candidates'], self.asked())


class ChangesTest(cloud.ManagerTestCase):
    """A change of ours takes effect on the next decision, however long answers are kept."""

    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.zoned = base.make_spec(availability_zone='az')
        self.assertEqual(1, len(self.chosen(self.zoned)))

    def test_an_aggregate(self):
        self.add_aggregate('zone', {'availability_zone': 'az'}, ['a'])
        for _ in range(2):
            self.assertEqual(['a'], self.chosen(base.make_spec(availability_zone='az')))

    def test_a_service(self):
        self.set_service('b', disabled=True)
        for _ in range(2):
            self.assertEqual(['a'], self.chosen())

    def test_a_new_host_is_found_when_it_is_needed(self):
        self.add_host('c', base.CELL2, vcpus=8)
        self.assertEqual(['c'], self.chosen(base.make_spec(sizes={'vcpus': 6})))
        spec = base.make_spec()
        spec.destination().host = 'c'
        self.assertEqual(['c'], self.chosen(spec))


class TogetherTest(cloud.ManagerTestCase):
    """Decisions whose claims wait for placement at the same time."""

    def setUp(self):
        super().setUp()
        for name in 'abc':
            self.add_host(name)
        self.add_host('other', vcpus=1)
        self.decide()
        self.asked()

    def together(self, *uuids):
        """Return the hosts of servers, or the errors."""

        def choose(uuid):
            ((chosen, *_alternates),) = self.scheduler.select_destinations(
                self.ctxt, base.make_spec(), [uuid]
            )
            return chosen.service_host

        calls = [functools.partial(choose, uuid) for uuid in uuids]
        return combining.together(self.scheduler.world.joined._combiner, calls)

    def test_one_request_claims_for_all(self):
        """A claim under way counts for the decisions that follow."""
        found = self.together(*(runtime.new_uuid() for _ in range(3)))
        self.assertEqual(3, len(set(found)))
        self.assertEqual(['POST /allocations'], self.asked())

    def test_the_same_server_twice(self):
        """A message came twice: only one of two hosts has the claim."""
        uuid = runtime.new_uuid()
        found = self.together(uuid, uuid)
        errors = [each for each in found if isinstance(each, exception.AllocationConflict)]
        self.assertEqual(1, len(errors))
        (host,) = [each for each in found if each not in errors]
        held = self.placement.holding(self.ctxt, uuid).allocations
        self.assertEqual([base.uuid_of(host)], list(held))

    def test_placement_refuses_connections_for_a_moment(self):
        """A claim alone is sent again; a joint one is not."""
        send, refused = self.placement.claim_all, []

        def refuse(*_args, **_options):
            refused.append(True)
            raise exception.Unavailable(service='placement', reason='it restarts')

        self.scheduler.world.joined._placement.claim_all = refuse
        self.addCleanup(setattr, self.placement, 'claim_all', send)
        found = self.together(*(runtime.new_uuid() for _ in range(3)))
        self.assertEqual([True], refused)
        self.assertEqual(3, len(set(found)))

    def test_one_that_is_refused_takes_no_other_with_it(self):
        """Another process has claimed for one of the servers, so placement refuses all three."""
        uuids = [runtime.new_uuid() for _ in range(3)]
        self.placement.claim(
            self.ctxt,
            placement.Consumer(uuids[1], 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('other'): {'resources': {'VCPU': 1}}}},
            new=True,
        )
        first, second, third = self.together(*uuids)
        self.assertIsInstance(second, exception.AllocationConflict)
        self.assertEqual(2, len({first, third} & set('abc')))
