"""Types of volumes that are encrypted, and their volumes."""

from tests.unit.simcloud import base

V3 = '/volume/v3'
SPECS = {'provider': 'luks', 'control_location': 'front-end', 'cipher': 'aes', 'key_size': '256'}


class EncryptionTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        body = {'volume_type': {'name': 'secret'}}
        self.type = self.admin.post(f'{V3}/types', body, expect=200)['volume_type']['id']
        self.path = f'{V3}/types/{self.type}/encryption'

    def encrypt(self, expect=200, **values):
        body = {'encryption': {**SPECS, **values}}
        answer = self.admin.post(self.path, body, expect=expect)
        return answer['encryption'] if expect == 200 else answer

    def volume(self):
        body = {'volume': {'size': 1, 'volume_type': 'secret'}}
        return self.demo.post(f'{V3}/volumes', body, expect=202)['volume']

    def test_life(self):
        self.assertEqual({}, self.admin.get(self.path))
        made = self.encrypt()
        self.assertEqual((self.type, 256), (made['volume_type_id'], made['key_size']))
        self.encrypt(expect=400)
        one = f'{self.path}/{made["encryption_id"]}'
        self.admin.put(one, {'encryption': {'control_location': 'back-end'}})
        found = self.admin.get(self.path)
        self.assertEqual(('back-end', 'aes'), (found['control_location'], found['cipher']))
        self.assertEqual({'cipher': 'aes'}, self.admin.get(f'{self.path}/cipher'))
        self.admin.delete(one, expect=202)
        self.admin.delete(one, expect=404)
        self.assertEqual({}, self.admin.get(self.path))

    def test_volumes_of_the_type(self):
        self.assertFalse(self.volume()['encrypted'])
        self.encrypt(expect=400)
        for volume in self.admin.get(f'{V3}/volumes?all_tenants=1')['volumes']:
            self.admin.delete(f'{V3}/volumes/{volume["id"]}', expect=202)
        made = self.encrypt()
        volume = self.volume()
        self.assertTrue(volume['encrypted'])
        version = {'OpenStack-API-Version': 'volume 3.64'}
        found = self.demo.get(f'{V3}/volumes/{volume["id"]}', headers=version)['volume']
        self.assertEqual(volume['id'], found['encryption_key_id'])
        found = self.demo.get(f'{V3}/volumes/{volume["id"]}/encryption')
        self.assertEqual(('luks', volume['id']), (found['provider'], found['encryption_key_id']))
        for method in ('PUT', 'DELETE'):
            body = {'encryption': {}} if method == 'PUT' else None
            self.admin.request(method, f'{self.path}/{made["encryption_id"]}', body, expect=400)

    def test_it_goes_with_its_type(self):
        self.encrypt()
        self.admin.delete(f'{V3}/types/{self.type}', expect=202)
        self.assertEqual([], self.change_database('SELECT * FROM volume_encryptions'))

    def test_only_administrators(self):
        for method, path, body in (
            ('GET', self.path, None),
            ('POST', self.path, {'encryption': SPECS}),
            ('PUT', f'{self.path}/x', {'encryption': {}}),
            ('DELETE', f'{self.path}/x', None),
        ):
            self.demo.request(method, path, body, expect=403)
