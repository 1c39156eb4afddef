"""Builds that MariaDB and PostgreSQL cannot store: they neither stay nor stop others."""

import testscenarios

from tests.fixtures import database
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.superconductor import test_build_sweep


class PoisonTest(testscenarios.WithScenarios, test_build_sweep.SweepBase):
    scenarios = [
        ('MariaDB', {'server_class': mariadb.MariaDB}),
        ('PostgreSQL', {'server_class': postgresql.PostgreSQL}),
    ]

    def setUp(self):
        servers.require(self.server_class)
        on_server = database.OnServer(servers.shared(self.server_class))
        on_server.setUp()
        self.addCleanup(on_server.cleanUp)
        super().setUp()

    def test_what_cannot_be_stored(self):
        self.assertHoldsUpNoOther(os_type=test_build_sweep.TOO_LONG)
        self.compute.built.clear()
        self.assertIsBuried(architecture=test_build_sweep.TOO_LONG, vcpus=1 << 40)
