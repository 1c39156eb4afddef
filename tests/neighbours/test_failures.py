"""Servers beside real services while hosts refuse or fail, or a service does not run.

The hosts behave as behaviour.yaml says, which knows servers by their names.
"""

import contextlib
import pathlib

from tests.fixtures import live_moving
from tests.fixtures import moving
from tests.neighbours import base

BEHAVIOUR = pathlib.Path(__file__).with_name('behaviour.yaml')


class Moving(live_moving.LiveMoving):
    """Of daemons in processes of their own, whose hosts report every two seconds."""

    def report(self):
        """Do nothing: the processes report by themselves."""


class FailureTest(base.CloudTest):
    profile = str(BEHAVIOUR)
    moving_class = Moving

    def booted(self, name=None, **options):
        """(a new server, its host)."""
        server = self.boot(name, **options)
        return server, self.looking.host(server)

    def act(self, server, action, content=None, **options):
        self.moving.act(server, action, content, **options)

    def ended(self, server, status, **options):
        """Wait for the end of a server's only move, which must have this status."""
        self.cloud.wait_for(lambda: self.moving.migrations(server), 'a migration')
        self.assertEqual(status, self.moving.ended(server, **options)['status'])

    def result(self, server, action):
        """'Error' if an event of an action has failed, None before."""
        found = dict(self.events(server, action))
        return 'Error' if 'Error' in found.values() else None

    # ---- builds ----

    def test_boot_that_is_refused(self):
        """Objects that Nova made are gone, those of the member are free."""
        volume = self.volume()
        port = self.demo.network.create_port(network_id=self.cloud.network_id())
        given = {'destination_type': 'volume', 'boot_index': -1}
        made = {'source_type': 'blank', **given, **moving.VOLUME}
        server = self.cloud.boot(
            'refused',
            connection=self.demo,
            networks=[{'port': port.id}, {'uuid': self.cloud.network_id()}],
            block_device_mapping=[
                {
                    'source_type': 'image',
                    'uuid': self.cloud.image_id(),
                    'destination_type': 'local',
                    'boot_index': 0,
                },
                {'source_type': 'volume', 'uuid': volume.id, **given},
                made,
            ],
            status='ERROR',
        )
        self.assertEqual([], self.looking.ports(server))
        self.assertEqual([], self.looking.attachments())
        self.until({volume.id: 'available'}, self.looking.statuses)
        kept = self.demo.network.get_port(port.id)
        self.assertEqual(
            ('', 'unbound'), (kept.device_id, self.admin.network.get_port(kept).binding_vif_type)
        )
        self.demo.network.delete_port(port)

    def test_boot_that_another_host_takes(self):
        server = self.boot('elsewhere')
        self.assertIn(
            ('compute__do_build_and_run_instance', 'Error'), self.moving.events(server, 'create')
        )
        self.reach(server, 'ACTIVE', self.looking.host(server))

    # ---- devices ----

    def test_volume_that_a_host_refuses(self):
        server, host = self.booted('closed')
        volume = self.volume()
        self.demo.compute.create_volume_attachment(server, volume_id=volume.id)
        self.until('available', lambda: self.looking.statuses()[volume.id])
        self.reach(server, 'ACTIVE', host)

    def test_volume_that_does_not_move(self):
        """The host does not take the new one, and Cinder gets a report of that."""
        server, host = self.booted('unmoved')
        ((volume_id, volume),) = self.looking.volumes().items()
        (target,) = base.BACKENDS - {volume.host}
        self.admin.block_storage.migrate_volume(volume, host=target)
        self.until(
            [(volume_id, 'in-use', 'error', volume.host)],
            lambda: [
                (each.id, each.status, each.migration_status, each.host)
                for each in self.looking.volumes().values()
            ],
        )
        self.reach(server, 'ACTIVE', host)

    def test_devices_that_a_host_keeps(self):
        server, host = self.booted('sticky')
        ((volume_id, _volume),) = self.looking.volumes().items()
        (port,) = self.looking.ports(server)
        self.demo.compute.delete_volume_attachment(server, volume_id)
        self.until('Error', self.result, server, 'detach_volume')
        self.reach(server, 'ACTIVE', host)
        self.demo.compute.delete_server_interface(port.id, server)
        self.until('Error', self.result, server, 'detach_interface')
        self.reach(server, 'ACTIVE', host)
        self.assertEqual([port.id], [each.id for each in self.looking.ports(server)])

    # ---- images ----

    def test_snapshot_that_fails(self):
        server, host = self.booted('unseen')
        self.demo.compute.create_server_image(server, 'snapshot')
        self.until({base.IMAGE}, lambda: set(self.looking.images()))
        self.reach(server, 'ACTIVE', host)
        self.assertEqual(
            'Error', dict(self.moving.events(server, 'createImage'))['compute_snapshot_instance']
        )

    def test_shelving_that_fails(self):
        server, host = self.booted('unseen')
        self.demo.compute.shelve_server(server)
        self.until({base.IMAGE}, lambda: set(self.looking.images()))
        self.reach(server, 'ACTIVE', host)

    def test_unshelving_that_fails(self):
        """The image stays, the port is unbound, and the volume reserved."""
        server, _host = self.booted('unshelved')
        self.demo.compute.shelve_server(server)
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.demo.compute.unshelve_server(server)
        self.until('Error', self.result, server, 'unshelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.assertEqual('active', self.looking.images()['unshelved-shelved'].status)
        self.until([('reserved', 'reserved', None)], self.looking.connected, server)
        (port,) = self.looking.ports(server)
        self.assertEqual('unbound', port.binding_vif_type)
        self.demo.compute.unshelve_server(server)
        self.cloud.wait(server)
        self.reach(server, 'ACTIVE', self.looking.host(server))

    # ---- moves ----

    def test_live_migration_that_fails(self):
        """While memory is copied, and before, at the destination."""
        for name in ('stranded', 'unwelcome'):
            server, host = self.booted(name)
            self.moving.go(server)
            self.ended(server, 'failed')
            self.reach(server, 'ACTIVE', host)

    def test_live_migration_that_is_aborted(self):
        server, host = self.booted('endless')
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        (port,) = self.looking.ports(server)
        self.assertEqual(
            {host: base.PLUGGED, self.near(host): ('INACTIVE', 'ovs')}, self.looking.bindings(port)
        )
        self.assertEqual(2, len(self.looking.attachments(server)))
        self.assertEqual(202, self.moving.abort(server, migration))
        self.ended(server, 'cancelled')
        self.reach(server, 'ACTIVE', host)

    def test_live_migration_that_is_forced(self):
        server, host = self.booted('endless')
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        self.assertEqual(202, self.moving.force_complete(server, migration))
        self.ended(server, 'completed')
        self.reach(server, 'ACTIVE', self.near(host))

    def test_resize_that_fails(self):
        server, host = self.booted('heavy')
        self.moving.resize(server, 'm1.small', cloud='demo')
        self.ended(server, 'error')
        self.reach(server, 'ACTIVE', host)

    def test_migration_to_another_cell_that_fails(self):
        server = self.moving.boot_full('distant', availability_zone='nova:cell1-host1')
        self.act(server, 'migrate', {'host': 'cell2-host1'})
        self.ended(server, 'error')
        self.reach(server, 'ACTIVE', 'cell1-host1')

    def test_rebuild_that_fails(self):
        """The server keeps its port and its volume, and another rebuild succeeds."""
        server, host = self.booted()
        wanted = {'imageRef': self.cloud.image_id(), 'metadata': {'rebuild': 'fails'}}
        self.act(server, 'rebuild', wanted, cloud='demo')
        self.reach(server, 'ERROR', host)
        self.act(server, 'rebuild', {**wanted, 'metadata': {}}, cloud='demo')
        self.reach(server, 'ACTIVE', host)

    # ---- evacuation ----

    @contextlib.contextmanager
    def failed(self, host):
        """A host has no power, and is known to be down."""
        self.moving.fail(host)
        try:
            yield
        finally:
            self.moving.come_back(host)

    def evacuate(self, server, status):
        self.act(server, 'evacuate', {}, status=200, version='2.94')
        self.ended(server, status)

    def test_evacuation(self):
        """Of a server with a disk of its own and of one on a volume; their host comes back."""
        server, host = self.booted()
        zone = {'availability_zone': f'nova:{host}', 'connection': self.admin}
        servers = [server, self.moving.boot_from_volume('root', **zone)]
        with self.failed(host):
            for each in servers:
                self.evacuate(each, 'done')
                self.reach(each, 'ACTIVE', self.near(host))
        self.until({each.id: [self.near(host)] for each in servers}, self.cloud.guests)
        for each in servers:
            self.reach(each, 'ACTIVE', self.near(host))

    def test_evacuation_that_fails(self):
        """The server can be evacuated again."""
        server, host = self.booted('evacuated')
        with self.failed(host):
            self.evacuate(server, 'failed')
            self.reach(server, 'ERROR', host)
            self.evacuate(server, 'done')
            self.reach(server, 'ACTIVE', self.near(host))

    # ---- services that do not run ----

    @contextlib.contextmanager
    def away(self, service):
        """A service is stopped."""
        service.stop()
        try:
            yield
        finally:
            service.start()

    def test_deletion_without_cinder_or_neutron(self):
        """It ends when the service answers again."""
        for service in (self.cloud.cinder, self.cloud.neutron):
            server = self.boot(service.name)
            with self.away(service):
                self.demo.compute.delete_server(server)
                self.until({}, self.cloud.guests)
                self.assertEqual('deleting', self.admin.compute.get_server(server.id).task_state)
            self.cloud.wait_gone(server)
            self.assertEqual([], self.looking.attachments(server))
            self.assertEqual([], self.looking.ports(server))

    def test_deletion_of_a_shelved_server_without_glance(self):
        """The response names Glance as unavailable; the deletion ends when Glance runs again."""
        server, _host = self.booted('shelved')
        self.demo.compute.shelve_server(server)
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        with self.away(self.cloud.glance):
            answer = self.cloud.api('DELETE', f'/servers/{server.id}', cloud='demo')
            self.assertEqual(503, answer.status_code, answer.text)
        self.cloud.wait_gone(server)
        self.assertEqual({base.IMAGE}, set(self.looking.images()))
