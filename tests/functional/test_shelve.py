"""Shelving in a whole cloud: off the host into an image, and back on some host."""

import testtools

from tests.fixtures import cli as cli_fixture
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import moving


class ShelveTestCase(testtools.TestCase):
    options = None

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(cells=1, hosts=3, options=self.options))
        self.moving = moving.Moving(self.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def shelve(self, server, status='SHELVED_OFFLOADED'):
        self.moving.act(server, 'shelve')
        return self.cloud.wait(server, status)

    def images(self):
        return [image.name for image in self.cloud.admin.image.images() if 'shelved' in image.name]


class ShelveTest(ShelveTestCase):
    def test_with_the_client(self):
        server = self.moving.boot_full('mine')
        cli = self.useFixture(cli_fixture.Cli(self.cloud))
        cli.openstack('server', 'shelve', 'mine')
        shelved = self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(server)
        self.assertIsNone(shelved.compute_host)
        self.assertEqual(['mine-shelved'], self.images())
        self.assertEqual({}, self.moving.allocations(server.id))
        self.assertEqual([], self.cloud.guests().get(server.id, []))
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual('', port.binding_host_id or '')
        self.assertEqual([], self.cloud.findings())
        self.assertEqual(
            [
                ('compute_shelve_instance', 'Success'),
                ('compute_shelve_offload_instance', 'Success'),
            ],
            self.moving.events(server, 'shelve'),
        )
        cli.openstack('server', 'unshelve', 'mine')
        found = self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)
        self.assertEqual([found.compute_host], self.cloud.guests()[server.id])
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual(found.compute_host, port.binding_host_id)
        self.assertEqual([], self.images())
        self.assertEqual(
            [
                ('conductor_unshelve_instance', 'Success'),
                ('compute_unshelve_instance', 'Success'),
            ],
            self.moving.events(server, 'unshelve'),
        )

    def test_to_a_host_or_a_zone(self):
        server = self.cloud.boot()
        host = self.moving.other_hosts(server)[0]
        self.shelve(server)
        self.moving.act(server, 'unshelve', {'host': 'nowhere'}, status=400)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nowhere'}, status=400)
        self.moving.act(server, 'unshelve', {'host': host}, status=400, version='2.90')
        self.moving.act(server, 'unshelve', {'host': host})
        self.assertEqual(host, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.shelve(server)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nova'}, version='2.77')
        self.cloud.wait(server, 'ACTIVE')

    def test_who_may(self):
        server = self.moving.boot_as_member()
        self.moving.act(server, 'shelve', cloud='nova-lite-demo')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        wanted = {'host': 'cell1-host1'}
        self.moving.act(server, 'unshelve', wanted, status=403, cloud='nova-lite-demo')
        self.moving.act(server, 'unshelve', cloud='nova-lite-demo')
        self.cloud.wait(server, 'ACTIVE')

    def test_deleted_while_shelved(self):
        server = self.moving.boot_full()
        self.shelve(server)
        self.moving.wait_idle(server)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.assertEqual([], self.images())

    def test_no_host_is_left(self):
        server = self.cloud.boot()
        host = server.compute_host
        self.shelve(server)
        with self.moving.disabled(host):
            self.moving.act(server, 'unshelve', {'host': host})
            self.moving.wait_idle(server)
            self.assertEqual(
                'SHELVED_OFFLOADED', self.cloud.wait(server, 'SHELVED_OFFLOADED').status
            )
            self.assertEqual({}, self.moving.allocations(server.id))
        self.moving.act(server, 'unshelve', {'host': host})
        self.cloud.wait(server, 'ACTIVE')


class KeptTest(ShelveTestCase):
    """Shelved servers stay on their hosts."""

    options = {'compute': {'shelved_offload_time': -1}}

    def test_unshelved_where_it_is(self):
        server = self.cloud.boot()
        self.shelve(server, 'SHELVED')
        self.moving.act(server, 'shelve', status=409)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nova'}, status=409)
        self.moving.act(server, 'unshelve')
        self.assertEqual(server.compute_host, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.moving.wait_idle(server)
        self.assertEqual([], self.images())

    def test_offloaded_when_asked(self):
        server = self.cloud.boot()
        self.shelve(server, 'SHELVED')
        self.moving.act(server, 'shelveOffload')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')
