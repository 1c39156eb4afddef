"""Builds that MariaDB and PostgreSQL cannot store: they neither stay nor stop others."""

import testscenarios

from nova_lite.db import engine
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.conductor import test_build_sweep


class PoisonTest(testscenarios.WithScenarios, test_build_sweep.SweepBase):
    scenarios = [
        ('MariaDB', {'server_class': mariadb.MariaDB}),
        ('PostgreSQL', {'server_class': postgresql.PostgreSQL}),
    ]

    def setUp(self):
        servers.require(self.server_class)
        self.server = self.server_class()
        self.server.setUp()
        self.addCleanup(self.server.cleanUp)
        super().setUp()

    def database(self, name, models):
        found = engine.Database(self.server.create_database(name))
        models.Base.metadata.create_all(found.engine)
        self.addCleanup(found.dispose)
        return found

    def test_what_cannot_be_stored(self):
        self.assertHoldsUpNoOther(os_type=test_build_sweep.TOO_LONG)
        self.compute.built.clear()
        self.assertIsBuried(architecture=test_build_sweep.TOO_LONG, vcpus=1 << 40)
