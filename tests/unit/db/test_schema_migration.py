"""Tables made by the revisions equal those of the models."""

import hashlib
import os

from alembic import util
import fixtures
import sqlalchemy as sa
import testscenarios
import testtools

from nova_lite import exception
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.cell import models
from tests.fixtures import database
from tests.fixtures import schemas

# The digests of the revisions.
REVISIONS = {
    'api/v0001_initial.py': 'f8cc54acad4420a391dee35f1ed9bd6b0668043e2b1d141902f20111827d9309',
    'api/v0002_port_changes.py': '9092a23a36fcc01740cb1e0b6a26c24c3610e89c9bf45c086f208fbdb6525cec',
    'cell/v0001_initial.py': '3d60618fad6145e60656ff873eb2e64c6d1438616c1edc4c4d9779877b877941',
    'cell/v0002_shares.py': 'a4cc44eedf98d66a0289901f9a75e9bc8b83e40bc3211f7bbb83b9dfae0f507c',
    'cell/v0003_index_of_services.py': (
        '299a547b0e86cfc522c64494a2e0a8b726882f55ce0a36628a313105eabce850'
    ),
    'cell/v0004_numa_of_nodes.py': (
        'e4c330cbef151b2aa4951ec7c3ac8980afcb5044cd5fab958262be7f53aad18a'
    ),
    'cell/v0006_usage_audits.py': (
        '78b442ae2adb96e114331f06721abdd620d1862e53d0d5fa9eb26305dbf166e8'
    ),
    'cell/v0005_usage_of_volumes.py': (
        '8e95f39c258a302381834752bda6ead836a15bea4fe411ebc1cd4c6134cbc154'
    ),
}


class MigrateTest(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(which, {'which': which}) for which in schema_migration.METADATA]  # noqa: RUF012

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.url = f'sqlite:///{os.path.join(directory, "test.sqlite")}'

    def test_revisions_make_what_the_models_say(self):
        self.assertIsNone(schema_migration.version(self.url, self.which))
        schema_migration.upgrade(self.url, self.which)
        self.assertEqual([], schemas.differences(self.url, self.which))
        self.assertEqual(
            schema_migration.newest(self.which), schema_migration.version(self.url, self.which)
        )

    def test_twice_is_as_good_as_once(self):
        for _time in range(2):
            schema_migration.upgrade(self.url, self.which)
        self.assertEqual([], schemas.differences(self.url, self.which))

    def test_a_difference_is_found(self):
        schema_migration.upgrade(self.url, self.which)
        found = transactions.Database(self.url)
        self.addCleanup(found.dispose)
        found.write(lambda connection: connection.exec_driver_sql('CREATE TABLE stray (a INT)'))
        self.assertEqual(
            ['remove_table'],
            [each[0] for each in schemas.differences(self.url, self.which)],
        )

    def test_unknown_revision(self):
        self.assertRaises(
            util.CommandError, schema_migration.upgrade, self.url, self.which, 'unheard-of'
        )

    def test_the_schema_of_a_newer_release(self):
        schema_migration.upgrade(self.url, self.which)
        found = transactions.Database(self.url)
        self.addCleanup(found.dispose)
        newer = "UPDATE alembic_version SET version_num = 'v9999'"
        found.write(lambda connection: connection.exec_driver_sql(newer))
        error = self.assertRaises(exception.Invalid, schema_migration.upgrade, self.url, self.which)
        self.assertIn('is v9999, which this release does not know', str(error))

    def test_tables_made_before_there_were_revisions_are_kept(self):
        kind = database.ApiDatabase if self.which == 'api' else database.CellDatabase
        made = self.useFixture(kind())
        schema_migration.upgrade(made.url, self.which)
        self.assertEqual(
            schema_migration.newest(self.which), schema_migration.version(made.url, self.which)
        )


class SharesTest(testtools.TestCase):
    """Revision 0001 of cells once had the table of shares, and before that it had none."""

    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).join('cell.sqlite')
        self.url = f'sqlite:///{path}'
        schema_migration.upgrade(self.url, 'cell', '0001')

    def test_a_database_without_it(self):
        found = schemas.differences(self.url, 'cell')
        tables = [each[1].name for each in found if each[0] == 'add_table']
        self.assertEqual(['share_mapping', 'task_log'], tables)
        schema_migration.upgrade(self.url, 'cell')
        self.assertEqual([], schemas.differences(self.url, 'cell'))

    def test_a_database_with_it(self):
        found = transactions.Database(self.url)
        self.addCleanup(found.dispose)
        found.write(models.ShareMapping.__table__.create)
        schema_migration.upgrade(self.url, 'cell')
        self.assertEqual([], schemas.differences(self.url, 'cell'))


class StaysTest(testtools.TestCase):
    def test_revisions_stay_as_they_are(self):
        """A database that was made by one does not get what is added to it later."""
        found = {
            f'{which}/{path.name}': hashlib.sha256(path.read_bytes()).hexdigest()
            for which in schema_migration.METADATA
            for path in (schema_migration.SCHEMA / which).glob('v*.py')
        }
        self.assertEqual(REVISIONS, found)


class UnreachableTest(testtools.TestCase):
    def test_says_so(self):
        url = sa.make_url('mysql+pymysql://nobody:x@127.0.0.1:1/none')
        self.assertRaises(
            exception.Unavailable, schema_migration.version, url.render_as_string(False), 'api'
        )
