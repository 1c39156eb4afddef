"""Audit: guests without owners go, power states are told, what should not run stops."""

from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.unit.compute import auditing

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 30}}]"
MOVE = '66666666-6666-4666-8666-666666666666'


class TestAudit(auditing.AuditTestCase):
    def migrate(self, uuid, status, **columns):
        values = {
            'uuid': MOVE,
            'instance_uuid': uuid,
            'migration_type': 'migration',
            'status': status,
            'source_compute': 'host-1',
            'dest_compute': 'host-2',
            **columns,
        }
        self.cell.db.write(migrations.create, values)

    # ---- quiet ----

    def test_nothing_to_do(self):
        uuid = self.cell.boot()
        before = self.cell.row(uuid)
        self.cell.lossy.calls.clear()
        self.cell.compute.audit()
        self.assertEqual(['host_records', 'unfinished'], self.cell.lossy.calls)
        self.assertEqual(before, self.cell.row(uuid))

    def test_hosts_without_guests(self):
        """Cost nothing: statements do not depend on how many there are."""
        counts = []
        for hosts in (2, 20):
            empty = self.useFixture(cell.Cell(hosts=[f'host-{each}' for each in range(hosts)]))
            empty.compute.audit()  # also reads the claims of each node, once
            with empty.driver._store.read() as connection:
                statements = []
                connection.set_trace_callback(statements.append)
            empty.compute.audit()
            counts.append(len(statements))
        self.assertEqual(counts[0], counts[1])

    # ---- power ----

    def test_guest_shut_itself_down(self):
        uuid = self.cell.boot()
        self.change_power(uuid, model.PowerAction.OFF)
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(4, self.cell.row(uuid).power_state)
        self.assertIn(('compute_stop_instance', 'host-1', 'Success'), self.cell.events(uuid))

    def test_guest_was_paused(self):
        uuid = self.cell.boot()
        self.change_power(uuid, model.PowerAction.PAUSE)
        self.cell.compute.audit()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(3, self.cell.row(uuid).power_state)

    def test_guest_is_lost(self):
        uuid = self.cell.boot()
        self.cell.driver.destroy('host-1', uuid, key='an accident')
        self.cell.compute.audit()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(0, self.cell.row(uuid).power_state)

    def test_runs_though_stopped(self):
        self.stops('stopped')

    def test_runs_though_shelved(self):
        self.stops('shelved')

    def stops(self, vm_state):
        uuid = self.cell.boot()
        self.cell.db.write(instances.force, uuid, {'vm_state': vm_state, 'power_state': 4})
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 4)]}, self.cell.guests())
        self.assertEqual((vm_state, None, 'host-1'), self.cell.state(uuid))

    def test_busy_server_is_left_alone(self):
        uuid = self.cell.boot()
        self.change_power(uuid, model.PowerAction.OFF)
        self.cell.ask(uuid, 'resize', 'resize_prep')
        self.cell.compute.audit()
        self.assertEqual(('active', 'resize_prep', 'host-1'), self.cell.state(uuid))
        self.assertEqual(1, self.cell.row(uuid).power_state)

    def test_host_without_power_says_nothing(self):
        uuid = self.cell.boot()
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.cell.compute.audit()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    def test_a_pause_that_failed_has_recorded_the_power(self):
        uuid = self.cell.boot()
        hostpower.power_off(self.cell.guests_path, 'host-1')
        ctxt = self.cell.ask(uuid, 'pause', 'pausing')
        self.cell.compute.pause_instance(ctxt, 'host-1', self.cell.instance(uuid))
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(4, self.cell.row(uuid).power_state)
        self.cell.compute.audit()
        self.assertEqual(('stopped', None, 'host-1'), self.cell.state(uuid))

    # ---- power, beside what users do ----

    def picture(self, uuid):
        row = self.cell.row(uuid)
        found = row.vm_state, row.task_state, row.power_state
        return found, self.cell.guests()[uuid], len(self.cell.events(uuid))

    def test_started_while_it_compares(self):
        """The guest was listed before the start, the record read after it."""
        uuid = self.cell.boot()
        self.stop(uuid)
        self.cell.lossy.meanwhile('host_records', lambda: self.start(uuid))
        self.cell.compute.audit()
        expected = (('active', None, 1), [('host-1', 'resident', 1)], 3)
        self.assertEqual(expected, self.picture(uuid))

    def test_stopped_while_it_compares(self):
        uuid = self.cell.boot()
        self.cell.lossy.meanwhile('host_records', lambda: self.stop(uuid))
        self.cell.compute.audit()
        expected = (('stopped', None, 4), [('host-1', 'resident', 4)], 2)
        self.assertEqual(expected, self.picture(uuid))

    def test_started_after_it_compared(self):
        """The record has changed by the time the difference is reported."""
        uuid = self.cell.boot()
        self.stop(uuid)
        self.change_power(uuid, model.PowerAction.PAUSE)
        self.cell.db.write(instances.update, uuid, {'power_state': 1})
        self.cell.lossy.meanwhile('power_states', lambda: self.start(uuid))
        self.cell.compute.audit()
        expected = (('active', None, 1), [('host-1', 'resident', 1)], 3)
        self.assertEqual(expected, self.picture(uuid))

    def test_booted_while_it_compares(self):
        booted = []
        self.cell.lossy.meanwhile('host_records', lambda: booted.append(self.cell.boot()))
        self.cell.compute.audit()
        self.assertEqual(1, self.cell.row(booted[0]).power_state)

    def test_started_before_the_audit_stops_it(self):
        """The audit's work waits behind the user's, and is not wanted any more then."""
        uuid = self.cell.boot()
        self.cell.db.write(instances.force, uuid, {'vm_state': 'stopped', 'power_state': 4})
        self.cell.lossy.meanwhile(
            'host_records',
            lambda: self.cell.lossy.meanwhile('host_records', lambda: self.start(uuid)),
        )
        self.cell.compute.audit()
        self.cell.run_dry()
        expected = (('active', None, 1), [('host-1', 'resident', 1)], 2)
        self.assertEqual(expected, self.picture(uuid))

    # ---- strangers ----

    def test_stranger_goes(self):
        uuid = self.cell.boot()
        self.stranger()
        self.stranger(uuid=uuid)
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual(0, self.cell.compute.site.claims.used('host-2')['VCPU'])

    def test_stranger_goes_after_its_grace(self):
        self.cell.conf.set_override('stray_grace', 60, group='compute')
        uuid = self.stranger()
        for _ in range(2):
            self.cell.compute.audit()
            self.assertIn(uuid, self.cell.guests())
            self.clock.advance(40)
        self.cell.compute.audit()
        self.assertEqual({}, self.cell.guests())

    def test_guest_of_a_move_stays(self):
        uuid = self.cell.boot()
        self.stranger(uuid=uuid)
        self.migrate(uuid, 'migrating')
        self.cell.compute.audit()
        self.assertEqual(2, len(self.cell.guests()[uuid]))

    def test_guest_of_a_server_in_error_stays(self):
        uuid = self.cell.boot()
        self.cell.db.write(instances.force, uuid, {'vm_state': 'error'})
        self.cell.compute.audit()
        self.assertIn(uuid, self.cell.guests())

    def test_guest_of_an_ended_move_goes(self):
        uuid = self.cell.boot()
        self.stranger(uuid=uuid)
        self.migrate(uuid, 'done')
        self.cell.compute.audit()
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())

    def test_departed_guest_goes_when_its_move_is_over(self):
        uuid = self.cell.boot()
        self.cell.driver.migrate_out('host-1', uuid, MOVE, key='out')
        self.cell.db.write(instances.update, uuid, {'host': 'host-2', 'node': 'host-2'})
        self.migrate(uuid, 'finished')
        self.cell.compute.audit()
        self.assertEqual('departed', self.cell.guests()[uuid][0][1])
        self.cell.db.write(migrations.update, MOVE, {'status': 'confirmed'})
        self.cell.compute.audit()
        self.assertEqual({}, self.cell.guests())

    def test_stranger_that_is_worked_at_stays(self):
        """The records of the cell have no owner of it, but a process creates it."""
        self.cell.driver.use_profile(profile.parse(SLOW))
        uuid = self.stranger()
        for _audit in range(2):
            self.cell.compute.audit()
            self.assertIn(uuid, self.cell.guests())
        self.clock.advance(30)
        self.cell.compute.audit()
        self.assertEqual({}, self.cell.guests())

    def test_stranger_that_was_made_anew_stays(self):
        """The guest that was listed is gone, another has come in its place."""
        uuid = self.stranger()

        def come_back():
            self.cell.driver.destroy('host-2', uuid, key='undo')
            self.clock.advance(1)
            self.stranger(uuid=uuid)

        self.cell.lossy.meanwhile('held_guests', come_back, after=True)
        self.cell.compute.audit()
        self.assertIn(uuid, self.cell.guests())

    # ---- claims ----

    def test_room_promised_to_a_move_stays_promised(self):
        """Its guest arrives much later, after the source has let it go."""
        uuid = self.cell.boot()
        self.migrate(uuid, 'migrating')
        site = self.cell.compute.site
        wanted = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
        site.claims.claim('host-2', uuid, wanted, site.inventory.limits('host-2'))
        self.cell.compute.audit()
        self.assertEqual(1, site.claims.used('host-2')['VCPU'])
        self.cell.db.write(migrations.update, MOVE, {'status': 'error'})
        self.cell.compute.audit()
        self.assertEqual(0, site.claims.used('host-2')['VCPU'])

    def test_guest_of_a_hidden_record_stays(self):
        uuid = self.cell.boot()
        self.cell.db.write(instances.update, uuid, {'hidden': True})
        self.cell.compute.audit()
        self.assertIn(uuid, self.cell.guests())
