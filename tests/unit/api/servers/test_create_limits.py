"""POST /servers: quota, server groups, unique names."""

from nova_lite import runtime
from nova_lite.db.api import build_requests
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
        self.refused('POST', '/servers', body, code=403, version='latest', text='instances')

    def test_counts_of_any_size(self):
        self.limit(instances=1200, cores=-1, ram=-1)
        self.assertEqual(1200, len(self.create(max_count=2**40)))

    def test_more_than_a_transaction_holds(self):
        self.refuse(403, 'instances', min_count=2**40)
        self.limit(instances=-1, cores=-1, ram=-1)
        self.refuse(400, 'min_count', min_count=2**40)

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

    def meanwhile(self, name, action):
        """Call `action` before the transaction whose function has this name."""
        write, called = self.api.api_db.write, []

        def interrupted(function, *args, **kwargs):
            if function.__name__ == name and not called:
                called.append(function)
                action()
            return write(function, *args, **kwargs)

        self.patch(self.api.api_db, 'write', interrupted)

    def rename(self, uuid, name, code=200):
        body = {'server': {'name': name}}
        send = self.ok if code == 200 else self.refused
        return send('PUT', f'/servers/{uuid}', body, code=code)

    def test_taken_by_another_request_meanwhile(self):
        self.meanwhile('_store', lambda: self.create(name='WEB'))
        self.refused('POST', '/servers', self.body(), code=409, version='latest')
        self.assertEqual(1, len(self.api.api_db.read(build_requests.every)))

    def test_built_by_another_request_meanwhile(self):
        self.meanwhile('_store', lambda: self.api.add_server('cell2', display_name='WEB'))
        self.refuse(409, 'web')

    def test_renamed_meanwhile(self):
        uuid = self.api.add_server(display_name='old')
        self.meanwhile('_store', lambda: self.rename(uuid, 'Web'))
        self.refuse(409, 'web')

    def test_rename(self):
        self.create()
        self.api.add_server('cell2', display_name='other')
        uuid = self.api.add_server(display_name='mine')
        for name in ('WEB', 'Other'):
            self.rename(uuid, name, 409)
        self.rename(uuid, 'Mine')
        self.rename(uuid, 'yours')
        self.create(name='mine')

    def test_named_after_the_quota(self):
        """One of two has the plain name, which both are checked for."""
        self.api.api_db.write(quotas.set_limits, 'alpha', {'instances': 2})
        self.api.add_server(display_name='web')
        self.refuse(409, 'web', min_count=1, max_count=2)

    def test_taken(self):
        self.api.add_server(display_name='WEB')
        self.refuse(409, 'web')
        other = {'user': 'bob', 'project': 'beta', 'roles': 'member'}
        self.create(who=other)
        self.refused('POST', '/servers', self.body(), code=409, version='latest', who=other)
