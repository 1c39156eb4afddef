"""Config drives of simulated guests: written with a guest, and gone with it."""

import contextlib
import sqlite3

from nova_lite.virt import model
from nova_lite.virt.sim import census
from nova_lite.virt.sim import hostpower
from tests.unit.virt.sim import base

FIRST = {'contents': ['b25l'], 'files': {'openstack/latest/user_data': 0}}
SECOND = {'contents': ['dHdv'], 'files': {'openstack/latest/user_data': 0}}


class DriveTests(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.source, self.dest = self.hosts(name='source'), self.hosts(name='dest')
        self.spec = base.guest_spec(config_drive=True, drive=FIRST)
        self.assertDone(self.source.spawn('n1', self.spec, key='k'))

    def drive(self, name='source'):
        return census.drive(self.path(name), base.GUEST)

    def count(self, name='source'):
        """Return how many drives are in a file, also those that others may not read."""
        with contextlib.closing(sqlite3.connect(self.path(name))) as connection:
            return connection.execute('SELECT COUNT(*) FROM drives').fetchone()[0]

    def leave(self):
        job = self.source.migrate_out('n1', base.GUEST, base.MOVE, key='m')
        return self.assertDone(job)['handover']

    def test_stays_until_the_guest_is_destroyed(self):
        self.assertEqual(FIRST, self.drive())
        self.source.change_power('n1', base.GUEST, model.PowerAction.HARD_REBOOT, key='r')
        self.assertEqual(FIRST, self.drive())
        self.assertDone(self.source.destroy('n1', base.GUEST, key='d'))
        self.assertEqual((None, 0), (self.drive(), self.count()))

    def test_is_in_no_definition_and_no_job(self):
        with contextlib.closing(sqlite3.connect(self.path('source'))) as connection:
            rows = connection.execute(
                'SELECT spec FROM guests UNION SELECT args || result FROM jobs'
            ).fetchall()
        self.assertEqual([], [row for row in rows if 'b25l' in row[0]])
        self.assertNotIn('b25l', repr(self.spec))

    def test_a_cold_move_writes_another_one(self):
        given = self.leave()
        self.assertNotIn('b25l', str(given))
        self.assertEqual((None, 1), (self.drive(), self.count()))
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        self.assertDone(self.dest.finish_migration('n1', spec, given, key='m', power_on=True))
        self.assertEqual(SECOND, self.drive('dest'))
        self.assertDone(self.source.confirm_migration('n1', base.GUEST, base.MOVE, key='c'))
        self.assertEqual(0, self.count())

    def test_a_cold_move_on_one_node(self):
        given = self.leave()
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        self.assertDone(self.source.finish_migration('n1', spec, given, key='m', power_on=True))
        self.assertDone(self.source.confirm_migration('n1', base.GUEST, base.MOVE, key='c'))
        self.assertEqual((SECOND, 1), (self.drive(), self.count()))

    def test_a_cold_move_that_is_reverted(self):
        self.leave()
        self.assertDone(
            self.source.revert_migration('n1', base.GUEST, base.MOVE, key='b', power_on=True)
        )
        self.assertEqual(FIRST, self.drive())

    def test_a_live_move(self):
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        ticket = self.assertDone(self.dest.pre_live_migration('n1', spec, base.MOVE, key='p'))
        self.assertEqual((None, 1), (self.drive('dest'), self.count('dest')))
        copy = self.source.live_migrate('n1', base.GUEST, base.MOVE, key='l', **ticket)
        given = self.assertDone(self.source.poll(copy.id))['handover']
        self.assertDone(self.dest.post_live_migration('n1', base.GUEST, given, key='p'))
        self.assertEqual(SECOND, self.drive('dest'))

    def test_a_live_move_that_is_rolled_back(self):
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        self.assertDone(self.dest.pre_live_migration('n1', spec, base.MOVE, key='p'))
        self.assertDone(self.dest.rollback_live_migration('n1', base.GUEST, base.MOVE, key='b'))
        self.assertEqual((FIRST, 0), (self.drive(), self.count('dest')))

    def test_a_live_move_whose_destination_loses_power(self):
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        self.assertDone(self.dest.pre_live_migration('n1', spec, base.MOVE, key='p'))
        hostpower.power_off(self.path('dest'), 'n1')
        self.assertEqual(0, self.count('dest'))

    def test_a_lost_guest_that_is_made_again(self):
        self.assertDone(self.source.destroy('n1', base.GUEST, key='d'))
        spec = base.guest_spec(config_drive=True, drive=SECOND)
        action = model.PowerAction.HARD_REBOOT
        self.assertDone(self.source.change_power('n1', base.GUEST, action, key='r', spec=spec))
        self.assertEqual(SECOND, self.drive())

    def test_a_guest_without(self):
        self.assertDone(self.source.spawn('n2', base.guest_spec('other'), key='k'))
        self.assertIsNone(census.drive(self.path('source'), 'other'))
