"""Flavors, extra specs and access over HTTP."""

import testtools

from nova_lite.api import known_extra_specs
from tests.fixtures import compute_api
from tests.unit.api import base

ADMIN, MEMBER, OTHER = compute_api.ADMIN, compute_api.MEMBER, compute_api.OTHER


class FlavorTest(base.ApiTest):
    def create(self, name='small', **more):
        options = {key: more.pop(key) for key in ('version', 'status') if key in more}
        flavor = {'name': name, 'ram': 512, 'vcpus': 1, 'disk': 1, **more}
        shown = self.admin('POST', '/flavors', {'flavor': flavor}, **options)
        return shown.get('flavor')

    def ids(self, query='', **options):
        return [each['id'] for each in self.get('/flavors' + query, **options)['flavors']]


class FlavorsTest(FlavorTest):
    def test_view_of_each_version(self):
        self.create(id='1', description='text', version='2.55', swap=0)
        shown = self.get('/flavors/1')['flavor']
        self.assertEqual('', shown['swap'])
        self.assertEqual(
            (512, 1, 1, 0, 1.0, True, False),
            tuple(
                shown[key]
                for key in (
                    'ram',
                    'vcpus',
                    'disk',
                    'OS-FLV-EXT-DATA:ephemeral',
                    'rxtx_factor',
                    'os-flavor-access:is_public',
                    'OS-FLV-DISABLED:disabled',
                )
            ),
        )
        self.assertEqual({'self', 'bookmark'}, {link['rel'] for link in shown['links']})
        self.assertNotIn('description', shown)
        shown = self.get('/flavors/1', version='2.61')['flavor']
        self.assertEqual(('text', {}), (shown['description'], shown['extra_specs']))
        self.assertEqual(0, self.get('/flavors/1', version='2.75')['flavor']['swap'])
        newest = self.get('/flavors/1', version='latest')['flavor']
        self.assertNotIn('rxtx_factor', newest)
        self.assertNotIn('OS-FLV-DISABLED:disabled', newest)

    def test_list_is_brief(self):
        self.create(id='1')
        (shown,) = self.get('/flavors')['flavors']
        self.assertEqual({'id', 'name', 'links'}, set(shown))
        (shown,) = self.get('/flavors', version='2.55')['flavors']
        self.assertEqual({'id', 'name', 'links', 'description'}, set(shown))

    def test_pages(self):
        for number in '123':
            self.create(name=number, id=number)
        found = self.get('/flavors/detail?limit=2')
        self.assertEqual(['1', '2'], [each['id'] for each in found['flavors']])
        self.assertIn('marker=2', found['flavors_links'][0]['href'])
        self.assertEqual(['3'], self.ids('?limit=2&marker=2'))
        self.assertEqual(['3', '2', '1'], self.ids('?sort_key=name&sort_dir=desc'))
        self.get('/flavors?marker=9', status=400)
        self.get('/flavors?sort_key=nonsense', status=400)
        self.get('/flavors?limit=-1', status=400)

    def test_what_no_database_takes_is_no_id(self):
        self.get('/flavors/a%00b', status=404)

    def test_filters(self):
        self.create(name='a', id='1', ram=2048)
        self.create(name='b', id='2', disk=50)
        self.create(name='c', id='3', **{'os-flavor-access:is_public': False})
        self.assertEqual(['1'], self.ids('?minRam=1000'))
        self.assertEqual(['2'], self.ids('?minDisk=50'))
        self.get('/flavors?minDisk=much', status=400)
        self.assertEqual(['1', '2'], self.ids('?is_public=None'))
        self.assertEqual(['1', '2', '3'], self.ids('?is_public=None', who=ADMIN))
        self.assertEqual(['3'], self.ids('?is_public=false', who=ADMIN))
        self.get('/flavors?is_public=perhaps', status=400, who=ADMIN)
        self.assertEqual(['1', '2'], self.ids('?unknown=x'))
        self.get('/flavors?unknown=x', status=400, version='2.75')
        self.get('/flavors?name=a', status=400, version='2.101')
        self.assertEqual(['1'], self.ids('?name=^a', version='2.102'))
        self.get('/flavors?name=(', status=400, version='2.102')
        self.get('/flavors?sort_key=rxtx_factor', version='2.101')
        self.get('/flavors?sort_key=rxtx_factor', status=400, version='2.102')

    def test_a_line_break_after_a_name(self):
        self.assertEqual('small', self.create('small\n')['name'])
        self.create('small', status=409)
        self.create('other\n\n', status=400)

    def test_create_refuses(self):
        self.create(id='1')
        self.create(status=409, id='2')
        self.create(status=409, id='1', name='other')
        for more in (
            {'ram': 0},
            {'vcpus': 'many'},
            {'disk': -1},
            {'name': ''},
            {'name': 'x' * 256},
            {'id': ' 1'},
            {'unknown': 1},
            {'rxtx_factor': 0},
            {'rxtx_factor': '0.0'},
            {'description': 'before its time'},
            {'os-flavor-access:is_public': 'maybe'},
            {'ram': 2**31},
        ):
            self.create(status=400, **more)
        self.create(status=400, version='2.102', rxtx_factor=1)
        body = {'flavor': {'name': 'x', 'ram': 1, 'vcpus': 1, 'disk': 0}}
        self.request('POST', '/flavors', body, status=403)

    def test_create_makes_up_an_id_and_takes_numbers_as_text(self):
        self.assertEqual(36, len(self.create(id=None)['id']))
        made = self.create(name='n', id=7, ram='64', **{'OS-FLV-EXT-DATA:ephemeral': '3'})
        self.assertEqual(('7', 64, 3), (made['id'], made['ram'], made['OS-FLV-EXT-DATA:ephemeral']))

    def test_describe_and_delete(self):
        self.create(id='1')
        body = {'flavor': {'description': 'new'}}
        self.admin('PUT', '/flavors/1', body, version='2.54', status=404)
        shown = self.admin('PUT', '/flavors/1', body, version='2.55')
        self.assertEqual('new', shown['flavor']['description'])
        self.request('PUT', '/flavors/1', body, version='2.55', status=403)
        self.admin('PUT', '/flavors/2', body, version='2.55', status=404)
        self.request('DELETE', '/flavors/1', status=403)
        self.admin('DELETE', '/flavors/1', status=202)
        self.admin('DELETE', '/flavors/1', status=404)
        self.get('/flavors/1', status=404)


