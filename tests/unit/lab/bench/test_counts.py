"""Counts that a benchmark reads from the metrics of daemons."""

import prometheus_client
import testtools

from nova_lite import metrics
from nova_lite.lab.bench import counts


class CountsTest(testtools.TestCase):
    def of_this_process(self):
        return counts.counted(prometheus_client.generate_latest().decode())

    def test_what_is_counted(self):
        before = self.of_this_process()
        metrics.TRANSACTIONS.labels('counts', 'read').inc(3)
        metrics.TRANSACTIONS.labels('counts', 'write').inc(2)
        metrics.STATEMENTS.labels('counts').inc(7)
        metrics.REQUESTS.labels('placement', 'PUT').inc()
        metrics.RPC.labels('compute', 'start', 'client', 'ok').observe(1)
        metrics.RPC.labels('compute', 'start', 'server', 'ok').observe(1)
        metrics.API.labels('GET /servers', '200').observe(1)
        done = counts.between({'all': before}, {'all': self.of_this_process()})
        self.assertEqual(
            {
                'API requests': 1,
                'PUT requests to placement': 1,
                'RPCs': 1,
                'reading transactions of counts': 3,
                'statements of counts': 7,
                'writing transactions of counts': 2,
            },
            done['all'],
        )

    def test_a_daemon_that_did_nothing_and_one_that_is_new(self):
        before = {'api': {'RPCs': 4.0, 'API requests': 1.0}}
        after = {'api': {'RPCs': 6.0, 'API requests': 1.0}, 'scheduler': {'RPCs': 1.0}}
        done = counts.between(before, after)
        self.assertEqual({'api': {'RPCs': 2}, 'scheduler': {'RPCs': 1}}, done)
        self.assertEqual({'RPCs': 3}, counts.total(done))
