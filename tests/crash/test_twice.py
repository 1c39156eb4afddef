"""Every message of a cloud is delivered twice, to two threads at the same time.

So are the calls and casts of all daemons: nothing is done twice, and nothing fails.
"""

import fixtures
import testtools

from tests.crash import cases
from tests.crash import cloud as cloud_module
from tests.crash import hooks
from tests.crash import killing
from tests.crash import stage as stage_module
from tests.fixtures import mariadb
from tests.fixtures import rabbit
from tests.fixtures import servers

SERVERS = 4
END_S = 90


class TwiceTest(testtools.TestCase):
    NAMES = ('resize', 'revert', 'resize', 'confirm', 'resize', 'delete')

    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.useFixture(fixtures.EnvironmentVariable(hooks.TWICE, 'yes'))
        self.cloud = self.useFixture(cloud_module.of_table(cases.CROSS_CELL, mariadb.MariaDB()))
        self.stage = stage_module.Stage(self.cloud, cases.CROSS_CELL)

    def test_moves_between_cells(self):
        for name in self.NAMES:
            self._move(name, cases.TABLES[cases.CROSS_CELL][name])

    def _move(self, name, move):
        found = self.stage.bring(cases.Case(cases.CROSS_CELL, name, None, None, None), SERVERS)
        for server in found:
            self.stage.ask(name, server)
        self.cloud.wait_for(lambda: self._have_ended(found, move), f'{name} to end', END_S)
        self.assertEqual([], self.cloud.findings())
        guests = self.cloud.guests()
        running = move.done in killing.RUNNING
        self.assertEqual([running] * SERVERS, [len(guests.get(s.id, ())) == 1 for s in found])

    def _have_ended(self, found, move):
        seen = self.stage.seen()
        if move.done is None:
            return not [server for server in found if server.id in seen]
        return all(
            seen[server.id]['status'] == move.done and self.stage.idle(server) for server in found
        )