class AccessTest(FlavorTest):
    def action(self, name, status=200, project='alpha', flavor='1', **options):
        body = {name: {'tenant': project}}
        path = f'/flavors/{flavor}/action'
        return self.admin('POST', path, body, status=status, **options)

    def test_access(self):
        self.create(id='1', **{'os-flavor-access:is_public': False})
        self.get('/flavors/1', status=404)
        self.assertEqual(
            {'flavor_access': [{'flavor_id': '1', 'tenant_id': 'alpha'}]},
            self.action('addTenantAccess'),
        )
        self.action('addTenantAccess', 409)
        self.get('/flavors/1', who=MEMBER)
        self.get('/flavors/1', status=404, who=OTHER)
        self.assertEqual(['1'], self.ids())
        self.get('/flavors/1/os-flavor-access', status=403)
        self.get('/flavors/1/os-flavor-access', who=ADMIN)
        self.assertEqual({'flavor_access': []}, self.action('removeTenantAccess'))
        self.action('removeTenantAccess', 404)
        self.action('addTenantAccess', 404, flavor='2')
        self.action('addTenantAccess', 400, project='')
        self.action('unheardOf', 400)

    def test_public_flavor(self):
        self.create(id='1')
        self.get('/flavors/1/os-flavor-access', status=404, who=ADMIN)
        self.action('addTenantAccess')
        self.action('addTenantAccess', 409, version='2.7', project='beta')


