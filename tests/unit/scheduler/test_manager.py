"""Whole requests, over two cells and the real placement."""

import collections
import inspect
import json

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import placement as client
from nova_lite.db.api import stamps
from nova_lite.rpc import transport
from nova_lite.rpcapi import scheduler as scheduler_rpc
from nova_lite.scheduler import manager
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class ManagerTestCase(cloud.PlacementCloudTestCase):
    def setUp(self):
        super().setUp()
        self.set('scheduler', candidates_reuse_s=60, host_state_reuse_s=60)
        self.start()

    def start(self):
        """A scheduler that has read nothing yet, with the options of now."""
        self.scheduler = manager.SchedulerManager(self.conf, self.cells, self.placement)

    def decide(self, spec=None, count=1, **options):
        """Selections for new servers: {uuid: [Selection, ...]}."""
        self.uuids = [runtime.new_uuid() for _ in range(count)]
        found = self.scheduler.select_destinations(
            self.ctxt, spec or base.make_spec(), self.uuids, **options
        )
        return dict(zip(self.uuids, found, strict=True))

    def chosen(self, *args, **options):
        """Names of the hosts chosen."""
        found = self.decide(*args, **options)
        return [selections[0].service_host for selections in found.values()]

    def refused(self, *args, **options):
        """The message of the refusal."""
        return self.assertRaises(exception.NoValidHost, self.decide, *args, **options).message

    def asked(self):
        """What placement was asked since the last call."""
        found = [' '.join(one).replace('/placement', '') for one in self.server.requests]
        self.server.requests.clear()
        return found


class InterfaceTest(ManagerTestCase):
    def test_the_manager_answers_what_is_declared(self):
        for name in scheduler_rpc.SchedulerAPI.methods:
            declared = scheduler_rpc.SchedulerAPI.methods[name]
            self.assertEqual(
                list(inspect.signature(declared).parameters)[1:],
                list(inspect.signature(getattr(self.scheduler, name)).parameters),
            )

    def test_over_a_bus(self):
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


class SelectionTest(ManagerTestCase):
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


class RefusalTest(ManagerTestCase):
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
        self.assertIn('Placement cannot answer', message)

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


class BatchTest(ManagerTestCase):
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
            client.Consumer(runtime.new_uuid(), 'wonderland', 'alice'),
            {'allocations': {host: {'resources': {'VCPU': 2}}}},
        )
        self.assertEqual({'b': 3}, collections.Counter(self.chosen(count=3)))

    def test_many(self):
        for name in ('a', 'b', 'c'):
            self.add_host(name, vcpus=20, memory_mb=99999, local_gb=99999)
        self.asked()
        self.assertEqual({'a': 15, 'b': 15, 'c': 15}, collections.Counter(self.chosen(count=45)))
        self.assertEqual(3, self.asked().count('POST /allocations'))


class BudgetTest(ManagerTestCase):
    """How often placement is asked."""

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


class ChangesTest(ManagerTestCase):
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


class DestinationTest(ManagerTestCase):
    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.add_host('c', base.CELL2)

    def destined(self, **values):
        spec = base.make_spec()
        for name, value in values.items():
            setattr(spec.destination(), name, value)
        return spec

    def test_a_requested_host_is_asked_for_by_tree(self):
        spec = self.destined(host='b')
        self.assertEqual(['b'], self.chosen(spec))
        record = self.scheduler.memory.get(self.uuids[0])
        self.assertIn(('in_tree', base.uuid_of('b')), record.queries[0])
        self.assertEqual('b', spec.requested_destination.node)

    def test_a_requested_node(self):
        self.assertEqual(['b'], self.chosen(self.destined(node='b')))
        self.assertIn('No such host', self.refused(self.destined(host='a', node='b')))

    def test_a_requested_host_that_is_filtered(self):
        self.set_service('b', forced_down=True)
        self.assertIn('ComputeFilter', self.refused(self.destined(host='b')))

    def test_a_requested_host_in_another_zone(self):
        self.add_aggregate('zone', {'availability_zone': 'az'}, ['a'])
        spec = self.destined(host='b')
        spec.availability_zone = 'az'
        self.assertIn('placement', self.refused(spec))

    def test_a_forced_host(self):
        self.set_service('b', forced_down=True)
        self.assertEqual(['b'], self.chosen(base.make_spec(force_hosts=['B'])))
        self.assertEqual(['b'], self.chosen(base.make_spec(force_nodes=['b'])))

    def test_a_cell(self):
        for _ in range(3):
            self.assertEqual(['c'], self.chosen(self.destined(cell=base.CELL2)))
        self.assertIn('refused by: cell', self.refused(self.destined(cell=base.CELL2), count=2))

    def test_ignored_hosts(self):
        self.assertEqual(['c'], self.chosen(base.make_spec(ignore_hosts=['A', 'b'])))


