"""Quota sets, quota class sets and limits over HTTP."""

from nova_lite import runtime
from nova_lite.api import microversion
from nova_lite.conf import quota
from nova_lite.db.api import instance_mappings
from tests.fixtures import compute_api
from tests.fixtures import shown_requests
from tests.unit.api import base

URL = '/os-quota-sets/alpha'
NETWORK = {'fixed_ips', 'floating_ips', 'security_groups', 'security_group_rules'}
INJECTED = {'injected_files', 'injected_file_content_bytes', 'injected_file_path_bytes'}
GROUPS = {'server_groups', 'server_group_members'}
LIMITS = {
    'maxTotalInstances', 'maxTotalCores', 'maxTotalRAMSize', 'maxTotalKeypairs', 'maxServerMeta',
    'maxServerGroups', 'maxServerGroupMembers', 'totalInstancesUsed', 'totalCoresUsed',
    'totalRAMUsed', 'totalServerGroupsUsed',
}  # fmt: skip
ALWAYS = {'instances', 'cores', 'ram', 'metadata_items', 'key_pairs'}


class QuotaTest(base.ApiTest):
    def add_server(self, vcpus=2, memory_mb=1024, user_id='alice'):
        values = {
            'instance_uuid': runtime.new_uuid(),
            'project_id': 'alpha',
            'user_id': user_id,
            'vcpus': vcpus,
            'memory_mb': memory_mb,
        }
        self.api.api_db.write(instance_mappings.create, [values])
        return values['instance_uuid']

    def put(self, query='', status=200, version='2.57', **limits):
        body = {'quota_set': limits}
        answer = self.admin('PUT', URL + query, body, status=status, version=version)
        return answer.get('quota_set', answer)

    def show(self, path='', version='2.57', **options):
        return self.get(URL + path, version=version, **options).get('quota_set')


class SetsTest(QuotaTest):
    def test_names_of_each_version(self):
        self.assertEqual(
            ALWAYS | GROUPS | NETWORK | INJECTED | {'id'}, set(self.show(version='2.1'))
        )
        self.assertEqual(ALWAYS | GROUPS | INJECTED | {'id'}, set(self.show(version='2.36')))
        self.assertEqual(ALWAYS | GROUPS | {'id'}, set(self.show()))
        shown = self.show(version='2.1')
        self.assertEqual(
            ('alpha', 10, 20, -1, 255),
            tuple(
                shown[name]
                for name in (
                    'id', 'instances', 'cores', 'floating_ips', 'injected_file_path_bytes',
                )
            ),
        )  # fmt: skip

    def test_of_another_project(self):
        self.show(who=compute_api.OTHER, status=403)
        self.show(who=compute_api.READER)
        self.show('/detail', who=compute_api.OTHER, status=403)
        self.show('/defaults', who=compute_api.OTHER)
        self.request('PUT', URL, {'quota_set': {'cores': 1}}, status=403)
        self.request('DELETE', URL, status=403)

    def test_set_and_clear(self):
        shown = self.put(cores=4, ram='-1')
        self.assertEqual((4, -1, 10), (shown['cores'], shown['ram'], shown['instances']))
        self.assertNotIn('id', shown)
        self.assertEqual(4, self.show()['cores'])
        self.assertEqual(20, self.show('/defaults')['cores'])
        self.admin('DELETE', URL, status=202)
        self.assertEqual(20, self.show()['cores'])

    def test_of_a_user(self):
        self.put(cores=8)
        self.put('?user_id=alice', cores=4)
        self.assertEqual(4, self.show('?user_id=alice')['cores'])
        self.assertEqual(8, self.show('?user_id=bob')['cores'])
        self.assertEqual(8, self.show()['cores'])
        self.put('?user_id=alice', status=400, cores=9)
        self.put('?user_id=alice', status=400, cores=-1)
        self.put(f'?user_id={"x" * 256}', status=400, cores=1)
        self.show(f'?user_id={"x" * 256}', status=400)
        self.admin('DELETE', URL + '?user_id=alice', status=202)
        self.assertEqual(8, self.show('?user_id=alice')['cores'])

    def test_detail_counts(self):
        self.add_server()
        self.add_server(user_id='dora')
        shown = self.show('/detail')
        self.assertEqual({'limit': 20, 'in_use': 4, 'reserved': 0}, shown['cores'])
        self.assertEqual(2, self.show('/detail?user_id=dora')['cores']['in_use'])

    def test_not_below_what_is_used(self):
        self.add_server()
        refused = self.put(status=400, cores=1)['badRequest']['message']
        self.assertIn('already used and reserved 2', refused)
        self.assertEqual(1, self.put(cores=1, force=True)['cores'])
        self.put(cores=-1)

    def test_refused(self):
        for limits in ({'cores': -2}, {'cores': 'x'}, {'cores': 2**31}, {'unknown': 1}):
            self.put(status=400, **limits)
        self.put(status=400, version='2.36', floating_ips=1)
        self.put(version='2.35', floating_ips=1)
        self.assertEqual(1, self.show(version='2.35')['floating_ips'])
        self.put(status=400, version='2.57', injected_files=1)
        self.show('?unknown=x', version='2.75', status=400)


