"""Shares, their access rules and resource locks."""

from tests.unit.simcloud import base

SHARES = '/share/v2/shares'
LOCKS = '/share/v2/resource-locks'
NEWEST = {'X-OpenStack-Manila-API-Version': '2.82'}
ADDRESS = {'access_type': 'ip', 'access_to': '10.1.0.4'}


class SharesTestCase(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        for client in (self.demo, self.admin):
            client.headers.update(NEWEST)
        self.nova = self.login('nova', 'pw-service', 'service')
        self.nova.headers.update(NEWEST)

    def share(self, client=None, **values):
        body = {'share': {'size': 1, 'share_proto': 'NFS', **values}}
        return (client or self.demo).post(SHARES, body, expect=200)['share']

    def act(self, share, action, values, *, client=None, expect=200):
        body = {action: values}
        return (client or self.demo).post(f'{SHARES}/{share["id"]}/action', body, expect=expect)

    def allow(self, share, *, client=None, expect=200, **values):
        found = self.act(share, 'allow_access', values, client=client, expect=expect)
        return found.get('access')

    def rules(self, share, client=None):
        path = f'/share/v2/share-access-rules?share_id={share["id"]}'
        return (client or self.demo).get(path)['access_list']

    def lock(self, resource, *, client=None, expect=200, **values):
        body = {'resource_lock': {'resource_id': resource['id'], **values}}
        return (client or self.nova).post(LOCKS, body, expect=expect)


class TestShares(SharesTestCase):
    def test_create_show_list_update_delete(self):
        share = self.share(name='home', metadata={'a': 'b'})
        self.assertEqual(('available', 'NFS', 'default'), _columns(share))
        self.assertNotIn('host', share)
        self.assertEqual('simcloud@sim#sim', self._shown(share, self.admin)['host'])
        (listed,) = self.demo.get(f'{SHARES}?name=home')['shares']
        self.assertEqual({'id', 'name', 'links'}, set(listed))
        self.assertEqual([share], self.demo.get(f'{SHARES}/detail?is_public=True')['shares'])
        self.assertEqual([], self.demo.get(f'{SHARES}?is_soft_deleted=True')['shares'])
        changed = self.demo.put(f'{SHARES}/{share["id"]}', {'share': {'display_name': 'new'}})
        self.assertEqual('new', changed['share']['name'])
        self.demo.delete(f'{SHARES}/{share["id"]}', expect=202)
        self.demo.get(f'{SHARES}/{share["id"]}', expect=404)

    def _shown(self, share, client):
        return client.get(f'{SHARES}/{share["id"]}')['share']

    def test_bad_values(self):
        for values, named in (
            ({'share_proto': 'FTP'}, 'protocol'),
            ({'size': 0}, 'size'),
            ({'share_network_id': 'x'}, 'share_network_id'),
        ):
            body = {'share': {'size': 1, 'share_proto': 'NFS', **values}}
            found = self.demo.post(SHARES, body, expect=400)
            self.assertIn(named, found['badRequest']['message'])
        body = {'share': {'size': 1, 'share_proto': 'NFS', 'share_type': 'gold'}}
        self.demo.post(SHARES, body, expect=404)

    def test_shares_of_other_projects(self):
        private, public = self.share(), self.share(is_public=True)
        other = self.believed('u', 'elsewhere', 'member')
        other.get(f'{SHARES}/{private["id"]}', expect=404)
        other.get(f'{SHARES}/{public["id"]}')
        other.delete(f'{SHARES}/{public["id"]}', expect=403)
        self.assertEqual([], other.get(SHARES)['shares'])
        self.assertEqual(2, len(self.admin.get(f'{SHARES}?all_tenants=1')['shares']))

    def test_export_location_follows_the_protocol(self):
        for protocol, path in (
            ('NFS', '10.254.0.5:/shares/{}'),
            ('CEPHFS', '10.254.0.5:6789:/volumes/_nogroup/{}'),
        ):
            share = self.share(share_proto=protocol.lower())
            url = f'{SHARES}/{share["id"]}/export_locations'
            (found,) = self.demo.get(url)['export_locations']
            self.assertEqual(path.format(share['id']), found['path'])
            one = self.demo.get(f'{url}/{found["id"]}')['export_location']
            self.assertEqual(found, one)
            self.demo.get(f'{url}/none', expect=404)

    def test_versions_and_types(self):
        found = self.anyone.get('/share/v2')['versions'][0]
        self.assertEqual(('2.98', '2.0'), (found['version'], found['min_version']))
        self.assertEqual('default', self.demo.get('/share/v2/types')['share_types'][0]['name'])
        self.demo.get('/share/v2/types/default')
        self.demo.get('/share/v2/types/gold', expect=404)
        for version, expect in (('2.1', 200), ('latest', 200), ('2.999', 406), ('x', 400)):
            headers = {'X-OpenStack-Manila-API-Version': version}
            self.demo.get(SHARES, headers=headers, expect=expect)


class TestAccess(SharesTestCase):
    def test_allow_and_deny(self):
        share = self.share()
        rule = self.allow(share, **ADDRESS)
        self.assertEqual(('rw', 'active'), (rule['access_level'], rule['state']))
        self.assertEqual([rule], self.rules(share))
        self.assertEqual([rule], self.act(share, 'access_list', None)['access_list'])
        self.assertEqual(rule, self._rule(rule))
        found = self.allow_fails(share, **ADDRESS)
        self.assertIn('exists', found)
        self.act(share, 'deny_access', {'access_id': rule['id']}, expect=202)
        self.assertEqual([], self.rules(share))
        self.act(share, 'deny_access', {'access_id': rule['id']}, expect=404)

    def _rule(self, rule):
        return self.demo.get(f'/share/v2/share-access-rules/{rule["id"]}')['access']

    def allow_fails(self, share, **values):
        found = self.act(share, 'allow_access', values, expect=400)
        return found['badRequest']['message']

    def test_types_follow_the_protocol(self):
        ceph, nfs = self.share(share_proto='CEPHFS'), self.share()
        self.assertTrue(self.allow(ceph, access_type='cephx', access_to='nova')['access_key'])
        self.assertIn('access_type', self.allow_fails(ceph, **ADDRESS))
        self.assertIn('access_type', self.allow_fails(nfs, access_type='cephx', access_to='x'))
        self.assertIn('access_to', self.allow_fails(nfs, access_type='ip', access_to='nowhere'))

    def test_actions_that_are_none(self):
        share = self.share()
        self.act(share, 'nothing', None, expect=400)
        self.demo.post(f'{SHARES}/{share["id"]}/action', {}, expect=400)

    def test_a_rule_is_hidden_and_kept_by_its_locks(self):
        share = self.share()
        rule = self.allow(
            share, client=self.nova, lock_visibility=True, lock_deletion=True, **ADDRESS
        )
        self.assertEqual('******', self._rule(rule)['access_to'])
        (seen,) = self.rules(share, self.nova)
        self.assertEqual('10.1.0.4', seen['access_to'])
        values = {'access_id': rule['id'], 'unrestrict': True}
        self.act(share, 'deny_access', values, expect=409)
        self.act(share, 'deny_access', values, client=self.nova, expect=202)
        self.assertEqual([], self.nova.get(f'{LOCKS}?all_projects=1')['resource_locks'])

    def test_locks_need_their_microversion(self):
        share = self.share()
        body = {'allow_access': {**ADDRESS, 'lock_deletion': True}}
        old = {'X-OpenStack-Manila-API-Version': '2.81'}
        self.demo.post(f'{SHARES}/{share["id"]}/action', body, headers=old, expect=404)
        self.demo.get(LOCKS, headers={'X-OpenStack-Manila-API-Version': '2.80'}, expect=404)


class TestLocks(SharesTestCase):
    def test_a_locked_share_is_not_deleted(self):
        share = self.share()
        first, second = (
            self.lock(share, resource_type='share', lock_reason=reason)['resource_lock']
            for reason in ('one', 'two')
        )
        self.assertEqual(('service', 'delete'), (first['lock_context'], first['resource_action']))
        for lock in (first, second):
            self.demo.delete(f'{SHARES}/{share["id"]}', expect=409)
            self.demo.delete(f'{LOCKS}/{lock["id"]}', expect=403)
            self.nova.delete(f'{LOCKS}/{lock["id"]}')
        self.demo.delete(f'{SHARES}/{share["id"]}', expect=202)

    def test_list_by_resource_and_reason(self):
        share = self.share()
        lock = self.lock(share, resource_type='share', lock_reason='one')['resource_lock']
        self.lock(share, resource_type='share', lock_reason='two')
        for query in (f'resource_id={share["id"]}&lock_reason=one', f'id={lock["id"]}'):
            found = self.nova.get(f'{LOCKS}?all_projects=1&{query}')['resource_locks']
            self.assertEqual([lock], found)
        self.assertEqual(lock, self.nova.get(f'{LOCKS}/{lock["id"]}')['resource_lock'])
        # A lock belongs to the project of its share, not to the project that placed it.
        self.assertEqual(2, len(self.demo.get(LOCKS)['resource_locks']))

    def test_a_user_removes_only_his_own(self):
        share = self.share()
        lock = self.lock(share, client=self.demo, resource_type='share')['resource_lock']
        self.assertEqual('user', lock['lock_context'])
        self.demo.delete(f'{LOCKS}/{lock["id"]}')
        lock = self.lock(share, client=self.admin, resource_type='share')['resource_lock']
        self.assertEqual('admin', lock['lock_context'])
        self.demo.delete(f'{LOCKS}/{lock["id"]}', expect=403)

    def test_what_cannot_be_locked(self):
        share = self.share()
        self.lock(share, resource_type='share', resource_action='show', expect=400)
        self.lock({'id': 'none'}, resource_type='share', expect=404)
        other = self.believed('u', 'elsewhere', 'member')
        other.headers.update(NEWEST)
        self.lock(share, client=other, resource_type='share', expect=404)


def _columns(share):
    return share['status'], share['share_proto'], share['share_type_name']
