"""The metrics of the guests of a host, as an exporter of libvirt names them."""

from prometheus_client import parser

from nova_lite.daemons.monitoring import libvirt
from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from tests.unit.daemons.monitoring import pages
from tests.unit.virt.sim import base


class LibvirtTests(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.driver = self.hosts()
        self.pages = pages.Pages(self.driver)

    def get(self, query):
        """Return (status, body) of a request."""
        return self.pages.get('/libvirt', query)

    def scraped(self, host='n1'):
        """Return {(name, device or CPU): value} of the guests of a host."""
        status, body = self.get(f'host={host}')
        self.assertEqual('200 OK', status)
        return {
            (sample.name, *(value for key, value in sample.labels.items() if key != 'domain')): (
                sample.value
            )
            for family in parser.text_string_to_metric_families(body.decode())
            for sample in family.samples
        }

    def test_a_guest(self):
        spec = base.guest_spec(vcpus=2, devices=(base.PORT, base.VOLUME))
        self.driver.spawn('n1', spec, key='k')
        self.clock.advance(100)
        found = self.scraped()
        self.assertEqual(1, found['libvirt_domains',])
        self.assertAlmostEqual(10, found['libvirt_domain_info_cpu_time_seconds_total',], 1)
        self.assertAlmostEqual(5, found['libvirt_domain_vcpu_time_seconds_total', '1'], 1)
        self.assertEqual(2**31, found['libvirt_domain_info_maximum_memory_bytes',])
        self.assertEqual(50, found['libvirt_domain_memory_stats_used_percent',])
        for disk in ('vda', 'vdb'):
            read = found['libvirt_domain_block_stats_read_bytes_total', disk]
            self.assertAlmostEqual(409_600, read, delta=10)
        received = found['libvirt_domain_interface_stats_receive_bytes_total', 'tapport-1']
        self.assertAlmostEqual(60_000, received, delta=10)
        self.assertEqual(1, found['libvirt_domain_info_state', 'the domain is running'])
        info = ('m1.small', base.GUEST, 'web-1')
        self.assertEqual(1, found['libvirt_domain_openstack_info', *info])
        self.assertEqual(
            {
                'libvirt_domains',
            },
            {key[0] for key in self.scraped('n2')},
        )
        self.driver.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o')
        self.assertEqual(5, self.scraped()['libvirt_domain_info_state', 'the domain is shut off'])

    def test_guests_that_have_left_are_not_counted(self):
        """A host does not run a guest that has departed, or has not arrived."""
        self.driver.spawn('n1', base.guest_spec(), key='k')
        self.driver.migrate_out('n1', base.GUEST, base.MOVE, key='m')
        self.assertEqual({('libvirt_domains',): 0}, self.scraped())

    def test_an_exporter_needs_the_power_of_its_host(self):
        """Prometheus sets `up` to 0, as if it did not reach an exporter."""
        self.driver.spawn('n1', base.guest_spec(), key='k')
        (path,) = self.paths
        hostpower.power_off(path, 'n1')
        status, body = self.get('host=n1')
        self.assertEqual('503 Service Unavailable', status)
        self.assertIn(b'n1 is powered off', body)
        self.assertEqual({('libvirt_domains',): 0}, self.scraped('n2'))
        hostpower.power_on(path, 'n1')
        self.assertEqual(1, self.scraped()['libvirt_domains',])

    def test_hosts_are_named(self):
        for query in ('', 'host=n3', 'host=n1&host=n2'):
            status, body = self.get(query)
            self.assertEqual('404 Not Found', status)
            self.assertIn(b'"n1",\n    "n2"', body)

    def test_letters_of_disks(self):
        names = [libvirt._letters(index) for index in (0, 25, 26, 51, 52, 701, 702)]
        self.assertEqual(['a', 'z', 'aa', 'az', 'ba', 'zz', 'aaa'], names)
