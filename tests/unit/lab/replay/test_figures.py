"""Figures of hosts, and percentiles of durations."""

import testtools

from nova_lite.lab.replay import figures
from nova_lite.lab.replay import latencies
from nova_lite.lab.replay import trace

CAPACITY = {'VCPU': 8, 'MEMORY_MB': 8192, 'DISK_GB': 100}
LARGE = trace.Size(4, 4096, 10)


def host(vcpus=0, memory_mb=0, servers=1):
    return figures.Host(CAPACITY, {'VCPU': vcpus, 'MEMORY_MB': memory_mb}, servers)


class FiguresTest(testtools.TestCase):
    def sample(self, *hosts):
        return figures.sample(5.0, hosts, LARGE, accepted=3, rejected=1)

    def test_fragments(self):
        """Two hosts with half of a large server each could hold one if it were in one place."""
        found = self.sample(host(6, 6144), host(6, 6144), host(0, 0, 0))
        self.assertEqual((2, 3), (found.fit, found.fit_whole))
        self.assertAlmostEqual(1 / 3, found.stranded)
        self.assertEqual((1, 2, 0.75), (found.empty_hosts, found.servers, found.acceptance))
        self.assertEqual((0.5, 0.5), (found.vcpus, found.memory))

    def test_balance(self):
        equal, unequal = self.sample(host(4), host(4)), self.sample(host(8), host(0))
        self.assertEqual((1.0, 0.0), (equal.jain, equal.variation))
        self.assertEqual((0.5, 1.0), (unequal.jain, unequal.variation))

    def test_nothing_allocated(self):
        found = self.sample(host(0, 0, 0), figures.Host({}, {}, 0))
        self.assertEqual((1.0, 0.0, 0.0, 2), (found.jain, found.variation, found.vcpus, found.fit))

    def test_no_host(self):
        """The only host was lost."""
        found = self.sample()
        self.assertEqual(
            (1.0, 0.0, 0.0, 0.0), (found.jain, found.variation, found.vcpus, found.memory)
        )
        self.assertEqual((0, 0, 0), (found.empty_hosts, found.fit, found.fit_whole))

    def test_more_in_use_than_there_is(self):
        """After an allocation ratio was lowered."""
        self.assertEqual(0, figures.fit(host(9, 0).free, LARGE))

    def test_no_disk(self):
        self.assertEqual(2, figures.fit((8, 8192, 0), trace.Size(4, 4096, 0)))


class LatenciesTest(testtools.TestCase):
    def test_percentiles(self):
        found = latencies.Latencies()
        self.assertEqual(0.0, found.percentile(0.5))
        for number in range(1, 101):
            found.add(number / 1000)
        self.assertAlmostEqual(0.050, found.percentile(0.5), delta=0.003)
        self.assertAlmostEqual(0.099, found.percentile(0.99), delta=0.005)
        self.assertAlmostEqual(5.05, found.total_s)
        other = latencies.Latencies()
        other.restore(found.stored())
        self.assertEqual((found.classes, found.total_s), (other.classes, other.total_s))
