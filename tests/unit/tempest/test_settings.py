"""The configuration of Tempest."""

import configparser

import testtools

from tests.tempest import clouds
from tests.tempest import resources
from tests.tempest import settings

FOUND = resources.Resources(
    image='image-1',
    image_copy='image-2',
    flavor='42',
    flavor_alt='84',
    public_network='network-1',
    extensions=('router', 'security-group'),
    auth={
        'auth_url': 'http://127.0.0.1:1/identity/v3',
        'username': 'admin',
        'password': 'per%cent',
        'project_name': 'admin',
    },
)


class SettingsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = configparser.RawConfigParser()
        self.conf.read_string(settings.text(FOUND, '/here'))

    def test_where_the_cloud_is(self):
        self.assertEqual('http://127.0.0.1:1/identity/v3', self.conf['identity']['uri_v3'])
        self.assertEqual('per%cent', self.conf['auth']['admin_password'])

    def test_what_it_has(self):
        compute = self.conf['compute']
        self.assertEqual(
            ['image-1', 'image-2', '42', '84'],
            [
                compute[name]
                for name in ('image_ref', 'image_ref_alt', 'flavor_ref', 'flavor_ref_alt')
            ],
        )
        network = self.conf['network-feature-enabled']
        self.assertEqual('router,security-group', network['api_extensions'])

    def test_what_it_can_do(self):
        can = self.conf['compute-feature-enabled']
        self.assertTrue(can.getboolean('live_migration'))
        self.assertFalse(can.getboolean('vnc_console'))
        self.assertIn('SameHostFilter', can['scheduler_enabled_filters'])
        self.assertIn('ComputeFilter', clouds.filters())
