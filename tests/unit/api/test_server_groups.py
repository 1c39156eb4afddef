"""Server groups over HTTP."""

from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quotas
from nova_lite.db.api import server_groups
from tests.fixtures import compute_api
from tests.unit.api import base

URL = '/os-server-groups'


class ServerGroupsTest(base.ApiTest):
    def create(self, version='2.64', status=200, who=compute_api.MEMBER, **values):
        body = {'server_group': {'name': 'g', **values}}
        shown = self.request('POST', URL, body, version=version, status=status, who=who)
        return shown.get('server_group')

    def test_views(self):
        uuid = self.create(version='2.1', policies=['affinity'])['id']
        shown = self.get(f'{URL}/{uuid}')['server_group']
        self.assertEqual(
            {'id': uuid, 'name': 'g', 'members': [], 'policies': ['affinity'], 'metadata': {}},
            shown,
        )
        shown = self.get(f'{URL}/{uuid}', version='2.13')['server_group']
        self.assertEqual(('alpha', 'alice'), (shown['project_id'], shown['user_id']))
        shown = self.get(f'{URL}/{uuid}', version='2.64')['server_group']
        self.assertEqual(
            {
                'id': uuid,
                'name': 'g',
                'members': [],
                'policy': 'affinity',
                'rules': {},
                'project_id': 'alpha',
                'user_id': 'alice',
            },
            shown,
        )

    def test_rules(self):
        rules = {'max_server_per_host': '3'}
        shown = self.create(policy='anti-affinity', rules=rules)
        self.assertEqual({'max_server_per_host': 3}, shown['rules'])
        self.create(policy='affinity', rules=rules, status=400)

    def test_refused(self):
        for version, values in (
            ('2.1', {'policies': ['soft-affinity']}),
            ('2.1', {'policies': ['affinity', 'anti-affinity']}),
            ('2.1', {'policies': []}),
            ('2.1', {'policy': 'affinity'}),
            ('2.15', {'policies': ['hard-affinity']}),
            ('2.64', {'policies': ['affinity']}),
            ('2.64', {'policy': 'affinity', 'name': ''}),
            ('2.64', {'policy': 'anti-affinity', 'rules': {'max_server_per_host': 0}}),
            ('2.64', {'policy': 'anti-affinity', 'rules': {'unknown': 1}}),
        ):
            self.create(version=version, status=400, **values)
        self.create(version='2.15', policies=['soft-affinity'])
        self.create(policy='affinity', who=compute_api.READER, status=403)

    def test_names(self):
        """As a nova 34 takes them: of the first plane, without private and line separators."""
        for char in '\u00e9\u0300\u00a0\u3000\u4e2d':
            self.create(policy='affinity', name=f'a{char}b')
        for char in '\u00a0\u3000':
            self.create(policy='affinity', name=f'a{char}', status=400)
        for char in '\ue000\u2028\u200b\ufffe\uffff\U0001f600\U00020000\U000f0000':
            self.create(policy='affinity', name=f'a{char}b', status=400)

    def test_of_another_project(self):
        uuid = self.create(policy='affinity')['id']
        self.get(f'{URL}/{uuid}', who=compute_api.OTHER, status=404)
        self.request('DELETE', f'{URL}/{uuid}', who=compute_api.OTHER, status=404)
        self.request('DELETE', f'{URL}/{uuid}', who=compute_api.READER, status=403)
        self.get(f'{URL}/{uuid}', who=compute_api.READER)
        self.admin('GET', f'{URL}/{uuid}')
        self.request('DELETE', f'{URL}/{uuid}', status=204)
        self.get(f'{URL}/{uuid}', status=404)

    def test_list(self):
        mine = [self.create(policy='affinity')['id'] for _number in range(3)]
        theirs = self.create(policy='affinity', who=compute_api.OTHER)['id']

        def ids(query='', **options):
            return [each['id'] for each in self.get(URL + query, **options)['server_groups']]

        self.assertEqual(mine, ids())
        self.assertEqual(mine, ids('?all_projects=1'))
        self.assertEqual([*mine, theirs], ids('?all_projects=1', who=compute_api.ADMIN))
        self.assertEqual(mine[1:2], ids('?limit=1&offset=1'))
        self.assertEqual(mine, ids('?limit=0'))
        self.get(f'{URL}?limit=x', status=400)
        self.get(f'{URL}?unknown=x', status=400, version='2.75')

    def test_members_that_are_gone_are_not_shown(self):
        shown = self.create(policy='affinity')
        row = self.api.api_db.read(server_groups.get, shown['id'])
        uuid = runtime.new_uuid()
        self.api.api_db.write(
            instance_mappings.create, [{'instance_uuid': uuid, 'project_id': 'alpha'}]
        )
        self.api.api_db.write(server_groups.add_members, row, [uuid, runtime.new_uuid()])
        self.assertEqual([uuid], self.get(f'{URL}/{shown["id"]}')['server_group']['members'])

    def test_quota(self):
        self.api.api_db.write(quotas.set_limits, 'alpha', {'server_groups': 1})
        self.create(policy='affinity')
        self.create(policy='affinity', status=403)
        self.api.api_db.write(quotas.set_limits, 'alpha', {'server_groups': -1})
        self.create(policy='affinity')
        self.api.api_db.write(quotas.set_limits, 'alpha', {'server_groups': 2}, 'alice')
        self.create(policy='affinity', status=403)