class ExtraSpecsTest(FlavorTest):
    URL = '/flavors/1/os-extra_specs'

    def setUp(self):
        super().setUp()
        self.create(id='1', name='one')

    def test_life(self):
        body = {'extra_specs': {'a': '1', 'hw:cpu_policy': 'shared'}}
        self.assertEqual(body, self.admin('POST', self.URL, body))
        self.assertEqual(body, self.get(self.URL))
        self.assertEqual({'a': '2'}, self.admin('PUT', self.URL + '/a', {'a': '2'}))
        self.assertEqual({'a': '2'}, self.get(self.URL + '/a'))
        self.admin('PUT', self.URL + '/a', {'b': '2'}, status=400)
        self.admin('PUT', self.URL + '/a', {'a': '2', 'b': '2'}, status=400)
        self.admin('DELETE', self.URL + '/a')
        self.admin('DELETE', self.URL + '/a', status=404)
        self.get(self.URL + '/a', status=404)
        self.get('/flavors/9/os-extra_specs', status=404)

    def test_refused(self):
        self.request('POST', self.URL, {'extra_specs': {'a': '1'}}, status=403)
        for specs in (
            {'a': True},
            {'a': None},
            {'a': 10**300},
            {'a/b': '1'},
            {'a': 'x' * 256},
            ['a'],
        ):
            self.admin('POST', self.URL, {'extra_specs': specs}, status=400)
        self.admin('POST', '/flavors/9/os-extra_specs', {'extra_specs': {}}, status=404)

    def test_numbers_are_stored_as_text(self):
        body = {'extra_specs': {'quota:cpu_shares': 1024, 'ratio': 1.5}}
        self.assertEqual(body, self.admin('POST', self.URL, body, version='2.86'))
        stored = {'extra_specs': {'quota:cpu_shares': '1024', 'ratio': '1.5'}}
        self.assertEqual(stored, self.get(self.URL))
        self.admin('PUT', self.URL + '/ratio', {'ratio': 2}, version='2.86')
        self.assertEqual({'ratio': '2'}, self.get(self.URL + '/ratio'))
        self.admin(
            'POST', self.URL, {'extra_specs': {'hw:numa_nodes': 0}}, version='2.86', status=400
        )

    def test_validated_from_2_86(self):
        wrong = {'extra_specs': {'hw:cpu_policy': 'sharrred'}}
        self.admin('POST', self.URL, wrong, version='2.85')
        self.admin('POST', self.URL, wrong, version='2.86', status=400)


class KnownExtraSpecsTest(testtools.TestCase):
    GOOD = (
        ('anything', 'goes'),
        ('other:anything', 'goes'),
        ('hw:numa_cpus.0', '0-3,^2'),
        ('hw:numa_mem.1', '512'),
        ('hw:cpu_max_cores', '4'),
        ('hw:cpu_max_sockets', '2'),
        ('hw:cpu_max_threads', '1'),
        ('hw:mem_page_size', '2MB'),
        ('hw:cpu_realtime', 'yes'),
        ('hw_rng:rate_bytes', '0'),
        ('quota:cpu_shares', '10'),
        ('quota:vif_shares_level', 'high'),
        ('quota:cpu_quota', '-1'),
        ('quota:memory_reservation', '-1'),
        ('hw:usb_model', 'qemu-xhci'),
        ('hw:ephemeral_encryption_format', 'luksv2'),
        ('hw:mem_encryption_model', 'amd-sev-snp'),
        ('hw:mem_encryption_model', 'intel-tdx'),
        ('resources:VCPU', '2'),
        ('resources_1:CUSTOM_GOLD', '2'),
        ('trait:HW_CPU_X86_AVX', 'required'),
        ('trait2:CUSTOM_LICENSED', 'forbidden'),
        ('capabilities:cpu_info:features', '<in> avx'),
        ('aggregate_instance_extra_specs:ssd', 'true'),
        ('pci_passthrough:alias', 'gpu:1,nic:2'),
        ('group_policy', 'isolate'),
    )
    BAD = (
        ('hw:cpu_policies', 'shared'),
        ('hw:cpu_max_cores', '0'),
        ('hw:max_cpu_cores', '4'),
        ('hw:maxphysaddr_bits', '40'),
        ('hw:maxphysaddr_mode', 'emulate'),
        ('hw:cpu_policy', 'other'),
        ('hw:numa_nodes', '0'),
        ('hw:numa_nodes', 'two'),
        ('hw:cpu_realtime', 'perhaps'),
        ('hw:numa_cpus.0', '0-3,'),
        ('resources:VCPU', 'two'),
        ('resources:UNHEARD_OF', '1'),
        ('trait:HW_CPU_X86_AVX', 'maybe'),
        ('trait:NOT_STANDARD', 'required'),
        ('quota:disk_iops', '10'),
        ('quota:cpu_limit', '-1'),
        ('quota:vif_shares_share', '-1'),
        ('quota:memory_shares_level', 'High'),
        ('hw:usb_model', 'ehci'),
        ('group_policy', 'some'),
    )

    def test_good(self):
        for name, value in self.GOOD:
            known_extra_specs.check(name, value)

    def test_bad(self):
        for name, value in self.BAD:
            self.assertRaises(known_extra_specs.Refused, known_extra_specs.check, name, value)
