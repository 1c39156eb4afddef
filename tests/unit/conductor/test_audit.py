"""The audit of a cell: moves of servers that are deleted."""

import datetime

from nova_lite import runtime
from nova_lite.conductor import audit as audit_module
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import shares as share_rows
from tests.fixtures import shares
from tests.unit.conductor import base

IDLE_S = 60
OLD = datetime.datetime.fromisoformat('2000-01-01')


class DeletionTest(base.CellConductorTestCase):
    """An API that was killed, or a host that is lost, left a deletion of a hostless server."""

    def test_of_a_server_that_was_being_copied(self):
        _ctxt, uuid = self.server(host=None)
        self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        self.assertTrue(self.cell.db.read(action_lists.is_copying, uuid))
        self.cell.ask(uuid, 'delete', 'deleting')
        self.cell.image.add_image('half', image_type='snapshot', instance_uuid=uuid)
        self.cell.image.add_image(
            'done', image_type='snapshot', instance_uuid=uuid, status='active'
        )
        self.clock.advance(1)
        self.audit().run()
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual(['done'], list(self.cell.image.images))

    def test_of_a_server_with_shares(self):
        """Its access to them ends."""
        _ctxt, uuid = self.server(host=None)
        share = shares.columns()
        self.cell.db.write(share_rows.add, uuid, share)
        self.cell.share.grant(None, share)
        self.cell.ask(uuid, 'delete', 'deleting')
        self.clock.advance(1)
        self.audit().run()
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual({}, self.cell.share.granted)

    def audit(self):
        db, clients = self.cell.db, self.cell._neighbours(self.cell.placement)
        return audit_module.Audit(db.write, db.read, rescheduler=None, clients=clients, idle_s=0)

    def test_of_a_server_whose_state_is_reset_meanwhile(self):
        """An administrator resets the state of a server while the audit deletes another one."""
        uuids = [self.server(host=None)[1] for _number in range(2)]
        for uuid in uuids:
            self.cell.ask(uuid, 'delete', 'deleting')
        delete, freed = self.cell.placement.delete_allocations, []

        def reset_then_delete(ctxt, consumer, **options):
            freed.append(consumer)
            for uuid in uuids:
                if uuid not in freed:
                    self.cell.db.write(instances.force, uuid, {'task_state': None})
            return delete(ctxt, consumer, **options)

        self.cell.placement.delete_allocations = reset_then_delete
        self.clock.advance(1)
        self.audit().run()
        self.assertEqual(1, len(freed))
        self.assertEqual(freed, [uuid for uuid in uuids if self.cell.row(uuid).deleted])


class EpochsTest(base.CellConductorTestCase):
    def test_old_ones_are_forgotten_once_an_hour(self):
        db = self.cell.db
        audit = audit_module.Audit(db.write, db.read, rescheduler=None, clients=None, idle_s=IDLE_S)
        kept_s = audit_module.EPOCHS_KEPT.total_seconds()
        for advance_s, found in ((0, 1), (kept_s + 1, 0), (0, 1), (kept_s + 1, 0)):
            if found:
                db.write(epochs.hold, 'a', 1)
            self.clock.advance(advance_s)
            audit.run()
            self.assertEqual(found, len(db.read(epochs.seen, ['a'])))
        db.write(epochs.hold, 'a', 1)
        db.write(lambda connection: rows.change(connection, epochs.TABLE, {'seen_at': OLD}))
        for advance_s, found in ((audit_module.FORGET_EVERY_S - 1, 1), (1, 0)):
            self.clock.advance(advance_s)
            audit.run()
            self.assertEqual(found, len(db.read(epochs.seen, ['a'])))


class IncompleteTest(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server()
        self.audit = audit_module.Audit(
            self.cell.db.write, self.cell.db.read, rescheduler=None, clients=None, idle_s=IDLE_S
        )

    def status(self, *, kind='resize', status='error'):
        """Return the status of such a migration of the server, after an audit."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.uuid,
            'migration_type': kind,
            'status': status,
        }
        self.cell.db.write(migrations.create, values)
        self.audit.run()
        return self.cell.db.read(migrations.get, values['uuid']).status

    def delete(self, seconds):
        """The server was deleted so many seconds ago."""
        self.cell.db.write(instances.mark_deleted, self.uuid)
        at = runtime.naive_now() - datetime.timedelta(seconds=seconds)
        self.cell.db.write(
            lambda connection: connection.execute(
                instances.TABLE.update()
                .where(instances.TABLE.c.uuid == self.uuid)
                .values(deleted_at=at)
            )
        )

    def test_of_a_server_that_is_there(self):
        self.assertEqual('error', self.status())

    def test_of_one_that_was_just_deleted(self):
        self.delete(0)
        self.assertEqual('error', self.status())

    def test_of_one_that_is_deleted(self):
        self.delete(2 * IDLE_S)
        for kind in ('resize', 'migration', 'live-migration'):
            self.assertEqual('failed', self.status(kind=kind))
        self.assertEqual('error', self.status(kind='evacuation'))
        self.assertEqual('cancelled', self.status(kind='live-migration', status='cancelled'))
