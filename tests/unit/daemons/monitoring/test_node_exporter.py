"""The metrics of a host, as node_exporter names them."""

from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from tests.unit.daemons.monitoring import pages
from tests.unit.virt.sim import base

GIB = 2**30
PROFILE = """
extends: instant
hosts:
  - match: '*'
    capacity: {vcpus: 4, memory_mb: 8192}
guests:
  - match: {server: '*'}
    usage: {cpu: 0.5}
"""


class HostTests(base.SimTestCase):
    """A guest with two CPUs uses one of the four of a host."""

    def setUp(self):
        super().setUp()
        self.driver = self.hosts(PROFILE)
        self.pages = pages.Pages(self.driver)

    def scraped(self, host='n1'):
        """Return {name or (name, CPU, mode): value}."""
        return {
            (each.name, *each.labels.values()) if each.labels else each.name: each.value
            for each in self.pages.samples('/node', host)
        }

    def used(self, host='n1'):
        """Return (busy, idle) seconds of one CPU; all are equal."""
        found = self.scraped(host)
        modes = {
            (found['node_cpu_seconds_total', str(cpu), 'user'],
             found['node_cpu_seconds_total', str(cpu), 'idle'])
            for cpu in range(4)
        }  # fmt: skip
        (only,) = modes
        return only

    def test_memory(self):
        self.driver.spawn('n1', base.guest_spec(), key='k')
        found = self.scraped()
        self.assertEqual(8 * GIB, found['node_memory_MemTotal_bytes'])
        self.assertEqual(7 * GIB, found['node_memory_MemAvailable_bytes'])
        booted = self.driver.get_facts('n1').booted_at
        self.assertEqual(booted, found['node_boot_time_seconds'])

    def test_cpu_time(self):
        self.driver.spawn('n1', base.guest_spec(vcpus=2), key='k')
        self.assertEqual((0, 0), self.used())
        self.clock.advance(100)
        busy, idle = self.used()
        self.assertAlmostEqual(25, busy)
        self.assertAlmostEqual(75, idle)
        self.assertEqual((0, 100), self.used('n2'))

    def test_cpu_time_is_that_of_the_metrics_that_the_host_reports(self):
        self.driver.spawn('n1', base.guest_spec(vcpus=2), key='k')
        self.clock.advance(100)
        reported = self.driver.get_host_cpu_stats('n1')
        self.clock.advance(50)
        self.assertEqual(4 * self.used()[0], 1.5 * reported.user_ns / 10**9)

    def test_counters_do_not_decrease_when_a_guest_leaves(self):
        self.driver.spawn('n1', base.guest_spec(vcpus=2), key='k')
        self.used()
        self.clock.advance(100)
        self.used()
        self.driver.destroy('n1', base.GUEST, key='d')
        self.clock.advance(100)
        busy, idle = self.used()
        self.assertAlmostEqual(25, busy)
        self.assertAlmostEqual(175, idle)

    def test_a_restart_of_a_guest_counts(self):
        self.driver.spawn('n1', base.guest_spec(vcpus=2), key='k')
        self.used()
        self.clock.advance(100)
        self.used()
        self.driver.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o')
        self.driver.change_power('n1', base.GUEST, model.PowerAction.ON, key='n')
        self.clock.advance(40)
        self.assertAlmostEqual(35, self.used()[0])

    def test_a_restart_of_the_host_begins_again(self):
        self.used()
        self.clock.advance(100)
        self.assertEqual(100, self.used()[1])
        (path,) = self.paths
        hostpower.power_off(path, 'n1')
        self.assertEqual('503 Service Unavailable', self.pages.get('/node', 'host=n1')[0])
        self.clock.advance(1)
        hostpower.power_on(path, 'n1')
        self.assertEqual((0, 0), self.used())