class ClassesTest(QuotaTest):
    CLASS = '/os-quota-class-sets/default'

    def test_names_of_each_version(self):
        def names(version):
            found = self.admin('GET', self.CLASS, version=version)['quota_class_set']
            return set(found) - {'id'}

        self.assertEqual(ALWAYS | NETWORK | INJECTED, names('2.1'))
        self.assertEqual(ALWAYS | GROUPS | INJECTED, names('2.50'))
        self.assertEqual(ALWAYS | GROUPS, names('2.57'))

    def test_groups_are_settable_before_they_are_shown(self):
        body = {'quota_class_set': {'server_groups': 3, 'server_group_members': 4}}
        for version in ('2.1', '2.49'):
            shown = self.admin('PUT', self.CLASS, body, version=version)['quota_class_set']
            self.assertEqual(set(), GROUPS & set(shown))
        shown = self.admin('GET', self.CLASS, version='2.50')['quota_class_set']
        self.assertEqual((3, 4), (shown['server_groups'], shown['server_group_members']))

    def test_default_class_holds_for_all(self):
        body = {'quota_class_set': {'cores': 7}}
        shown = self.admin('PUT', self.CLASS, body)['quota_class_set']
        self.assertEqual(7, shown['cores'])
        self.assertNotIn('id', shown)
        self.assertEqual(7, self.show()['cores'])
        self.assertEqual(7, self.show('/defaults')['cores'])
        other = self.admin('GET', '/os-quota-class-sets/other')['quota_class_set']
        self.assertEqual(('other', 20), (other['id'], other['cores']))
        self.admin('PUT', self.CLASS, {'quota_class_set': {'id': 'x'}}, status=400)
        long = f'/os-quota-class-sets/{"x" * 256}'
        self.admin('PUT', long, body, status=400)
        self.admin('PUT', long[:-1], body)
        self.get(self.CLASS, status=403)


class LimitsTest(QuotaTest):
    def limits(self, query='', **options):
        return self.get('/limits' + query, **options)['limits']['absolute']

    def test_own(self):
        self.add_server()
        self.put(cores=4)
        shown = self.limits()
        self.assertEqual(
            (4, 2, 1024, 1),
            tuple(
                shown[name]
                for name in (
                    'maxTotalCores', 'totalCoresUsed', 'totalRAMUsed', 'totalInstancesUsed',
                )
            ),
        )  # fmt: skip

    def test_names_of_each_version(self):
        files = {'maxPersonality', 'maxPersonalitySize'}
        networks = {
            'maxTotalFloatingIps', 'maxSecurityGroups', 'maxSecurityGroupRules',
            'totalFloatingIpsUsed', 'totalSecurityGroupsUsed',
        }  # fmt: skip
        for minor, more in (
            (1, {*files, 'maxImageMeta', *networks}),
            (35, {*files, 'maxImageMeta', *networks}),
            (36, {*files, 'maxImageMeta'}),
            (38, {*files, 'maxImageMeta'}),
            (39, files),
            (56, files),
            (57, set()),
            (microversion.MAXIMUM.minor, set()),
        ):
            answer = self.get('/limits', version=f'2.{minor}')
            self.assertEqual({'limits'}, set(answer))
            self.assertEqual({'rate', 'absolute'}, set(answer['limits']))
            self.assertEqual(LIMITS | more, set(answer['limits']['absolute']), minor)

    def test_what_is_used(self):
        """Accepted servers count until they are being deleted; a cell need not answer."""
        self.add_server()
        self.add_server(user_id='carol')
        in_cell, deleted = self.add_server(), self.add_server()
        self.api.api_db.write(instance_mappings.place, [in_cell], self.api.cell('cell1').id)
        self.api.api_db.write(instance_mappings.set_queued_for_delete, [deleted], True)
        self.api.cell('cell1').db.url = 'sqlite:////nonexistent/directory/x.sqlite'
        self.api.cell('cell1').db.dispose()
        self.api.cell('cell1').db._engine = None
        shown = self.limits(version='2.57')
        used = [shown[f'total{name}Used'] for name in ('Instances', 'Cores', 'RAM')]
        self.assertEqual([3, 6, 3072], used)
        detail = self.show('/detail')
        self.assertEqual({'limit': 10, 'in_use': 3, 'reserved': 0}, detail['instances'])
        reserved = {each['reserved'] for name, each in detail.items() if name != 'id'}
        self.assertEqual({0}, reserved)

    def test_of_another_project(self):
        self.add_server()
        found = self.limits('?tenant_id=alpha', who=compute_api.ADMIN)
        self.assertEqual(2, found['totalCoresUsed'])
        for who in (compute_api.OTHER, compute_api.MEMBER):
            self.get('/limits?tenant_id=alpha', who=who, status=403)
        # The last one counts.
        found = self.limits('?tenant_id=beta&tenant_id=alpha', who=compute_api.ADMIN)
        self.assertEqual(2, found['totalCoresUsed'])
        self.assertEqual(0, self.limits('?tenant_id=none', who=compute_api.ADMIN)['totalCoresUsed'])
        self.get('/limits?unknown=x', version='2.75', status=400)


class NoLimitsTest(QuotaTest):
    """[quota]driver = nova.quota.NoopQuotaDriver."""

    def setUp(self):
        super().setUp()
        self.api.conf.set_override('driver', quota.NONE, group='quota')
        self.api.conf.set_override('key_pairs', 0, group='quota')

    def test_limits_have_no_effect(self):
        self.add_server()
        self.put(instances=1, key_pairs=0)
        self.assertEqual({-1, 'alpha'}, set(self.show().values()))
        self.assertEqual({-1, 'alpha'}, set(self.show('/defaults').values()))
        self.assertEqual({-1, 'alpha'}, set(self.show('?user_id=alice').values()))
        shown = self.get('/os-quota-class-sets/default', version='2.57', who=compute_api.ADMIN)
        self.assertEqual({-1, 'default'}, set(shown['quota_class_set'].values()))
        found = self.get('/limits', version='2.57')['limits']['absolute']
        self.assertEqual(-1, found['maxTotalInstances'])
        body = {'keypair': {'name': 'key', 'public_key': shown_requests.KEY}}
        self.request('POST', '/os-keypairs', body, status=201, version='2.91')
