"""Audits of several hundred hosts in one process: each second, and of all of them."""

import testtools

from nova_lite import runtime
from nova_lite.virt import model
from tests.fixtures import cloud as cloud_fixture

HOSTS, STEP, SERVERS = 300, 30, 4
OPTIONS = {'compute': {'audit_interval': 1, 'stray_grace': 1}}


class ManyHostsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(cells=1, hosts=HOSTS, options=OPTIONS))
        self.site = self.cloud.cloud.daemons['compute-cell1'].manager.site
        self.hosts = sorted(self.site.nodes)

    def stranger(self, host):
        """Make a guest that no server owns; (host, its id)."""
        uuid = runtime.new_uuid()
        spec = model.GuestSpec(uuid, 'stranger', 'm1.tiny', vcpus=1, memory_mb=1, disk_gb=1)
        self.site.driver.spawn(host, spec, key=f'test/{uuid}')
        return host, uuid

    def power_off(self, server):
        self.site.driver.change_power(
            server.compute_host, server.id, model.PowerAction.OFF, key=f'test/{server.id}'
        )

    def test_what_differs_on_some_of_them(self):
        self.assertEqual(HOSTS, len(self.hosts))
        servers = [self.cloud.boot(f'server-{number}') for number in range(SERVERS)]
        strangers = [self.stranger(host) for host in self.hosts[::STEP]]
        self.power_off(servers[0])
        self.cloud.wait_for(
            lambda: (
                not any(
                    self.site.driver.list_guests(host)[:1]
                    for host, _uuid in strangers
                    if host not in {server.compute_host for server in servers}
                )
            ),
            'guests without an owner to be removed',
        )
        self.cloud.wait(servers[0], 'SHUTOFF')
        guests = self.cloud.guests()
        self.assertEqual({server.id for server in servers[1:]}, {*guests})
        self.assertEqual([], self.cloud.findings())
