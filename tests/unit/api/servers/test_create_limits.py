"""POST /servers: quota, server groups, unique names."""

from nova_lite import runtime
from nova_lite.db.api import quotas
from nova_lite.db.api import server_groups
from tests.unit.api.servers import create_base


class TestQuota(create_base.Case):
    def limit(self, **limits):
        self.api.api_db.write(quotas.set_limits, 'alpha', limits)

    def test_servers(self):
        self.limit(instances=2)
        self.assertEqual(2, len(self.create(min_count=1, max_count=5)))
        body = self.body()
        self.refused('POST', '/servers', body, code=403, version='2.104', text='instances')

    def test_cores_and_ram(self):
        self.limit(cores=0)
        self.refuse(403, 'cores')
        self.limit(cores=-1, ram=100)
        self.refuse(403, 'ram')

    def test_of_the_user(self):
        self.api.api_db.write(quotas.set_limits, 'alpha', {'instances': 0}, 'alice')
        self.refuse(403, 'instances')
        bob = {'user': 'bob', 'project': 'alpha', 'roles': 'member'}
        self.create(who=bob)

    def test_metadata_and_files(self):
        self.limit(metadata_items=1, injected_files=1, injected_file_content_bytes=4)
        self.refuse(403, 'metadata_items', metadata={'a': 'b', 'c': 'd'})
        file = {'path': '/a', 'contents': 'eA=='}
        self.refuse(403, 'injected_files', version='2.56', personality=[file, file])
        long = {'path': '/a', 'contents': 'eHh4eHh4'}
        self.refuse(403, 'content_bytes', version='2.56', personality=[long])

    def test_deleted_servers_do_not_count(self):
        self.limit(instances=1)
        (request,) = self.create()
        self.ok('DELETE', f'/servers/{request.instance_uuid}', code=204)
        self.create()


class TestGroups(create_base.Case):
    def setUp(self):
        super().setUp()
        self.group = self.api.api_db.write(
            server_groups.create,
            {
                'uuid': runtime.new_uuid(),
                'project_id': 'alpha',
                'user_id': 'alice',
                'name': 'g',
                'policy': 'affinity',
                'rules': {},
            },
        )

    def test_member(self):
        (request,) = self.create(hints={'group': self.group.uuid})
        self.assertEqual(self.group.uuid, self.spec(request).group_uuid)
        self.assertEqual(self.group.uuid, request.instance['group_uuid'])
        wanted = {'uuid': self.group.uuid, 'policy': 'affinity', 'rules': {}}
        self.assertEqual(wanted, request.arguments['options']['group'])
        found = self.ok('GET', f'/servers/{request.instance_uuid}', version='2.71').json
        self.assertEqual([self.group.uuid], found['server']['server_groups'])

    def test_unknown(self):
        self.refuse(400, 'group', hints={'group': runtime.new_uuid()})
        self.refuse(400, 'group', hints={'group': 'x'})

    def test_of_another_project(self):
        other = {'user': 'bob', 'project': 'beta', 'roles': 'member'}
        self.refuse(400, 'group', hints={'group': self.group.uuid}, who=other)

    def test_limit(self):
        self.api.api_db.write(quotas.set_limits, 'alpha', {'server_group_members': 1})
        self.refuse(
            403, 'server_group_members', hints={'group': self.group.uuid}, max_count=2, min_count=2
        )


class TestUniqueNames(create_base.Case):
    overrides = ((None, 'osapi_compute_unique_server_name_scope', 'project'),)

    def test_taken(self):
        self.api.add_server(display_name='WEB')
        self.refuse(409, 'web')
        other = {'user': 'bob', 'project': 'beta', 'roles': 'member'}
        self.create(who=other)
        self.refused('POST', '/servers', self.body(), code=409, version='2.104', who=other)
