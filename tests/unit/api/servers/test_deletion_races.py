"""Deletion of a server that a move takes elsewhere while the request is handled."""

import sqlalchemy as sa

from nova_lite.db.cell import instances
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base

ACTIVE = {'host': 'host1', 'node': 'host1', 'vm_state': 'active'}
SHELVED = {'vm_state': 'shelved', 'system_metadata': {'shelved_image_id': api_neighbours.IMAGE_ID}}
OFFLOADED = {**SHELVED, 'host': None, 'node': None, 'vm_state': 'shelved_offloaded'}


class RacingCase(base.Case):
    def delete(self, before, after):
        """Delete a server that is as `before` when it is loaded, and then as `after`."""
        uuid = self.api.add_server(**before)
        cell, engine = self.api.cell('cell1'), self.api.api_db.engine

        moved = []

        def move(_connection, _cursor, statement, *_more):
            if statement.startswith('UPDATE instance_mappings') and not moved:
                moved.append(uuid)
                cell.db.write(instances.update, uuid, after)

        sa.event.listen(engine, 'before_cursor_execute', move)
        self.addCleanup(sa.event.remove, engine, 'before_cursor_execute', move)
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual([uuid], moved)
        return uuid

    def assert_ended(self, uuid):
        self.assertTrue(self.api.row(uuid).deleted)
        self.assertEqual([], self.sent())
        self.assertEqual({}, self.api.neighbours.image.images)


class TestRaces(RacingCase):
    def test_offloaded(self):
        self.assert_ended(self.delete(SHELVED, OFFLOADED))

    def test_unshelved(self):
        uuid = self.delete(OFFLOADED, ACTIVE)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        ((method, arguments),) = self.sent()
        self.assertEqual(('delete_instance', 'host1'), (method, arguments['host']))
        self.assertEqual([], self.api.neighbours.placement.released)

    def test_shelved(self):
        uuid = self.delete(ACTIVE, SHELVED)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        self.assertEqual({}, self.api.neighbours.image.images)


class TestKept(RacingCase):
    """What was to be kept for a while has left its host and is deleted at once."""

    overrides = ((None, 'reclaim_instance_interval', 60),)

    def test_kept_and_offloaded(self):
        self.assert_ended(self.delete(ACTIVE, OFFLOADED))
