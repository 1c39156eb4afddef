"""Objects that exist from the start, and stay when users leave."""

import falcon.testing
import fixtures
import testtools

from nova_lite.simcloud import app
from nova_lite.simcloud import seed
from tests.unit.simcloud import base


class SeedTestCase(base.SimCloudTestCase):
    def test_newest_image_fits_every_flavor(self):
        """Lists show it first, and clients take the first."""
        *_others, (*_disk, attributes) = seed.IMAGES.values()
        self.assertEqual(set(), {'min_disk', 'min_ram'} & set(attributes))

    def test_first_contents(self):
        images = self.demo.get('/image/v2/images')['images']
        self.assertEqual(set(seed.IMAGES), {one['name'] for one in images})
        self.assertEqual(
            {('active', 'public')}, {(one['status'], one['visibility']) for one in images}
        )
        networks = self.demo.get('/network/v2.0/networks')['networks']
        self.assertEqual({'public', 'private', 'shared'}, {one['name'] for one in networks})
        external = self.demo.get('/network/v2.0/networks?router:external=true')['networks']
        self.assertEqual(['public'], [one['name'] for one in external])
        kinds = self.demo.get('/volume/v3/types')['volume_types']
        self.assertEqual(['__DEFAULT__', 'multiattach'], [one['name'] for one in kinds])
        users = self.admin.get('/identity/v3/users')['users']
        self.assertEqual(
            {'admin', 'demo', 'nova', 'placement', 'glance', 'neutron', 'cinder'},
            {one['name'] for one in users},
        )

    def test_image_data_is_what_the_image_says(self):
        image = self.admin.get(f'/image/v2/images/{self.image_id()}')
        result = self.admin.raw('GET', f'/image/v2/images/{image["id"]}/file')
        self.assertEqual(image['size'], len(result.content))
        self.assertEqual(b'QFI\xfb', result.content[:4])
        self.assertEqual(image['checksum'], result.headers['content-md5'])

    def test_starting_again_brings_nothing_back(self):
        self.admin.delete(f'/image/v2/images/{self.image_id("debian")}')
        private = f'/network/v2.0/networks/{self.network_id("private")}'
        self.admin.put(private, {'network': {'name': 'renamed'}})
        secret = self.admin.headers['X-Auth-Token']
        self.start()
        again = base.Client(self, self.wsgi, {'X-Auth-Token': secret})
        images = again.get('/image/v2/images')['images']
        self.assertEqual(seed.IMAGES.keys() - {'debian'}, {one['name'] for one in images})
        self.assertEqual(3, len(again.get('/network/v2.0/networks')['networks']))

    def test_passwords_are_needed_once(self):
        self.open()


class OneNetworkTestCase(testtools.TestCase):
    def test_a_member_has_no_choice_of_networks(self):
        database = self.useFixture(fixtures.TempDir()).join('cloud.sqlite')
        application = app.make_app(database, base.URL, options={**base.PASSWORDS, 'auth': 'noauth'})
        self.addCleanup(application.close)
        client = falcon.testing.TestClient(application)
        headers = {'X-User-Id': 'u', 'X-Project-Id': 'p', 'X-Roles': 'admin'}
        networks = client.simulate_get('/network/v2.0/networks', headers=headers).json['networks']
        self.assertEqual(
            {('public', True, False), ('private', False, False)},
            {(one['name'], one['router:external'], one['shared']) for one in networks},
        )


class NoPasswordTestCase(testtools.TestCase):
    def test_new_users_need_passwords(self):
        database = self.useFixture(fixtures.TempDir()).join('cloud.sqlite')
        options = {**base.PASSWORDS, 'demo_password': None}
        error = self.assertRaises(ValueError, app.make_app, database, base.URL, options=options)
        self.assertIn('demo_password', str(error))
