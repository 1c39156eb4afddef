"""URLs of a cloud's databases and buses, and its secrets."""

import os
import stat

import fixtures
import testtools

from nova_lite import exception
from nova_lite.launcher import daemon_config
from nova_lite.launcher import layout


class LayoutTest(testtools.TestCase):
    def places(self, **settings):
        directory = self.useFixture(fixtures.TempDir()).path
        return layout.Layout(layout.Settings(state_dir=directory, cells=1, hosts=1, **settings))

    def test_what_a_server_is_to_be_reached_with_stays(self):
        places = self.places(database='mysql+pymysql://nova:s%40t@db:3306?ssl_ca=/ca.pem')
        name = places.database_name('cell1')
        self.assertEqual(
            f'mysql+pymysql://nova:s%40t@db:3306/{name}?ssl_ca=/ca.pem',
            places.database_url('cell1').replace('%2F', '/'),
        )

    def test_a_bus_for_each(self):
        places = self.places(bus=('rabbit://nova@mq/{cell}?ssl=1&ssl_ca_file=/ca.pem',))
        self.assertEqual(
            'rabbit://nova@mq/cell1?ssl=1&ssl_ca_file=/ca.pem', places.bus_url('cell1')
        )

    def test_urls_of_ipv6(self):
        places = self.places(listen='::1', port=8774)
        self.assertEqual('http://[::1]:8774', places.public_url)
        self.assertEqual('http://[::1]:8774/', places.page_url)

    def test_urls_of_all_addresses(self):
        for listen, url in (('0.0.0.0', 'http://127.0.0.1:1'), ('::', 'http://[::1]:1')):
            places = self.places(listen=listen, port=1)
            self.assertEqual((url, True), (places.public_url, places.is_everywhere))
            self.assertIsNone(places.page_url)
        self.assertFalse(self.places(listen='192.0.2.1').is_everywhere)

    def test_a_full_disk(self):
        places = self.places()
        os.symlink('/dev/full', places.path(layout.LOCK))
        error = self.assertRaises(exception.Unavailable, places.hold)
        self.assertIn(f'The state directory {places.root} is not available', str(error))

    def test_the_secret_of_the_metadata_service_stays(self):
        places = self.places()
        places.prepare()
        secret, path = places.metadata_secret, places.metadata_secret_path
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        places.release()
        again = layout.Layout(places.settings)
        again.prepare()
        self.addCleanup(again.release)
        self.assertEqual(secret, again.metadata_secret)
        again.prepare(fresh=True)
        with open(path) as file:
            self.assertEqual(again.metadata_secret, file.read())

    def test_the_metadata_service_knows_the_databases_alone(self):
        places = self.places(bus=('rabbit://nova@mq/{cell}',))
        sections = daemon_config.metadata(places, 8775)
        self.assertEqual({'DEFAULT', 'api_database', 'metadata', 'neutron'}, set(sections))
        self.assertEqual({'state_path'}, set(sections['DEFAULT']))
        self.assertEqual(
            {'service_metadata_proxy', 'metadata_proxy_shared_secret'}, set(sections['neutron'])
        )
