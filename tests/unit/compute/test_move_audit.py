"""Guests that ended moves left half done, as their host's audit finds them."""

import dataclasses

import testtools

from nova_lite import runtime
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.virt import model
from tests.fixtures import cell


class MoveAuditTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())
        self.uuid = self.cell.boot()
        self.move = runtime.new_uuid()

    def recorded(self, status):
        values = {
            'uuid': self.move,
            'instance_uuid': self.uuid,
            'migration_type': 'live-migration',
            'status': status,
            'source_compute': 'host-1',
            'dest_compute': 'host-2',
        }
        self.cell.db.write(migrations.create, values)

    def depart(self):
        """The guest is handed over, and no host takes it."""
        driver = self.cell.driver
        spec = driver.get_guest('host-1', self.uuid).spec
        ticket = driver.pre_live_migration('host-2', spec, self.move, key='p').result['ticket']
        driver.live_migrate('host-1', self.uuid, self.move, key='l', ticket=ticket)

    def resize(self):
        """The guest is resized on its host, which keeps the former one for a revert."""
        driver = self.cell.driver
        spec = driver.get_guest('host-1', self.uuid).spec
        given = driver.migrate_out('host-1', self.uuid, self.move, key='o').result['handover']
        spec = dataclasses.replace(spec, memory_mb=2 * spec.memory_mb)
        driver.finish_migration('host-1', spec, given, key='f', power_on=True)

    def roles(self):
        return {str(guest.role) for guest in self.cell.driver.list_guests('host-1')}

    def role(self):
        return self.cell.driver.get_guest('host-1', self.uuid).role

    def test_a_guest_that_had_left_is_back_and_off(self):
        self.depart()
        self.recorded('failed')
        self.cell.compute.audit()
        self.assertIs(model.Role.RESIDENT, self.role())
        self.assertEqual([('host-1', 'resident', 4)], self.cell.guests()[self.uuid])

    def test_a_move_under_way_is_left_alone(self):
        self.depart()
        self.recorded('running')
        self.cell.compute.audit()
        self.assertIs(model.Role.DEPARTED, self.role())

    def test_a_guest_that_was_handed_over_and_not_started_is_kept_off(self):
        """Its disks are nowhere else: a reboot starts it with them."""
        self.depart()
        self.recorded('error')
        self.cell.db.write(_place, self.uuid, 'host-2')
        self.cell.compute.audit()
        self.assertIn(('host-2', 'resident', 4), self.cell.guests()[self.uuid])

    def test_a_guest_of_an_earlier_move_is_dropped(self):
        self.depart()
        self.move = runtime.new_uuid()
        self.recorded('completed')
        self.cell.db.write(_place, self.uuid, 'host-2')
        self.cell.compute.audit()
        self.assertNotIn('incoming', str(self.cell.guests().get(self.uuid)))

    def test_a_guest_that_is_kept_beside_the_servers_is_dropped_once_its_move_is_confirmed(self):
        """The confirmation did not wait for the host, so nothing else removes the guest."""
        self.resize()
        self.recorded('finished')
        for status, left in (
            ('finished', {'resident', 'departed'}),
            ('error', {'resident', 'departed'}),
            ('confirmed', {'resident'}),
        ):
            self.cell.db.write(migrations.update, self.move, {'status': status})
            self.cell.compute.audit()
            self.assertEqual(left, self.roles(), status)

    def test_a_guest_that_is_kept_beside_one_that_has_returned_is_dropped(self):
        """A later move has brought the server back before the guest was removed."""
        self.resize()
        self.recorded('confirmed')
        kept, self.move = self.move, runtime.new_uuid()
        self.recorded('running')
        self.cell.compute.audit()
        self.assertEqual({'resident', 'departed'}, self.roles())
        self.cell.db.write(migrations.update, self.move, {'status': 'completed'})
        self.cell.db.write(migrations.update, kept, {'status': 'finished'})
        self.cell.compute.audit()
        self.assertEqual({'resident', 'departed'}, self.roles())
        self.cell.db.write(migrations.update, kept, {'status': 'confirmed'})
        self.cell.compute.audit()
        self.assertEqual({'resident'}, self.roles())


def _place(connection, uuid, host):
    instances.update(connection, uuid, {'host': host, 'node': host})
