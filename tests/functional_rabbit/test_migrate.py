"""Revisions and models agree on MariaDB and PostgreSQL too, and the API's queries run there."""

import testscenarios
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import patterns
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import flavors
from nova_lite.db.api import stamps
from nova_lite.lab.launcher import first_flavors
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import schemas
from tests.fixtures import servers

SERVERS = {'mariadb': mariadb.MariaDB, 'postgresql': postgresql.PostgreSQL}


class MigrateTest(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(name, {'server': server}) for name, server in SERVERS.items()]  # noqa: RUF012

    def setUp(self):
        super().setUp()
        self.databases = servers.shared(self.server)

    def upgraded(self, which):
        url = self.databases.create_database(f'nova_{which}_{runtime.new_uuid()}')
        schema_migration.upgrade(url, which)
        return url

    def test_revisions_make_what_the_models_say(self):
        for which in schema_migration.METADATA:
            url = self.upgraded(which)
            self.assertEqual([], schemas.differences(url, which))
            self.assertEqual(schema_migration.newest(which), schema_migration.version(url, which))

    def test_queries_that_databases_differ_in(self):
        database = transactions.Database(self.upgraded('api'))
        self.addCleanup(database.dispose)
        database.write(first_flavors.create)
        self.assertRaises(
            exception.AlreadyExists,
            database.write,
            flavors.create,
            {'flavorid': '1', 'name': 'x', 'vcpus': 1, 'memory_mb': 1, 'root_gb': 1},
        )
        self.check_texts(database)
        self.check_pages(database)
        self.check_patterns(database)
        self.check_stamps(database)

    def check_texts(self, database):
        text = 'é 漢 \N{GRINNING FACE}'
        database.write(
            flavors.create,
            {'flavorid': text, 'name': text, 'vcpus': 1, 'memory_mb': 1, 'root_gb': 1},
        )
        self.assertEqual(text, database.read(flavors.get, text).name)
        database.write(flavors.destroy, text)

    def check_pages(self, database):
        database.write(flavors.describe, '1', 'text')
        whole = database.read(flavors.page, [], sort=('description', 'asc'))
        found, marker = [], None
        while page := database.read(
            flavors.page, [], sort=('description', 'asc'), limit=5, marker=marker
        ):
            found += page
            marker = page[-1].flavorid
        self.assertEqual(whole, found)
        self.assertEqual('1', whole[-1].flavorid)

    def check_patterns(self, database):
        found = database.read(flavors.page, [flavors.named('^m1\\.t')])
        self.assertEqual(['m1.tiny'], [row.name for row in found])
        with testtools.ExpectedException(patterns.BadPattern):
            database.read(flavors.page, [flavors.named('a{99999}')])

    def check_stamps(self, database):
        aggregate = database.write(
            aggregates.create, uuid='0' * 36, name='a', metadata={'availability_zone': 'z'}
        )
        database.write(aggregates.add_host, aggregate.id, 'h')
        self.assertEqual({'h': 'z'}, database.read(aggregates.zones))
        self.assertEqual(2, database.read(stamps.every)[stamps.AGGREGATES])
