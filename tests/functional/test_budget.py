"""What one boot may cost, in transactions, messages and requests: counts, not times.

The budget is that of the design: two writing transactions in the API database,
three in the cell's, a cast and a call above the cells, a cast and two calls
within the cell, one claim.
"""

import collections
import logging
import re

import fixtures
import sqlalchemy as sa
import testtools

from tests.fixtures import cloud

RPC_LOG = 'oslo_messaging._drivers.amqpdriver'
PLACEMENT_LOG = 'placement.requestlog'


class Counting(logging.Handler):
    """Counts log records by what `name` makes of each; None counts nothing."""

    def __init__(self, name):
        super().__init__(level=logging.DEBUG)
        self.counts = collections.Counter()
        self._name = name

    def emit(self, record):
        name = self._name(record)
        if name is not None:
            self.counts[name] += 1


def rpc_name(record):
    """METHOD of an RPC that is sent."""
    return record.args[0] if record.msg.startswith('Calling RPC method') else None


def placement_name(record):
    """'METHOD /first-part-of-the-path' of a request to placement."""
    found = re.search(r'"(\w+) /placement/(\w+).*status:', record.getMessage())
    return f'{found[1]} /{found[2]}' if found else None


class Log(fixtures.Fixture):
    """Count what a logger says."""

    def __init__(self, logger, name):
        super().__init__()
        self.logger = logging.getLogger(logger)
        self.handler = Counting(name)

    def _setUp(self):
        before = self.logger.level
        self.logger.addHandler(self.handler)
        self.logger.setLevel(logging.DEBUG)
        self.addCleanup(self.logger.setLevel, before)
        self.addCleanup(self.logger.removeHandler, self.handler)

    def take(self):
        """What was counted since the last time."""
        counts = dict(self.handler.counts)
        self.handler.counts.clear()
        return counts


class Writes(fixtures.Fixture):
    """Count committed transactions that may write, by database."""

    def _setUp(self):
        self.counts = collections.Counter()
        sa.event.listen(sa.Engine, 'commit', self._committed)
        self.addCleanup(sa.event.remove, sa.Engine, 'commit', self._committed)

    def _committed(self, connection):
        if connection.get_execution_options().get('nova_lite_writes'):
            name = connection.engine.url.database.rsplit('/', 1)[-1].partition('.')[0]
            self.counts[name] += 1

    def take(self):
        counts = dict(self.counts)
        self.counts.clear()
        return counts


class BootBudgetTest(testtools.TestCase):
    """A server without networks, on a cloud that has booted one before."""

    def setUp(self):
        super().setUp()
        # Nothing periodic may fall into the count.
        quiet = {'report_interval': 3600}
        self.cloud = self.useFixture(
            cloud.Cloud(
                cells=1,
                hosts=1,
                options={
                    'DEFAULT': quiet,
                    'conductor': {'sweep_interval_s': 3600},
                    'compute': {'audit_interval': 3600, 'resource_update_interval': 3600},
                },
            )
        )
        self.cloud.boot('warm-up')
        self.rpc = self.useFixture(Log(RPC_LOG, rpc_name))
        self.placement = self.useFixture(Log(PLACEMENT_LOG, placement_name))
        self.writes = self.useFixture(Writes())

    def take(self):
        return self.writes.take(), self.rpc.take(), self.placement.take()

    def test_boot(self):
        self.take()
        self.cloud.boot('measured')
        writes, rpc, placement = self.take()
        self.assertEqual(2, writes.pop('api'), 'accept; map and drop the build request')
        self.assertEqual(3, writes.pop('cell1'), 'records; spawning; finished')
        self.assertEqual({}, writes)
        self.assertEqual(
            {
                'build_servers': 1,
                'select_destinations': 1,
                'build_instance': 1,
                'build_started': 1,
                'build_finished': 1,
            },
            rpc,
        )
        self.assertEqual(1, placement.pop('PUT /allocations'))
        self.assertThat(
            placement.pop('GET /allocation_candidates', 0), testtools.matchers.LessThan(2)
        )
        self.assertEqual({}, placement)
