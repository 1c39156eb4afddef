"""Readings of databases by the live page."""

import fixtures
import testtools

from nova_lite import conf as conf_module
from nova_lite.lab.page import neighbour_names
from nova_lite.lab.page import reading
from tests.fixtures import database


class TestReader(testtools.TestCase):
    def test_databases_that_cannot_be_read(self):
        self.useFixture(fixtures.FakeLogger())
        conf = conf_module.make_conf([], files=[])
        url = self.useFixture(database.ApiDatabase()).url
        conf.set_override('connection', url, group='api_database')
        path = self.useFixture(fixtures.TempDir()).join('placement.sqlite')
        with open(path, 'w') as file:
            file.write('no database' * 1000)
        reader = reading.Reader(conf, f'sqlite:///{path}', f'sqlite:///{path}')
        self.addCleanup(reader.close)
        self.assertIsNone(reader.read().loads)
        self.assertEqual({}, reader.names({neighbour_names.PROJECTS: ['project']}))
