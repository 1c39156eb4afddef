"""Readings of the cells' hosts, and the time for which they are kept."""

from nova_lite import runtime
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.scheduler import host_states
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class SnapshotTestCase(cloud.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.states = host_states.HostStates(self.conf, self.cells)

    def read(self, **options):
        return self.states.get(self.states.version(), **options)

    def host(self, name):
        """The state of a host, read anew."""
        return self.read(since=runtime.monotonic()).hosts[base.uuid_of(name)]


class ReadTest(SnapshotTestCase):
    def test_hosts_of_all_cells(self):
        self.add_host('a')
        self.add_host('b', base.CELL2)
        found = {state.host: state.cell_uuid for state in self.read().hosts.values()}
        self.assertEqual({'a': base.CELL1, 'b': base.CELL2}, found)

    def test_a_disabled_cell_is_left_out(self):
        self.add_host('a')
        self.add_host('b', base.CELL2)
        self.api_db.write(cell_mappings.update, base.CELL2, {'disabled': True})
        self.cells._known(again=True)
        self.assertEqual(['a'], [state.host for state in self.read().hosts.values()])

    def test_a_cell_that_is_down_is_left_out(self):
        self.add_host('a')
        self.api_db.write(
            cell_mappings.update,
            base.CELL2,
            {'database_connection': 'postgresql+psycopg://nobody@127.0.0.1:9/x'},
        )
        self.cells._known(again=True)
        found = self.read()
        self.assertEqual(['a'], [state.host for state in found.hosts.values()])
        self.assertEqual({base.CELL2: 'cell2'}, found.missing)

    def test_facts(self):
        self.add_host(
            'a',
            vcpus=16,
            cpu_allocation_ratio=4.0,
            reserved_memory_mb=512,
            failed_builds=2,
            host_ip='10.0.0.1',
            cpu_info={'arch': 'x86_64'},
            stats={'rack': 'r7'},
            metrics=[{'name': 'heat', 'value': 20}],
            mapped=False,
        )
        state = self.host('a')
        self.assertEqual(64.0, state.free_vcpus)
        self.assertEqual(8192 - 512, state.free_ram_mb)
        self.assertEqual(40 * 1024, state.free_disk_mb)
        self.assertEqual((2, '10.0.0.1'), (state.failed_builds, state.host_ip))
        self.assertEqual({'heat': 20}, state.metrics)
        self.assertEqual('x86_64', state.architecture)
        self.assertFalse(state.mapped)
        self.assertTrue(state.up)

    def test_a_node_whose_service_never_reported_is_left_out(self):
        self.cell_dbs[base.CELL1].write(
            compute_nodes.report,
            [
                {
                    'uuid': base.uuid_of('x'),
                    'host': 'x',
                    'hypervisor_hostname': 'x',
                    'hypervisor_type': 'QEMU',
                    'hypervisor_version': 1,
                    'vcpus': 1,
                    'memory_mb': 1,
                    'local_gb': 1,
                }
            ],
        )
        self.assertEqual({}, self.read().hosts)

    def test_services(self):
        self.add_host('a')
        self.add_host('b')
        self.set_service('a', disabled=True, disabled_reason='fan')
        self.set_service('b', forced_down=True)
        self.assertEqual((True, 'fan'), (self.host('a').disabled, self.host('a').disabled_reason))
        self.assertFalse(self.host('b').up)

    def test_equal_facts_are_decoded_once(self):
        for name in 'ab':
            self.add_host(name, cpu_info={'arch': 'x86_64'}, stats={'rack': 'r7'})
        first, second = self.read().hosts.values()
        self.assertIs(first.cpu_info, second.cpu_info)
        self.assertIs(first.stats, second.stats)

    def test_aggregates(self):
        self.add_host('a')
        self.add_aggregate('fast', {'ssd': 'true', 'tier': 'gold'}, ['a'])
        self.add_aggregate('new', {'tier': 'silver'}, ['a', 'elsewhere'])
        state = self.host('a')
        self.assertEqual(['fast', 'new'], [one.name for one in state.aggregates])
        self.assertEqual({'ssd': {'true'}, 'tier': {'gold', 'silver'}}, state.metadata)

    def test_oldest_version(self):
        self.assertEqual(0, self.read().minimum_version)
        self.add_host('a')
        self.assertEqual(1, self.read(since=runtime.monotonic()).minimum_version)


class UsageTest(SnapshotTestCase):
    def setUp(self):
        super().setUp()
        self.add_host('a')
        self.add_host('b')

    def used(self, name):
        state = self.host(name)
        return (state.num_instances, state.vcpus_used, state.memory_mb_used, state.local_gb_used)

    def test_servers(self):
        self.add_server('a', task_state='rebooting')
        self.add_server('a', vcpus=2, memory_mb=1024, root_gb=3, ephemeral_gb=4)
        self.add_server('a', deleted=True)
        self.add_server('a', hidden=True, vcpus=1)
        self.assertEqual((3, 4, 2048, 9), self.used('a'))
        self.assertEqual(1, self.host('a').num_io_ops)
        self.assertEqual((0, 0, 0, 0), self.used('b'))

    def test_a_move_in_progress_counts_on_both_ends(self):
        large = base.make_flavor(vcpus=3, memory_mb=3000, root_gb=3).as_dict()
        server = self.add_server('a', new_flavor=large)
        self.add_migration(server, 'a', 'b')
        self.assertEqual((1, 1, 512, 1), self.used('a'))
        self.assertEqual((1, 3, 3000, 3), self.used('b'))

    def test_a_resize_that_awaits_confirmation_counts_on_both_ends(self):
        small = base.make_flavor().as_dict()
        large = base.make_flavor(vcpus=3, memory_mb=3000, root_gb=3).as_dict()
        server = self.add_server(
            'b', vcpus=3, memory_mb=3000, root_gb=3, flavor=large, old_flavor=small
        )
        self.add_migration(server, 'a', 'b', status='finished')
        self.assertEqual((1, 1, 512, 1), self.used('a'))
        self.assertEqual((1, 3, 3000, 3), self.used('b'))

    def test_a_move_that_is_over_counts_no_more(self):
        server = self.add_server('b')
        self.add_migration(server, 'a', 'b', status='confirmed')
        self.assertEqual((0, 0, 0, 0), self.used('a'))

    def test_image_properties_if_they_count(self):
        self.add_server('a', image_properties={'os_distro': 'x'})
        self.add_server('a', image_properties={'os_distro': 'x', 'os_type': 'y'})
        self.assertIsNone(self.host('a').image_properties)
        self.set('filter_scheduler', image_props_weight_multiplier=1.0)
        self.assertEqual(
            {('os_distro', 'x'): 2, ('os_type', 'y'): 1}, self.host('a').image_properties
        )
        self.assertEqual({}, self.host('b').image_properties)


class ReuseTest(SnapshotTestCase):
    def setUp(self):
        super().setUp()
        self.add_host('a')
        self.set('scheduler', host_state_reuse_s=60)

    def test_a_reading_is_kept(self):
        self.assertIs(self.read(), self.read())

    def test_not_at_all_if_an_option_says_so(self):
        self.set('scheduler', host_state_reuse_s=0)
        self.assertIsNot(self.read(), self.read())

    def test_a_reading_that_took_long_is_kept_longer(self):
        many = host_states.MANY
        for hosts, took, kept in ((5, 0.1, 1), (5, 1, 5), (many, 0.1, 2), (many, 1, 10)):
            with self.subTest(hosts=hosts, took=took):
                self.assertEqual(kept, host_states.kept_s(1.0, took, hosts=hosts))
        self.assertEqual(0, host_states.kept_s(0.0, 1, hosts=many))

    def test_not_at_all_if_it_must_be_newer(self):
        first = self.read()
        self.assertIsNot(first, self.read(since=runtime.monotonic()))

    def test_a_stamp_ends_it(self):
        for name in (stamps.AGGREGATES, stamps.HOSTS, stamps.CELLS):
            first = self.read()
            self.api_db.write(stamps.bump, name)
            self.assertIsNot(first, self.read())

    def test_a_stamp_of_something_else_does_not(self):
        first = self.read()
        self.api_db.write(stamps.bump, 'weather')
        self.assertIs(first, self.read())

    def test_invalidate(self):
        first = self.read()
        self.states.invalidate()
        self.assertIsNot(first, self.read())


class PendingTest(SnapshotTestCase):
    """Servers that were placed and are on no record yet."""

    def setUp(self):
        super().setUp()
        self.add_host('a')
        self.add_host('b')
        self.set('scheduler', host_state_reuse_s=60)
        self.server = runtime.new_uuid()

    def place(self, host='a', **values):
        found = self.read()
        self.states.place(
            self.server,
            found.hosts[base.uuid_of(host)],
            base.make_request(base.make_spec(**values)),
            {'allocations': {}, 'mappings': {}},
        )

    def servers_on(self, name='a'):
        return self.host(name).num_instances

    def test_it_counts_at_once(self):
        self.place()
        self.assertEqual(1, self.read().hosts[base.uuid_of('a')].num_instances)

    def test_a_new_reading_does_not_forget_it(self):
        self.place()
        self.assertEqual(1, self.servers_on())
        self.assertEqual(1, self.servers_on())

    def test_it_is_not_counted_twice_once_on_record(self):
        self.place()
        self.add_server('a', uuid=self.server)
        self.assertEqual(1, self.servers_on())
        self.assertEqual({}, self.states.pending([self.server]))

    def test_on_record_without_a_host_it_still_counts(self):
        self.place()
        self.add_server(None, uuid=self.server, vm_state='building', task_state='scheduling')
        self.assertEqual(1, self.servers_on())

    def test_it_went_elsewhere(self):
        self.place()
        self.add_server('b', uuid=self.server)
        self.assertEqual((0, 1), (self.servers_on('a'), self.servers_on('b')))

    def test_a_move_counts_until_its_record_does(self):
        self.add_server('b', uuid=self.server, task_state='migrating')
        self.place('a', current_host='b')
        self.assertEqual((1, 1), (self.servers_on('a'), self.servers_on('b')))
        self.add_migration(self.server, 'b', 'a')
        self.assertEqual((1, 1), (self.servers_on('a'), self.servers_on('b')))
        self.assertEqual({}, self.states.pending([self.server]))

    def test_what_never_came_about_is_forgotten(self):
        self.place()
        placed = self.states._pending[self.server]
        long_ago = placed.at - host_states.PENDING_S - 1
        self.states._pending[self.server] = host_states.dataclasses.replace(placed, at=long_ago)
        self.assertEqual(0, self.servers_on())

    def test_what_has_failed_counts_no_more(self):
        """The task of the server has ended, and the host does not have it."""
        self.add_server('b', uuid=self.server, task_state='migrating')
        self.place('a', current_host='b')
        self.assertEqual(1, self.servers_on('a'))
        self.change_server(self.server, task_state=None, vm_state='error')
        self.assertEqual((0, 1), (self.servers_on('a'), self.servers_on('b')))

    def test_a_reading_knows_nothing_of_what_was_placed_since_it_began(self):
        self.add_server('b', uuid=self.server)
        self.place('a', current_host='b')
        self.states._settle({}, {self.server}, runtime.monotonic() - 1)
        self.assertEqual({self.server}, set(self.states.pending([self.server])))

    def test_it_is_counted_once_however_often_it_is_placed(self):
        self.place()
        self.place()
        self.assertEqual(1, self.read().hosts[base.uuid_of('a')].num_instances)

    def test_it_can_be_withdrawn(self):
        self.place(image_properties={'os_distro': 'x'})
        self.states.withdraw(self.server)
        self.assertEqual(0, self.read().hosts[base.uuid_of('a')].num_instances)
        self.assertEqual(0, self.servers_on())
        self.states.withdraw(self.server)

    def test_a_deleted_server_counts_no_more(self):
        self.place()
        self.add_server('a', uuid=self.server)
        self.cell_dbs[base.CELL1].write(instances.mark_deleted, self.server)
        self.assertEqual(0, self.servers_on())
