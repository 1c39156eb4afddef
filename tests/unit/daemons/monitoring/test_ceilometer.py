"""The metrics of the guests of a host, as the agent of Ceilometer names them."""

from nova_lite.virt import model
from tests.unit.daemons.monitoring import pages
from tests.unit.virt.sim import base


class CeilometerTests(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.driver = self.hosts()
        self.pages = pages.Pages(self.driver)

    def scraped(self, host='n1'):
        return {each.name: each for each in self.pages.samples('/ceilometer', host)}

    def test_a_guest(self):
        self.driver.spawn('n1', base.guest_spec(vcpus=2), key='k')
        self.clock.advance(100)
        found = self.scraped()
        self.assertEqual({'ceilometer_cpu', 'ceilometer_memory_usage'}, {*found})
        self.assertAlmostEqual(10e9, found['ceilometer_cpu'].value, delta=1e8)
        self.assertEqual(1024, found['ceilometer_memory_usage'].value)
        about = {
            'resource': base.GUEST,
            'resource_name': 'web-1:instance-00000001',
            'flavor_name': 'm1.small',
        }
        cpu = {'cpu': base.GUEST, 'counter': 'cpu', 'type': 'cpu', 'unit': 'ns'}
        self.assertEqual(cpu | about, found['ceilometer_cpu'].labels)
        memory = {'memory': base.GUEST, 'counter': 'memory.usage', 'type': 'usage', 'unit': 'MB'}
        self.assertEqual(memory | about, found['ceilometer_memory_usage'].labels)
        self.assertEqual({}, self.scraped('n2'))

    def test_a_guest_that_is_off(self):
        self.driver.spawn('n1', base.guest_spec(), key='k')
        self.driver.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o')
        self.assertEqual({}, self.scraped())
