"""Whole requests of servers that are somewhere, are in a group or want a certain host."""

import collections

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import placement as client
from nova_lite.db.api import sagas
from tests.fixtures import saga_rows
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class DestinationTest(cloud.ManagerTestCase):
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
        record = self.scheduler.decisions.get(self.uuids[0])
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


class MoveTest(cloud.ManagerTestCase):
    """A server that is on a host."""

    def setUp(self):
        super().setUp()
        for name in 'ab':
            self.add_host(name)
        self.moving = self.add_server('a')

    def select(self, spec, **options):
        return self.scheduler.select_destinations(self.ctxt, spec, [self.moving], **options)[0]

    def move(self, beside=(), **values):
        spec = base.make_spec(
            instance_uuid=self.moving,
            current_host='a',
            current_cell='c',
            ignore_hosts=['a'],
            **values,
        )
        return self.select(spec, beside=list(beside))[0]

    def test_a_claim_whose_asker_gave_up_is_not_doubled(self):
        """Two schedulers, or two threads of one, may work on the question and its repetition."""
        self.add_host('d')
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('d'): {'resources': {'VCPU': 1}}}},
        )
        self.set_service('d', forced_down=True)
        self.assertRaises(exception.AllocationConflict, self.move)
        self.assertEqual({base.uuid_of('d')}, set(self.held(self.moving)))

    def test_what_it_holds_stays(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        self.assertEqual('b', self.move(beside=[base.uuid_of('a')]).service_host)
        self.assertEqual({base.uuid_of('a'), base.uuid_of('b')}, set(self.held(self.moving)))

    def test_a_choice_without_a_claim(self):
        """It counts for other decisions, but only its asker claims."""
        spec = base.make_spec(
            instance_uuid=self.moving, current_host='a', current_cell='c', ignore_hosts=['a']
        )
        chosen = self.select(spec, claims=False)[0]
        self.assertEqual('b', chosen.service_host)
        self.assertIn(base.uuid_of('b'), chosen.allocation_request)
        self.assertEqual({}, self.held(self.moving))
        self.assertIn(self.moving, self.scheduler.world.states.pending([self.moving]))

    def test_a_choice_after_a_refused_claim(self):
        """Another scheduler has filled a host, and this one does not know that."""
        self.add_host('d')
        spec = base.make_spec(
            instance_uuid=self.moving, current_host='a', current_cell='c', ignore_hosts=['a']
        )
        self.select(spec, claims=False)
        other = client.Consumer(runtime.new_uuid(), 'wonderland', 'alice')
        full = {'allocations': {base.uuid_of('b'): {'resources': {'VCPU': 4}}}}
        self.assertTrue(self.placement.claim(self.ctxt, other, full))
        known, new = (
            {self.select(spec, claims=False, fresh=fresh)[0].service_host for _ in range(2)}
            for fresh in (False, True)
        )
        self.assertIn('b', known)
        self.assertEqual({'d'}, new)

    def test_who_was_taken_over_claims_nothing(self):
        uuid = saga_rows.create(self.api_db, ctxt=self.ctxt, instance_uuid=self.moving)
        for owner in ('zombie', 'another'):
            record = sagas.Journal(self.api_db).acquire(uuid, owner, 0)
        former = self.ctxt
        self.ctxt = former.for_saga(uuid, record.epoch - 1)
        self.assertRaises(exception.StaleEpoch, self.move)
        self.assertEqual({}, self.held(self.moving))
        self.ctxt = former.for_saga(uuid, record.epoch)
        self.assertEqual('b', self.move().service_host)

    def test_a_failure_takes_nothing(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        self.set_service('b', forced_down=True)
        self.assertRaises(exception.NoValidHost, self.move, beside=[base.uuid_of('a')])
        self.assertEqual({base.uuid_of('a')}, set(self.held(self.moving)))

    def test_a_new_server_that_holds_something_is_a_conflict(self):
        self.placement.claim(
            self.ctxt,
            client.Consumer(self.moving, 'wonderland', 'alice'),
            {'allocations': {base.uuid_of('a'): {'resources': {'VCPU': 1}}}},
        )
        spec = base.make_spec(ignore_hosts=['a'])
        self.assertRaises(exception.AllocationConflict, self.select, spec)
        self.assertEqual({base.uuid_of('a')}, set(self.held(self.moving)))

    def test_rebuild_asks_neither_placement_nor_most_filters(self):
        self.set_service('a', forced_down=True)
        self.asked()
        spec = base.make_spec(current_host='a', check_type='rebuild')
        found = self.select(spec)
        self.assertEqual(['a'], [one.service_host for one in found])
        self.assertIsNone(found[0].allocation_request)
        self.assertEqual([], self.asked())

    def test_rebuild_with_an_image_whose_features_the_host_lacks(self):
        for properties, trait in (
            ({'hw_tpm_version': '2.0'}, 'COMPUTE_SECURITY_TPM_2_0'),
            ({'os_secure_boot': 'required'}, 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'),
            ({'hw_virtio_packed_ring': 'true'}, 'COMPUTE_NET_VIRTIO_PACKED'),
        ):
            spec = base.make_spec(
                image_properties=properties, current_host='a', check_type='rebuild'
            )
            error = self.assertRaises(exception.NoValidHost, self.select, spec)
            self.assertIn(trait, error.message)
        self.providers.set_traits(self.admin, base.uuid_of('a'), ['COMPUTE_NET_VIRTIO_PACKED'])
        # Only the server's own node is to run the guest.
        spec.destination().node = 'a'
        self.add_host('another', host='a')
        found = self.scheduler.select_destinations(self.ctxt, spec, [self.moving])
        self.assertEqual(['a'], [one.service_host for one in found[0]])

    def test_rebuild_with_an_image_the_host_cannot_run(self):
        spec = base.make_spec(
            image_properties={'hw_architecture': 's390x'}, current_host='a', check_type='rebuild'
        )
        error = self.assertRaises(exception.NoValidHost, self.select, spec)
        self.assertIn('ImagePropertiesFilter', error.message)


class GroupTest(cloud.ManagerTestCase):
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
        self.api_db.write(cloud.server_groups.add_members, row, self.uuids)

    def test_anti_affinity_by_the_records_of_all_cells(self):
        members = [self.add_server('a'), self.add_server('c', base.CELL2)]
        group = self.add_group('anti-affinity', members)
        self.assertEqual(['b'], self.chosen_in(group))

    def test_both_ends_of_an_open_move_count(self):
        """Also when its record has named the destination for long."""
        moving = self.add_server('a')
        self.add_migration(moving, 'a', 'b', status='running')
        self.assertEqual(['c'], self.chosen_in(self.add_group('anti-affinity', [moving])))

    def test_the_source_of_an_unconfirmed_move_counts(self):
        """The user may still revert."""
        moved = self.add_server('b', vm_state='resized')
        self.add_migration(moved, 'a', 'b', status='finished')
        self.assertEqual(['c'], self.chosen_in(self.add_group('anti-affinity', [moved])))

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
        self.api_db.write(cloud.server_groups.add_members, row, uuids)
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


class IsolationTest(cloud.ManagerTestCase):
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


class PinnedTest(cloud.ManagerTestCase):
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
