"""URLs of a cloud's databases and buses, and its secrets."""

import contextlib
import os
import sqlite3
import stat

import fixtures
import testtools

from nova_lite import exception
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import state_dir


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

    def test_hosts_of_each_cell(self):
        settings = layout.Settings(state_dir='/x', cells=2, hosts=[1, 2])
        places = layout.Layout(settings)
        self.assertEqual(
            [['cell1-host1'], ['cell2-host1', 'cell2-host2']],
            [places.hosts(name) for name in places.cell_names],
        )
        self.assertEqual(2, layout.Settings(state_dir='/x', cells=2, hosts=(2, 2)).hosts)
        self.assertRaises(ValueError, layout.Settings, state_dir='/x', cells=3, hosts=(1, 2))

    def test_named_hosts(self):
        directory = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(directory, 'profile.yaml')
        with open(path, 'w') as file:
            file.write('names: {cell2: [web-1, db.example.org]}')
        settings = layout.Settings(state_dir=directory, cells=2, hosts=(1, 3), profile=path)
        places = layout.Layout(settings)
        self.assertEqual(
            [['cell1-host1'], ['web-1', 'db.example.org', 'cell2-host3']],
            [places.hosts(name) for name in places.cell_names],
        )
        preflight.check_profile(settings)
        few = layout.Settings(state_dir=directory, cells=2, hosts=1, profile=path)
        error = self.assertRaises(ValueError, preflight.check_profile, few)
        self.assertIn('names 2 hosts of cell2, and the cloud has 1 there', str(error))
        # The hosts of a cloud that runs stay as they are if its profile is changed.
        os.unlink(path)
        self.assertEqual(['web-1', 'db.example.org', 'cell2-host3'], places.hosts('cell2'))

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
        os.symlink('/dev/full', places.path(lock.LOCK))
        error = self.assertRaises(exception.Unavailable, places.hold)
        self.assertIn(f'The state directory {places.root} is not available', str(error))

    def test_spoiled_files(self):
        """The error names the file, what is wrong with it, and a way out."""
        secrets, database = layout.SECRETS, os.path.join('db', 'api.sqlite')
        not_json, not_sqlite = 'it is not JSON', 'it is not an SQLite database'
        for name, content, reason in (
            (secrets, b'', 'it is empty'),
            (secrets, b'{"admin_pass', not_json),
            (secrets, b'[' * 100_000, not_json),
            (secrets, b'[]', 'it is not a JSON object'),
            (secrets, b'{}', 'it has no text for admin_password'),
            (secrets, b'\xae\xff', 'it is not text'),
            (secrets, None, 'Is a directory'),
            (layout.METADATA_SECRET, b'\n', 'it is empty'),
            (layout.METADATA_SECRET, b'\xff', 'it is not text'),
            (database, b'hello', not_sqlite),
            (database, b'x' * 5000, not_sqlite),
            (database, self.sqlite()[:5000], 'it has 5000 of 8192 bytes'),
            (database, None, 'Is a directory'),
            (os.path.join('guests', 'cell1', 'guests.sqlite'), b'hello', not_sqlite),
        ):
            places = self.places()
            places.prepare()
            places.release()
            path = places.path(name)
            if content is None:
                if os.path.exists(path):
                    os.unlink(path)
                os.mkdir(path)
            else:
                with open(path, 'wb') as file:
                    file.write(content)
            again = layout.Layout(places.settings)
            self.addCleanup(again.release)
            error = self.assertRaises(kept_files.Spoiled, again.prepare)
            up = state_dir.command('up', places.root)
            self.assertEqual(
                f'The file {path} cannot be used: {reason}. Restore it, or delete the cloud and '
                f'start an empty one with `{up} --fresh`.',
                str(error),
            )

    def test_fresh_needs_no_whole_files(self):
        places = self.places()
        with open(places.path(layout.SECRETS), 'w') as file:
            file.write('{')
        places.prepare(fresh=True)
        self.addCleanup(places.release)
        self.assertEqual(3, len(places.secrets))

    def sqlite(self):
        """The content of a database with a table."""
        path = self.useFixture(fixtures.TempDir()).join('some.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute('CREATE TABLE t (n INT)')
        with open(path, 'rb') as file:
            return file.read()

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
