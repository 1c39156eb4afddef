"""The example of a package with a filter and a weigher, installed and used by a cloud."""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import installed

PLAIN = ('ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter')


class ExamplePackageTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(installed.Installed('doc/examples/nova-lite-rack', 'nova_lite_rack'))
        chosen = {
            'enabled_filters': [*PLAIN, 'RackFilter'],
            'weight_classes': ['all', 'RackWeigher'],
        }
        options = {'filter_scheduler': chosen}
        made = cloud_fixture.Cloud(cells=1, hosts=3, options=options)
        self.cloud = self.useFixture(made)
        for number in (1, 2):
            self.add_to_rack(f'cell1-host{number}', f'r{number}')

    def add_to_rack(self, host, rack):
        compute = self.cloud.admin.compute
        aggregate = compute.create_aggregate(name=rack)
        compute.set_aggregate_metadata(aggregate, {'rack': rack})
        compute.add_host_to_aggregate(aggregate, host)

    def boot(self, status='ACTIVE', **hints):
        server = self.cloud.boot(scheduler_hints=hints, status=status)
        return self.cloud.admin.compute.get_server(server.id)

    def test_racks(self):
        for number in (1, 2, 2, 1):
            host = f'cell1-host{number}'
            self.assertEqual(host, self.boot(rack=f'r{number}').compute_host)
            self.assertEqual(host, self.boot(near_rack=f'r{number}').compute_host)
        refused = self.boot('ERROR', rack='r3')
        self.assertIn('RackFilter', str(refused.fault))
        self.boot(near_rack='r3')
        self.assertEqual([], self.cloud.findings())
