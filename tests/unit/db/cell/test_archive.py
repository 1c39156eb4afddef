"""Deleted servers leave the tables and remain in the archive until purged."""

import datetime

import sqlalchemy as sa
import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite.db.cell import actions
from nova_lite.db.cell import archive
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import clock
from tests.fixtures import database

HOUR = datetime.timedelta(hours=1)


class ArchiveTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.db = self.useFixture(database.CellDatabase())

    def add(self, *, deleted=True):
        uuid = runtime.new_uuid()
        self.db.write(
            instances.create,
            [
                {
                    'uuid': uuid,
                    'project_id': 'p',
                    'user_id': 'u',
                    'display_name': 's',
                    'vm_state': 'active',
                    'vcpus': 1,
                    'memory_mb': 1,
                    'root_gb': 1,
                    'ephemeral_gb': 0,
                    'flavor': {},
                }
            ],
        )
        ctxt = context.admin()
        self.db.write(actions.start, ctxt, uuid, 'create')
        self.db.write(actions.record_event, uuid, ctxt.request_id, 'event')
        self.db.write(children.create_tags, uuid, ['a', 'b'])
        if deleted:
            self.db.write(instances.mark_deleted, uuid)
        return uuid

    def count(self, table):
        return self.db.read(
            lambda connection: connection.scalar(sa.select(sa.func.count()).select_from(table))
        )

    def archive(self, max_rows=1000, before=None):
        return self.db.write(archive.archive, max_rows, before)

    def test_moves_a_server_with_all_its_rows(self):
        uuid, alive = self.add(), self.add(deleted=False)
        moved, uuids = self.archive()
        self.assertEqual([uuid], uuids)
        self.assertEqual(
            {
                'instances': 1,
                'instance_actions': 1,
                'instance_actions_events': 1,
                'tags': 2,
            },
            dict(moved),
        )
        self.assertIsNone(self.db.read(instances.find, uuid))
        self.assertIsNotNone(self.db.read(instances.find, alive))
        self.assertEqual(
            (5, 1, 1),
            (self.count(archive.ARCHIVE), self.count(archive.ACTIONS), self.count(archive.EVENTS)),
        )
        self.assertEqual((0, []), (self.archive()[0].total(), self.archive()[1]))

    def test_stops_after_a_server(self):
        uuids = [self.add() for _number in range(3)]
        self.assertEqual(uuids[:2], self.archive(max_rows=6)[1])
        self.assertEqual(uuids[2:], self.archive(max_rows=6)[1])

    def test_before(self):
        early = self.add()
        self.clock.advance(3600)
        late = self.add()
        border = runtime.naive_now() - HOUR / 2
        self.assertEqual([early], self.archive(before=border)[1])
        self.assertEqual([late], self.archive()[1])
        self.assertEqual(5, self.db.write(archive.purge, border))
        self.assertEqual(5, self.db.write(archive.purge))
        self.assertEqual(0, self.db.write(archive.purge))
