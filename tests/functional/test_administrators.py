"""Deeds of administrators, over HTTP and by `nova-lite-manage`: nothing of them stays."""

import contextlib
import io

from nova_lite.cmd import manage
from tests.fixtures import moving
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
LISTED = '/servers?all_tenants=1&deleted=1'


class AdministratorsTest(own_cloud.OwnCloudTest):
    """At the end `verify` finds nothing. The server is on one of two hosts."""

    settings = {
        'cells': 1,
        'hosts': 2,
        'options': {'compute': {'resource_provider_association_refresh': 1}},
    }

    def setUp(self):
        super().setUp()
        self.placement = self.cloud.admin.placement
        self.server = self.cloud.boot()
        (self.other,) = self.moving.other_hosts(self.server)

    def manage(self, *args):
        """Return the exit code of a verb of `nova-lite-manage`."""
        with contextlib.redirect_stdout(io.StringIO()):
            return manage.main(['--state-dir', self.cloud.state_dir, *args])

    def delete_service(self, host):
        path = f'/os-services/{self.moving.service(host)["id"]}'
        return self.cloud.api('DELETE', path, version=moving.LATEST).status_code

    def providers(self):
        """Return {name: uuid} of the resource providers."""
        found = self.placement.get('/resource_providers').json()['resource_providers']
        return {each['name']: each['uuid'] for each in found}

    def report(self):
        self.moving.report()
        self.moving.manager.report_inventory()

    def check_usable(self, host):
        """Boot a server on a host that has registered again."""

        def is_registered():
            self.report()
            return host in self.providers()

        self.cloud.wait_for(is_registered, f'{host} to be registered')
        self.cloud.cloud.daemons['super-conductor'].manager.discover_hosts()
        self.cloud.boot('another', availability_zone=f'nova:{host}')

    def test_service_is_deleted(self):
        """It is kept while it has servers. Without them it goes until its process is restarted."""
        self.assertEqual(409, self.delete_service(self.server.compute_host))
        self.assertEqual(204, self.delete_service(self.other))
        for _time in range(2):
            self.report()
        self.assertNotIn(self.other, self.providers())
        self.moving.kill_compute()
        self.moving.start_compute()
        self.check_usable(self.other)

    def test_provider_is_deleted(self):
        """The host is registered again; what its servers hold is healed by a command."""
        host, held = self.server.compute_host, self.moving.allocations(self.server.id)
        provider = f'/resource_providers/{self.providers()[host]}'
        self.assertEqual(409, self.placement.delete(provider).status_code)
        for path in (f'/allocations/{self.server.id}', provider):
            self.assertEqual(204, self.placement.delete(path).status_code)
        self.check_usable(host)
        self.assertEqual({}, self.moving.allocations(self.server.id))
        for code in (0, 4):
            self.assertEqual(code, self.manage('placement', 'heal_allocations'))
        self.assertEqual(held, self.moving.allocations(self.server.id))

    def test_state_is_reset_and_the_server_archived(self):
        for state in ('error', 'active'):
            self.moving.act(self.server, 'os-resetState', {'state': state})
            self.cloud.wait_status(self.server, state.upper())
        self.cloud.admin.compute.delete_server(self.server)
        self.cloud.wait_gone(self.server)
        self.assertIn(self.server.id, self.listed())
        for code in (1, 0):
            self.assertEqual(code, self.manage('db', 'archive_deleted_rows', '--all-cells'))
        self.assertNotIn(self.server.id, self.listed())

    def listed(self):
        """Return the ids of the deleted servers that are not archived."""
        return [each['id'] for each in self.cloud.api('GET', LISTED).json()['servers']]
