"""Decisions that find no host: those without heartbeats that may be waited for."""

from nova_lite import exception
from nova_lite.db.api import cell_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services
from tests.fixtures import clock
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud

SILENT, UNHEARD, UNREACHABLE = services.SILENT, services.UNHEARD, services.UNREACHABLE
# Longer than service_down_time.
AWAY_S = 100


class SilentHostsTest(cloud.ManagerTestCase):
    """Host a does not report, while its cell is heard unless a test says otherwise."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.add_host('a')
        self.add_host('small', memory_mb=256)
        self.report()
        self.clock.advance(AWAY_S)

    def report(self, cell=base.CELL1):
        """A conductor of a cell reports."""
        self.cell_dbs[cell].write(services.beat, ['conductor'], services.CONDUCTOR, 'conductor')

    def silence(self, *args, **options):
        """Return what is to be waited for, as hosts are now."""
        self.start()
        error = self.assertRaises(exception.NoValidHost, self.decide, *args, **options)
        return services.silence_of(error)

    def heard(self, *args, **options):
        """The same while the cell hears its conductors."""
        self.report()
        return self.silence(*args, **options)

    def test_in_a_cell_that_is_heard(self):
        self.assertEqual(SILENT, self.heard())

    def test_in_a_cell_that_is_not(self):
        self.assertEqual(UNHEARD, self.silence())

    def test_in_both(self):
        self.report(base.CELL2)
        self.add_host('b', base.CELL2)
        self.set_service('b', base.CELL2, last_seen_up=None, created_at=self.long_ago())
        self.report(base.CELL2)
        self.assertEqual(UNHEARD, self.silence())

    def long_ago(self):
        return self.cell_dbs[base.CELL1].read(services.find, 'a').created_at

    def test_after_the_service_has_reported(self):
        self.cell_dbs[base.CELL1].write(services.beat, ['a'], services.COMPUTE, 'compute')
        self.start()
        self.assertEqual(['a'], self.chosen())

    def test_which_are_out_of_service(self):
        for changes in ({'forced_down': True}, {'forced_down': False, 'disabled': True}):
            self.set_service('a', **changes)
            self.assertIsNone(self.silence(), changes)
            self.assertIsNone(self.heard(), changes)

    def test_beside_one_that_is_out_of_service(self):
        self.add_host('b')
        self.set_service('b', forced_down=True)
        self.assertEqual(SILENT, self.heard())

    def test_which_were_removed(self):
        write = self.cell_dbs[base.CELL1].write
        write(services.destroy, self.cell_dbs[base.CELL1].read(services.find, 'a').uuid)
        self.assertIsNone(self.heard())
        write(services.beat, ['a'], services.COMPUTE, 'compute')
        write(compute_nodes.destroy, base.uuid_of('a'))
        self.assertIsNone(self.heard())

    def test_which_are_full_or_too_small(self):
        self.assertIsNone(self.heard(base.make_spec(sizes={'vcpus': 99})))

    def test_which_the_request_excludes(self):
        self.add_host('b', memory_mb=256)
        elsewhere = base.make_spec()
        elsewhere.destination().host = 'b'
        for spec in (base.make_spec(ignore_hosts=['a']), elsewhere):
            self.assertIsNone(self.heard(spec))

    def test_which_another_filter_refuses(self):
        """Filters after ComputeFilter are not asked about it in the decision itself."""
        arm = base.make_spec(image_properties={'hw_architecture': 'aarch64'})
        self.assertIsNone(self.silence(arm))
        self.assertIsNone(self.heard(arm))
        group = self.add_group('anti-affinity', [self.add_server('a')])
        member = base.make_spec(group_uuid=group)
        self.assertIsNone(self.heard(member))

    def lose_cell2(self):
        """The database of cell2, which has host far, does not answer."""
        self.add_host('far', base.CELL2, memory_mb=64 * 1024)
        url = 'postgresql+psycopg://nobody@127.0.0.1:9/x'
        self.api_db.write(cell_mappings.update, base.CELL2, {'database_connection': url})
        self.cells._known(again=True)

    def test_in_a_cell_that_does_not_answer(self):
        self.lose_cell2()
        self.assertEqual(UNHEARD, self.silence())
        self.assertEqual(UNREACHABLE, self.heard())
        large = base.make_spec(sizes={'memory_mb': 32 * 1024})
        self.assertEqual(UNREACHABLE, self.heard(large))
        self.assertIsNone(self.heard(base.make_spec(sizes={'vcpus': 99})))

    def test_named_in_a_cell_that_does_not_answer(self):
        self.lose_cell2()
        named = base.make_spec()
        named.destination().host = 'far'
        self.assertEqual(UNREACHABLE, self.heard(named))

    def test_moves_within_another_cell_do_not_wait(self):
        self.lose_cell2()
        for host in (None, 'gone'):
            within = base.make_spec(sizes={'memory_mb': 32 * 1024})
            within.destination().cell, within.destination().host = base.CELL1, host
            self.assertIsNone(self.heard(within))
            within.destination().allow_cross_cell_move = True
            self.assertEqual(UNREACHABLE, self.heard(within))
            within.destination().allow_cross_cell_move = False
            within.destination().cell = base.CELL2
            self.assertEqual(UNREACHABLE, self.heard(within))

    def test_for_some_of_a_batch(self):
        self.add_host('b', vcpus=2)
        self.assertEqual(SILENT, self.heard(count=3))
