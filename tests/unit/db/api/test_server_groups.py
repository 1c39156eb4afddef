"""Server groups in the API database."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import server_groups
from tests.fixtures import database


class ServerGroupsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.ApiDatabase())

    def create(self, project_id='p', user_id='u'):
        return self.db.write(
            server_groups.create,
            {
                'uuid': runtime.new_uuid(),
                'name': 'g',
                'project_id': project_id,
                'user_id': user_id,
                'policy': 'affinity',
            },
        )

    def server(self, user_id='u'):
        uuid = runtime.new_uuid()
        self.db.write(
            instance_mappings.create,
            [{'instance_uuid': uuid, 'project_id': 'p', 'user_id': user_id}],
        )
        return uuid

    def test_is_seen_by_its_project(self):
        row = self.create()
        self.assertEqual({}, row.rules)
        self.assertEqual(row, self.db.read(server_groups.get, row.uuid, 'p'))
        self.assertRaises(
            exception.ServerGroupNotFound, self.db.read, server_groups.get, row.uuid, 'q'
        )
        self.assertRaises(
            exception.ServerGroupNotFound, self.db.write, server_groups.destroy, row.uuid, 'q'
        )

    def test_pages_and_counts(self):
        groups = [self.create(), self.create(user_id='v'), self.create(project_id='q')]
        self.assertEqual(groups, self.db.read(server_groups.page))
        self.assertEqual(groups[1:2], self.db.read(server_groups.page, 'p', limit=5, offset=1))
        self.assertEqual(2, self.db.read(server_groups.count, 'p'))
        self.assertEqual(1, self.db.read(server_groups.count, 'p', 'v'))

    def test_members_are_servers_that_live(self):
        row = self.create()
        first, second = self.server(), self.server(user_id='v')
        self.db.write(server_groups.add_members, row, [first, second])
        self.db.write(server_groups.add_members, row, [first, runtime.new_uuid()])
        self.assertEqual({row.id: [first, second]}, self.db.read(server_groups.members, [row.id]))
        self.assertEqual({first: row.uuid}, self.db.read(server_groups.groups_of, [first]))
        self.db.write(instance_mappings.set_queued_for_delete, [first])
        self.assertEqual({row.id: [second]}, self.db.read(server_groups.members, [row.id]))
        self.assertEqual(1, self.db.write(server_groups.leave, [second]))
        self.assertEqual({}, self.db.read(server_groups.members, [row.id]))

    def test_destroy(self):
        row = self.create()
        uuid = self.server()
        self.db.write(server_groups.add_members, row, [uuid])
        self.db.write(server_groups.destroy, row.uuid)
        self.assertEqual({}, self.db.read(server_groups.groups_of, [uuid]))
        self.assertRaises(
            exception.ServerGroupNotFound, self.db.write, server_groups.add_members, row, [uuid]
        )
