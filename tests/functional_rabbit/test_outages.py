"""Brokers and databases that are away: daemons wait, say so, and go on by themselves."""

import testtools

from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

SAID_S = 60
BACK_S = 60
DATABASE_USERS = ('super-conductor.top', 'conductor.cell1', 'scheduler.top', 'api.top')


class TestOutages(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(process_cloud.ProcessCloud(mariadb.MariaDB()))

    def test_broker_away_at_start_and_later(self):
        broker = self.cloud.brokers['cell1']
        broker.stop()
        for name in ('conductor.cell1', 'compute.cell1'):
            self.cloud.signal(name)
            self._says(name, 'Connection refused', since=len(self.cloud.log(name)))
        broker.start()
        self._boot_everywhere('after the start')
        broker.stop()
        self._boot_in('cell2', 'meanwhile')
        broker.start()
        self._boot_everywhere('after the outage')
        self.cloud.wait_for(lambda: not self.cloud.orphan_queues(), 'no orphan queue', BACK_S)
        self.assertEqual([], self.cloud.findings())

    def test_database_away(self):
        self.cloud.database.stop()
        for name in (*DATABASE_USERS, 'placement.top'):
            self.cloud.signal(name)
        for name in DATABASE_USERS[:2]:
            self._says(name, 'waits: The database is not available')
        self.cloud.database.start()
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', BACK_S)
        self._boot_everywhere('after the outage')
        self.assertEqual([], self.cloud.findings())

    # ---- steps ----

    def _says(self, name, text, since=0):
        self.cloud.wait_for(
            lambda: text in self.cloud.log(name)[since:],
            f'{name} to say {text}',
            SAID_S,
        )

    def _boot_in(self, cell, name):
        self.cloud.boot(name, host=f'{cell}-host1')

    def _boot_everywhere(self, name):
        for cell in self.cloud.cloud.places.cell_names:
            self.cloud.wait_for(lambda cell=cell: self._is_up(cell), f'{cell} to be up', BACK_S)
            self._boot_in(cell, f'{name} {cell}')

    def _is_up(self, cell):
        return all(
            service.state == 'up'
            for service in self.cloud.admin.compute.services(binary='nova-compute')
            if service.host.startswith(cell)
        )