class MoveTest(ManagerTestCase):
    """A server that is on a host."""

    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.moving = self.add_server('a')

    def move(self, **values):
        spec = base.make_spec(
            instance_uuid=self.moving, current_host='a', ignore_hosts=['a'], **values
        )
        return self.scheduler.select_destinations(self.ctxt, spec, [self.moving])[0][0]

    def test_what_it_holds_stays(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        self.assertEqual('b', self.move().service_host)
        self.assertEqual({base.uuid_of('a'), base.uuid_of('b')}, set(self.held(self.moving)))

    def test_a_failure_takes_nothing(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        self.set_service('b', forced_down=True)
        self.assertRaises(exception.NoValidHost, self.move)
        self.assertEqual({base.uuid_of('a')}, set(self.held(self.moving)))

    def test_a_new_server_that_holds_something_is_a_conflict(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        spec = base.make_spec(ignore_hosts=['a'])
        self.assertRaises(
            exception.AllocationConflict,
            self.scheduler.select_destinations,
            self.ctxt,
            spec,
            [self.moving],
        )
        self.assertEqual({base.uuid_of('a')}, set(self.held(self.moving)))

    def test_rebuild_asks_neither_placement_nor_most_filters(self):
        self.set_service('a', forced_down=True)
        self.asked()
        spec = base.make_spec(current_host='a', check_type='rebuild')
        found = self.scheduler.select_destinations(self.ctxt, spec, [self.moving])
        self.assertEqual(['a'], [one.service_host for one in found[0]])
        self.assertIsNone(found[0][0].allocation_request)
        self.assertEqual([], self.asked())

    def test_rebuild_with_an_image_the_host_cannot_run(self):
        spec = base.make_spec(
            image_properties={'hw_architecture': 's390x'}, current_host='a', check_type='rebuild'
        )
        error = self.assertRaises(
            exception.NoValidHost,
            self.scheduler.select_destinations,
            self.ctxt,
            spec,
            [self.moving],
        )
        self.assertIn('ImagePropertiesFilter', error.message)


class GroupTest(ManagerTestCase):
    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.add_host('c', base.CELL2)

    def chosen_in(self, group, **options):
        return self.chosen(base.make_spec(group_uuid=group), **options)

    def join(self, group):
        """Make the servers of the last decision members, as the API did before it."""
        row = self.api_db.read(cloud.server_groups.get, group)
        for uuid in self.uuids:
            self.add_mapping(uuid)
        self.api_db.write(cloud.server_groups.add_members, row.id, self.uuids)

    def test_anti_affinity_by_the_records_of_all_cells(self):
        members = [self.add_server('a'), self.add_server('c', base.CELL2)]
        group = self.add_group('anti-affinity', members)
        self.assertEqual(['b'], self.chosen_in(group))

    def test_a_member_that_was_placed_a_moment_ago_counts(self):
        group = self.add_group('anti-affinity')
        found = set()
        for _ in range(3):
            found.add(self.chosen_in(group)[0])
            self.join(group)
        self.assertEqual(set('abc'), found)
        message = self.assertRaises(exception.NoValidHost, self.chosen_in, group).message
        self.assertIn('ServerGroupAntiAffinityFilter 3', message)

    def test_concurrent_requests_keep_to_the_policy(self):
        group = self.add_group('anti-affinity')
        row = self.api_db.read(cloud.server_groups.get, group)
        uuids = [runtime.new_uuid() for _ in range(8)]
        for uuid in uuids:
            self.add_mapping(uuid)
        self.api_db.write(cloud.server_groups.add_members, row.id, uuids)
        chosen, refused = [], []

        def decide(uuid):
            spec = base.make_spec(group_uuid=group)
            try:
                found = self.scheduler.select_destinations(self.ctxt, spec, [uuid])
                chosen.append(found[0][0].service_host)
            except exception.NoValidHost as error:
                refused.append(error)

        threads = [runtime.spawn(decide, uuid) for uuid in uuids]
        for thread in threads:
            thread.join()
        self.assertEqual(['a', 'b', 'c'], sorted(chosen))
        self.assertEqual(5, len(refused))

    def test_max_server_per_host(self):
        group = self.add_group('anti-affinity', max_server_per_host=2)
        self.assertEqual(
            {'a': 2, 'b': 2, 'c': 2}, collections.Counter(self.chosen_in(group, count=6))
        )
        self.join(group)
        self.assertRaises(exception.NoValidHost, self.chosen_in, group)

    def test_affinity(self):
        group = self.add_group('affinity', [self.add_server('b')])
        self.assertEqual(['b'], self.chosen_in(group))
        self.assertEqual(['b', 'b'], self.chosen_in(group, count=2))

    def test_a_deleted_member_counts_no_more(self):
        server = self.add_server('a')
        group = self.add_group('affinity', [server])
        self.change_server(server, deleted=True)
        self.assertEqual({'a', 'b', 'c'}, {self.chosen_in(group)[0] for _ in range(3)})

    def test_soft_policies(self):
        group = self.add_group('soft-affinity', [self.add_server('b')])
        self.set('filter_scheduler', soft_affinity_weight_multiplier=100.0)
        self.start()
        self.assertEqual(['b', 'b'], self.chosen_in(group, count=2))

    def test_a_group_that_is_gone(self):
        self.assertEqual(1, len(self.chosen_in(runtime.new_uuid())))

    def test_a_policy_without_its_filter(self):
        group = self.add_group('anti-affinity')
        self.set('filter_scheduler', enabled_filters=['ComputeFilter'])
        self.start()
        message = self.assertRaises(exception.NoValidHost, self.chosen_in, group).message
        self.assertIn('ServerGroupAntiAffinityFilter not configured', message)

    def test_a_hint_that_names_a_server(self):
        self.set('filter_scheduler', enabled_filters=['SameHostFilter', 'DifferentHostFilter'])
        self.start()
        for cell, host in ((base.CELL1, 'b'), (base.CELL2, 'c')):
            server = self.add_server(host, cell)
            spec = base.make_spec(scheduler_hints={'same_host': [server]})
            self.assertEqual([host], self.chosen(spec))
            spec = base.make_spec(scheduler_hints={'different_host': [server]})
            self.assertNotIn(host, self.chosen(spec, count=2))


class IsolationTest(ManagerTestCase):
    LICENSED = {'trait:CUSTOM_LICENSED': 'required'}

    def setUp(self):
        super().setUp()
        self.set('scheduler', enable_isolated_aggregate_filtering=True)
        self.add_host('licensed', traits=['CUSTOM_LICENSED'])
        self.add_host('plain')
        self.add_aggregate('windows', self.LICENSED, ['licensed'])

    def test_an_ordinary_server_stays_out(self):
        self.assertEqual({'plain': 4}, collections.Counter(self.chosen(count=4)))
        self.assertIn('placement 2', self.refused())

    def test_a_server_with_the_trait_goes_in(self):
        self.assertEqual(['licensed'], self.chosen(base.make_spec(self.LICENSED)))
        self.assertEqual(['licensed'], self.chosen(base.make_spec({}, self.LICENSED)))

    def test_a_forced_host_is_not_exempt(self):
        self.assertIn('placement', self.refused(base.make_spec(force_hosts=['licensed'])))


class PinnedTest(ManagerTestCase):
    def setUp(self):
        super().setUp()
        self.add_host('shared')
        self.pinned = {'hw:cpu_policy': 'dedicated'}

    def add_pinned_host(self):
        uuid = self.add_host('pinned', vcpus=0)
        inventories = {'PCPU': 4, 'MEMORY_MB': 8192, 'DISK_GB': 40}
        self.providers.set_inventories(
            self.admin, uuid, {name: {'total': total} for name, total in inventories.items()}
        )
        return uuid

    def test_hosts_without_pcpu_will_do(self):
        self.assertEqual(['shared'], self.chosen(base.make_spec(self.pinned)))

    def test_unless_told_otherwise(self):
        self.set('workarounds', disable_fallback_pcpu_query=True)
        self.refused(base.make_spec(self.pinned))
        uuid = self.add_pinned_host()
        self.assertEqual(['pinned'], self.chosen(base.make_spec(self.pinned)))
        self.assertEqual(1, self.held(self.uuids[0])[uuid]['PCPU'])
