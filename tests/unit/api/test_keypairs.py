"""Key pairs over HTTP."""

from cryptography import x509
from cryptography.hazmat.primitives import serialization
import testtools

from nova_lite.api import keys
from tests.fixtures import compute_api
from tests.unit.api import base

PUBLIC = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8rNmmCvf6a1PgGQnBe7mm0RDuKbU5DIAOS4YXjbzpp me@host'


class KeypairsTest(base.ApiTest):
    def create(self, name='k', status=201, version='2.2', **more):
        options = {'who': more.pop('who')} if 'who' in more else {}
        body = {'keypair': {'name': name, **more}}
        shown = self.request(
            'POST', '/os-keypairs', body, version=version, status=status, **options
        )
        return shown.get('keypair')

    def names(self, query='', **options):
        found = self.get('/os-keypairs' + query, **options)['keypairs']
        return [each['keypair']['name'] for each in found]

    def test_a_line_break_after_a_name(self):
        self.assertEqual('k', self.create('k\n')['name'])
        self.assertEqual(['k'], self.names())
        self.create(status=409)

    def test_made_here(self):
        shown = self.create()
        serialization.load_pem_private_key(shown['private_key'].encode(), None)
        self.assertEqual(('k', 'ssh', 'alice'), (shown['name'], shown['type'], shown['user_id']))
        self.assertEqual(keys.fingerprint('ssh', shown['public_key']), shown['fingerprint'])
        self.assertNotIn('private_key', self.get('/os-keypairs/k')['keypair'])

    def test_imported(self):
        shown = self.create(public_key=PUBLIC)
        self.assertEqual(PUBLIC, shown['public_key'])
        self.assertEqual(47, len(shown['fingerprint']))
        self.assertNotIn('private_key', shown)

    def test_certificate(self):
        shown = self.create(type='x509')
        certificate = x509.load_pem_x509_certificate(shown['public_key'].encode())
        self.assertIn('alice', certificate.subject.rfc4514_string())
        self.assertEqual(59, len(shown['fingerprint']))

    def test_codes_of_the_first_version(self):
        shown = self.create(version='2.1', status=200, public_key=PUBLIC)
        self.assertNotIn('type', shown)
        self.request('DELETE', '/os-keypairs/k', status=202)
        self.create(public_key=PUBLIC)
        self.request('DELETE', '/os-keypairs/k', version='2.2', status=204)
        self.request('DELETE', '/os-keypairs/k', version='2.2', status=404)

    def test_show(self):
        self.create(public_key=PUBLIC)
        shown = self.get('/os-keypairs/k', version='2.10')['keypair']
        self.assertEqual(
            (False, None, 'ssh'), tuple(shown[key] for key in ('deleted', 'deleted_at', 'type'))
        )
        self.get('/os-keypairs/other', status=404)
        self.get('/os-keypairs/k', who=compute_api.OTHER, status=404)

    def test_refused(self):
        for more in (
            {'public_key': 'nonsense'},
            {'public_key': 'ssh-rsa !!!'},
            {'public_key': ''},
            {'public_key': PUBLIC, 'type': 'x509'},
            {'type': 'other'},
            {'name': ''},
            {'name': 'a.b'},
            {'name': 'a' * 256},
            {'name': ' a'},
            {'user_id': 'alice'},
            {'unknown': 1},
        ):
            self.create(status=400, **more)
        self.create(public_key=PUBLIC)
        self.create(status=409, public_key=PUBLIC)
        self.create(version='2.1', status=400, type='ssh')

    def test_imported_only_from_2_92(self):
        self.create(version='2.92', status=400)
        self.create(name='a.b@c', version='2.91', status=400, public_key=PUBLIC)
        self.create(name='a.b@c', version='2.92', public_key=PUBLIC)
        self.assertEqual(['a.b@c'], self.names())

    def test_of_another_user(self):
        self.create(version='2.10', who=compute_api.ADMIN, user_id='alice', public_key=PUBLIC)
        self.create(version='2.10', status=403, user_id='bob')
        own = self.create(name='own', version='2.10', user_id='', public_key=PUBLIC)
        self.assertEqual('alice', own['user_id'])
        self.request('DELETE', '/os-keypairs/own', version='2.10', status=204)
        self.assertEqual(['k'], self.names())
        self.assertEqual([], self.names('?user_id=alice', who=compute_api.OTHER))
        self.get('/os-keypairs?user_id=alice', who=compute_api.OTHER, version='2.10', status=403)
        self.assertEqual(['k'], self.names('?user_id=alice', who=compute_api.ADMIN, version='2.10'))
        admin = {'who': compute_api.ADMIN, 'version': '2.10'}
        self.assertEqual(['k'], self.names('?user_id=alice&user_id=root', **admin))
        self.assertEqual([], self.names('?user_id=root&user_id=alice', **admin))
        self.admin('DELETE', '/os-keypairs/k?user_id=alice', version='2.10', status=204)

    def test_pages(self):
        for name in 'abc':
            self.create(name, public_key=PUBLIC)
        self.assertEqual(['a', 'b', 'c'], self.names('?limit=1'))
        found = self.get('/os-keypairs?limit=2', version='2.35')
        self.assertIn('marker=b', found['keypairs_links'][0]['href'])
        self.assertEqual(['c'], self.names('?marker=b', version='2.35'))
        self.get('/os-keypairs?marker=x', version='2.35', status=400)
        self.get('/os-keypairs?unknown=x', version='2.75', status=400)

    def test_quota(self):
        self.api.conf.set_override('key_pairs', 1, group='quota')
        self.create('a', public_key=PUBLIC)
        self.create('b', status=403, public_key=PUBLIC)
        self.assertEqual(['a'], self.names())


class KeysTest(testtools.TestCase):
    def test_fingerprint_is_md5_of_the_key_itself(self):
        found = keys.fingerprint('ssh', PUBLIC)
        self.assertEqual(found, keys.fingerprint('ssh', PUBLIC.rsplit(' ', 1)[0]))
        self.assertNotEqual(found, keys.fingerprint('ssh', keys.generate('ssh', 'u')[1]))
