"""What the revisions make is what the models say."""

import os

from alembic import util
import fixtures
import sqlalchemy as sa
import testscenarios
import testtools

from nova_lite import exception
from nova_lite.db import engine
from nova_lite.db import migrate
from tests.fixtures import database


class MigrateTest(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(which, {'which': which}) for which in migrate.METADATA]  # noqa: RUF012

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.url = f'sqlite:///{os.path.join(directory, "test.sqlite")}'

    def test_revisions_make_what_the_models_say(self):
        self.assertIsNone(migrate.version(self.url, self.which))
        migrate.upgrade(self.url, self.which)
        self.assertEqual([], migrate.differences(self.url, self.which))
        self.assertEqual(migrate.newest(self.which), migrate.version(self.url, self.which))

    def test_twice_is_as_good_as_once(self):
        for _time in range(2):
            migrate.upgrade(self.url, self.which)
        self.assertEqual([], migrate.differences(self.url, self.which))

    def test_a_difference_is_found(self):
        migrate.upgrade(self.url, self.which)
        found = engine.Database(self.url)
        self.addCleanup(found.dispose)
        found.write(lambda connection: connection.exec_driver_sql('CREATE TABLE stray (a INT)'))
        self.assertEqual(
            ['remove_table'], [each[0] for each in migrate.differences(self.url, self.which)]
        )

    def test_unknown_revision(self):
        self.assertRaises(util.CommandError, migrate.upgrade, self.url, self.which, 'unheard-of')

    def test_tables_made_before_there_were_revisions_are_kept(self):
        kind = database.ApiDatabase if self.which == 'api' else database.CellDatabase
        made = self.useFixture(kind())
        migrate.upgrade(made.url, self.which)
        self.assertEqual(migrate.newest(self.which), migrate.version(made.url, self.which))


class UnreachableTest(testtools.TestCase):
    def test_says_so(self):
        url = sa.make_url('mysql+pymysql://nobody:x@127.0.0.1:1/none')
        self.assertRaises(
            exception.Unavailable, migrate.version, url.render_as_string(False), 'api'
        )
