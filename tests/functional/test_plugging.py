"""Ports that hosts plug late, never or not at all: builds and moves wait for them."""

import os

from nova_lite.db.cell import instances
from tests import fixtures as fixtures_package
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

PROFILE = os.path.join(os.path.dirname(fixtures_package.__file__), 'slow_ports.yaml')
TIMEOUT_S = 4
PREPARE = 'compute_pre_live_migration'


def settings(**options):
    options = {'vif_plugging_timeout': TIMEOUT_S, **options}
    return {
        'cells': 2,
        'hosts': 4,
        'profile': PROFILE,
        'options': {'DEFAULT': options, 'compute': {'stray_grace': 0}},
    }


class PluggingTestCase(own_cloud.OwnCloudTest):
    settings = settings()

    def boot(self, host, *, network='private', **options):
        return self.moving.cloud.boot(
            networks=[{'uuid': self.cloud.network_id(network)}],
            availability_zone=f'nova:cell1-{host}',
            **options,
        )

    def port_state(self, server):
        (found,) = self.cloud.api('GET', f'/servers/{server.id}/os-interface').json()[
            'interfaceAttachments'
        ]
        return found['port_state']

    def fault(self, server):
        return self.cloud.admin.compute.get_server(server.id).fault

    def error(self, server):
        """Why the newest saga of a server was undone."""
        return self.moving.saga(server).error['message']

    def assertStayed(self, server):
        """The server runs where it was."""
        self.moving.wait_idle(server)
        found = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual([server.compute_host], self.cloud.guests()[server.id])


@sample.in_turns(3)
class BuildsTest(PluggingTestCase):
    def test_waits_until_the_port_is_plugged(self):
        server = self.boot('host1')
        self.assertEqual('ACTIVE', self.port_state(server))
        row = self.cloud_row(server)
        self.assertEqual([True], [vif['active'] for vif in row.network_info])

    def cloud_row(self, server):
        cell = self.moving.world.cells.of_host('cell1-host1')
        return cell.db.read(instances.get, server.id)

    def test_fails_when_the_port_is_never_plugged(self):
        server = self.boot('host3', status='ERROR')
        self.assertFailed(server)

    def test_fails_when_the_port_cannot_be_plugged(self):
        server = self.boot('host4', status='ERROR')
        self.assertFailed(server)

    def assertFailed(self, server):
        fault = self.fault(server)
        self.assertEqual(
            f'Build of instance {server.id} aborted: Failed to allocate the network(s), not'
            ' rescheduling.',
            fault['message'],
        )
        self.assertIn('Virtual Interface creation failed', fault['details'])
        self.assertNotIn(server.id, self.cloud.guests())
        self.assertEqual([], list(self.cloud.admin.network.ports(device_id=server.id)))

    def test_is_deleted_meanwhile(self):
        server = self.boot('host3', wait=False)
        self.cloud.wait_for(
            lambda: list(self.cloud.admin.network.ports(device_id=server.id)), 'its port'
        )
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)

    def test_compute_restarts_meanwhile(self):
        server = self.boot('host1', wait=False)
        self.cloud.wait_for(
            lambda: list(self.cloud.admin.network.ports(device_id=server.id)), 'its port'
        )
        self.moving.kill_compute()
        self.moving.start_compute()
        self.cloud.wait(server)


@sample.in_turns(3, first=1)
class MovesTest(PluggingTestCase):
    def test_migrate_and_revert(self):
        server = self.boot('host1')
        for host in ('cell1-host2', 'cell2-host1'):
            self.moving.act(server, 'migrate', {'host': host})
            self.assertEqual(host, self.cloud.wait(server, 'VERIFY_RESIZE').compute_host)
            self.assertEqual('ACTIVE', self.port_state(server))
            self.moving.wait_idle(server)
            self.moving.act(server, 'revertResize')
            self.moving.wait_idle(server)
            self.assertEqual('cell1-host1', self.cloud.wait(server).compute_host)
            self.assertEqual('ACTIVE', self.port_state(server))

    def test_migration_fails(self):
        server = self.boot('host1')
        for host in ('cell1-host3', 'cell1-host4', 'cell2-host3', 'cell2-host4'):
            self.moving.act(server, 'migrate', {'host': host})
            self.assertStayed(server)
            self.assertEqual('error', self.moving.migration(server)['status'])
            self.assertIn('Virtual Interface creation failed', self.error(server))

    def test_guest_that_is_off_does_not_wait(self):
        server = self.boot('host1')
        self.moving.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.moving.act(server, 'migrate', {'host': 'cell1-host3'})
        self.cloud.wait(server, 'VERIFY_RESIZE')


@sample.in_turns(3, first=2)
class LiveMigrationsTest(PluggingTestCase):
    def test_waits(self):
        server = self.boot('host1', network='shared')
        self.moving.go(server, 'cell1-host2')
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertEqual(['cell1-host2'], self.cloud.guests()[server.id])

    def test_fails(self):
        server = self.boot('host1', network='shared')
        for host in ('cell1-host3', 'cell1-host4'):
            self.moving.go(server, host)
            self.assertEqual('failed', self.moving.ended(server)['status'])
            self.assertStayed(server)
            self.assertIn('Virtual Interface creation failed', self.error(server))

    def test_others_are_plugged_later(self):
        """Ports that are plugged when the guest starts are not waited for."""
        server = self.boot('host1')
        self.moving.go(server, 'cell1-host3')
        self.assertEqual('completed', self.moving.ended(server)['status'])


class PatientTest(PluggingTestCase):
    """Waits that nothing but an event, an abort or a deletion ends in time."""

    settings = settings(vif_plugging_timeout=3600)

    def test_abort_of_a_live_migration(self):
        server = self.boot('host1', network='shared')
        self.moving.go(server, 'cell1-host3')
        self.moving.waits_at(server, 'prepare-destination')
        self.assertEqual(202, self.moving.abort(server, self.moving.migration(server)))
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.assertStayed(server)

    def test_event_of_an_operator(self):
        """An event that is reported by hand counts as well."""
        server = self.boot('host3', wait=False)
        self.report(server, self.port_of(server))
        self.cloud.wait(server)

    def port_of(self, server):
        (port,) = self.cloud.wait_for(
            lambda: list(self.cloud.admin.network.ports(device_id=server.id)), 'its port'
        )
        return port.id

    def report(self, server, port_id):
        event = {'name': 'network-vif-plugged', 'server_uuid': server.id, 'tag': port_id}
        answer = self.cloud.api('POST', '/os-server-external-events', json={'events': [event]})
        self.assertEqual(200, answer.status_code)


class NotFatalTest(PluggingTestCase):
    settings = settings(vif_plugging_is_fatal=False)

    def test_guest_starts_without_its_port(self):
        server = self.boot('host3')
        self.assertEqual('DOWN', self.port_state(server))
        for host in ('cell1-host4', 'cell2-host3'):
            self.moving.act(server, 'migrate', {'host': host})
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.moving.wait_idle(server)
            self.moving.act(server, 'revertResize')
            self.moving.wait_idle(server)
            self.cloud.wait(server)

    def test_live_migration(self):
        server = self.boot('host1', network='shared')
        self.moving.go(server, 'cell1-host3')
        self.assertEqual('completed', self.moving.ended(server)['status'])


class DisabledTest(PluggingTestCase):
    settings = settings(vif_plugging_timeout=0)

    def test_nothing_waits(self):
        server = self.boot('host3')
        self.moving.act(server, 'migrate', {'host': 'cell1-host4'})
        self.cloud.wait(server, 'VERIFY_RESIZE')
