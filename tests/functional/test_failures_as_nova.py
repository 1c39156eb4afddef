"""Each row of the table of failures that nova leaves: how it ends in both modes.

At the end of each test nothing is found in the cloud but what the row explains.
"""

import testtools
import yaml

from nova_lite import runtime
from nova_lite.lab.launcher import repairs
from nova_lite.states import nova_failures
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

OPTIONS = {
    'conductor': {'failures': 'metadata'},
    'compute': {'stray_grace': 2},
    'quota': {'ram': -1, 'cores': -1},
}
AS_NOVA = {nova_failures.METADATA_KEY: 'nova'}


@sample.in_turns(3)
class FailuresAsNovaTest(moves_base.MovesTest):
    """Servers choose by their metadata how they fail.

    With two cells, the resizes of an administrator may go to another cell, and stay in theirs.
    """

    settings = {'cells': 2, 'hosts': 2, 'options': OPTIONS}

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cloud.behave, 'extends: instant\n')

    def row(self, name):
        """Return the row of the table."""
        return nova_failures.BY_NAME[name]

    def explained(self, server):
        """Return the lines of `verify` about a server that a failure explains."""
        return [each for each in self.cloud.explained() if server.id in ' '.join(each)]

    def guide(self, server):
        """Return the name of the repair of a server, and whether it is needed."""
        found = repairs.find(self.cloud.cloud.confs['control'], server.id)
        return found['repair'], found['needed']

    def end(self, name, server):
        """Wait for the end of its move; return the server, which must be as the row says."""
        self.stage.wait_idle(server)
        row = self.row(name)
        found = self.cloud.admin.compute.get_server(server.id)
        if row.vm_state:
            self.assertEqual('ERROR', found.status)
        if not row.keeps_task:
            self.assertIsNone(found.task_state)
        if row.has_fault and found.status == 'ERROR':
            self.assertIsNotNone(found.fault)
        if row.migration:
            self.assertEqual(row.migration, self.stage.migration(server)['status'])
        if row.vm_state or found.task_state:
            self.assertNotEqual([], self.explained(server))
            self.assertEqual((name, True), self.guide(server))
        self.assertEqual([], self.cloud.findings())
        return found

    def failing(self, verb, server):
        """Make an operation of hosts fail once for a server, by its name."""
        rule = {'verb': verb, 'when': 'during', 'first': 1, 'match': {'server': server.name}}
        self.cloud.behave(yaml.safe_dump({'extends': 'instant', 'failures': [rule]}))

    def boot(self, name=None, **options):
        """Return a server with a name of its own, so that it alone meets a failure."""
        return super().boot(name or runtime.new_uuid(), **options)

    def boot_full(self, **options):
        """Return such a server with a port and a volume."""
        return super().boot_full(name=runtime.new_uuid(), **options)

    def working(self):
        """Make all operations of hosts succeed."""
        self.cloud.behave('extends: instant\n')

    def resized(self, **options):
        """Return a server in VERIFY_RESIZE."""
        server = self.boot_full(**options)
        self.stage.resize(server, 'm1.small')
        return self.cloud.wait(server, 'VERIFY_RESIZE')

    def reboot(self, server):
        """Do as most rows say, and return the server."""
        self.working()
        self.stage.act(server, 'reboot', {'type': 'HARD'})
        found = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(('none', False), self.guide(server))
        return found

    # ---- resize ----

    def test_resize_on_destination(self):
        for metadata in ({}, AS_NOVA):
            server = self.boot_full(metadata=metadata)
            self.failing('finish_migration', server)
            self.stage.resize(server, 'm1.small')
            if not metadata:
                self.stage.wait_idle(server)
                self.assertEqual(server.compute_host, self.cloud.wait(server).compute_host)
                self.assertEqual([], self.explained(server))
        found = self.end('resize-on-destination', server)
        self.assertNotEqual(server.compute_host, found.compute_host)
        self.assertEqual('m1.tiny', found.flavor.name)
        migration = self.stage.migration(server)
        self.assertEqual({found.compute_host}, self.stage.hosts_held(server, migration))
        self.assertEqual(2048, self.stage.total(self.stage.allocations(server.id), 'MEMORY_MB'))
        rebooted = self.reboot(server)
        self.assertEqual(found.compute_host, rebooted.compute_host)

    def test_resize_on_source(self):
        for metadata in ({}, AS_NOVA):
            server = self.boot_full(metadata=metadata)
            self.failing('migrate_out', server)
            self.stage.resize(server, 'm1.small')
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        found = self.end('resize-on-source', server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual(512, self.stage.total(self.stage.allocations(server.id), 'MEMORY_MB'))
        self.reboot(server)

    def test_confirm_on_source(self):
        for metadata in ({}, AS_NOVA):
            server = self.resized(metadata=metadata)
            self.failing('confirm_migration', server)
            self.stage.act(server, 'confirmResize', status=204)
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        found = self.end('confirm-on-source', server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual({}, self.stage.allocations(self.stage.migration(server)['uuid']))
        self.cloud.admin.compute.reset_server_state(server, 'active')
        self.cloud.wait(server)

    def test_revert_on_destination(self):
        for metadata in ({}, AS_NOVA):
            server = self.resized(metadata=metadata)
            self.failing('destroy', server)
            self.stage.act(server, 'revertResize')
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        found = self.end('revert-on-destination', server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual(2, len(self.stage.hosts_held(server, self.stage.migration(server))))

    def test_revert_on_source(self):
        for metadata in ({}, AS_NOVA):
            server = self.resized(metadata=metadata)
            self.failing('revert_migration', server)
            self.stage.act(server, 'revertResize')
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        found = self.end('revert-on-source', server)
        self.assertNotEqual(server.compute_host, found.compute_host)
        self.reboot(server)

    # ---- moves to another cell ----

    def cross(self, verb, metadata):
        """Return a server that has begun to move to another cell, where an operation fails."""
        server = self.boot_full(metadata=metadata)
        cell = server.compute_host.partition('-')[0]
        away = next(host for host in self.stage.other_hosts(server) if not host.startswith(cell))
        self.failing(verb, server)
        self.stage.act(server, 'migrate', {'host': away})
        if not metadata:
            self.stage.wait_idle(server)
            self.cloud.wait(server)
        return server

    def test_cross_cell_snapshot(self):
        for metadata in ({}, AS_NOVA):
            server = self.cross('snapshot', metadata)
        found = self.end('cross-cell-snapshot', server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.recover_off(server)

    def test_cross_cell_guest(self):
        for metadata in ({}, AS_NOVA):
            server = self.cross('spawn', metadata)
        found = self.end('cross-cell-guest', server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual(512, self.stage.total(self.stage.allocations(server.id), 'MEMORY_MB'))
        self.assertEqual({}, self.stage.allocations(self.stage.migration(server)['uuid']))
        self.reboot(server)

    def recover_off(self, server):
        """Start a server whose guest stayed off, when an audit of its host has seen that."""
        self.working()
        self.cloud.wait(server, 'SHUTOFF')
        self.stage.act(server, 'os-start')
        self.cloud.wait(server)

    # ---- live migration and shelving ----

    def migrate_live(self, verb, metadata):
        """Return a server with a live migration in which an operation fails."""
        server = self.boot_full(metadata=metadata)
        self.failing(verb, server)
        self.stage.act(server, 'os-migrateLive', {'host': None, 'block_migration': 'auto'})
        self.stage.wait_idle(server)
        return server

    def recover_running(self, server):
        """Do as the row says: the guest runs."""
        self.working()
        self.cloud.admin.compute.reset_server_state(server, 'active')
        self.cloud.wait(server)
        self.stage.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')

    def test_live_migration_copy(self):
        self.cloud.wait(self.migrate_live('live_migrate', {}))
        server = self.migrate_live('live_migrate', AS_NOVA)
        found = self.end('live-migration-copy', server)
        self.assertEqual(server.compute_host, found.compute_host)
        migration = self.stage.migration(server)
        self.assertEqual(2, len(self.stage.hosts_held(server, migration)))
        self.recover_running(server)

    def test_live_migration_arrival(self):
        server = self.migrate_live('post_live_migration', AS_NOVA)
        found = self.end('live-migration-arrival', server)
        self.assertNotEqual(server.compute_host, found.compute_host)
        migration = self.stage.migration(server)
        self.assertEqual(2, len(self.stage.hosts_held(server, migration)))
        self.reboot(server)

    def test_live_migration_departure(self):
        """Without the mode the migration is completed."""
        for metadata in ({}, AS_NOVA):
            server = self.migrate_live('confirm_migration', metadata)
            if not metadata:
                self.assertEqual('completed', self.stage.migration(server)['status'])
                self.cloud.wait(server)
        found = self.end('live-migration-departure', server)
        self.assertNotEqual(server.compute_host, found.compute_host)
        self.recover_running(server)

    def test_failures_that_nova_undoes_too(self):
        """A destination that refuses, or cannot prepare, leaves the server as it was."""
        for verb, status in (('check_live_migration', 'error'), ('pre_live_migration', 'failed')):
            server = self.migrate_live(verb, AS_NOVA)
            self.assertEqual(server.compute_host, self.cloud.wait(server).compute_host)
            self.assertEqual(status, self.stage.migration(server)['status'])
            self.assertEqual([], self.explained(server))

    def test_shelve_on_host(self):
        for metadata in ({}, AS_NOVA):
            server = self.boot_full(metadata=metadata)
            self.failing('snapshot', server)
            self.stage.act(server, 'shelve')
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        self.end('shelve-on-host', server)
        self.recover_off(server)

    # ---- rebuild and evacuation ----

    def test_rebuild_on_host(self):
        for metadata in ({}, AS_NOVA):
            server = self.boot(metadata=metadata)
            self.failing('spawn', server)
            self.stage.act(server, 'rebuild', {'imageRef': self.stage.image()})
            if not metadata:
                self.stage.wait_idle(server)
                self.cloud.wait(server)
        self.end('rebuild-on-host', server)
        self.rebuild(server)

    def test_rebuild_on_lost_host(self):
        for metadata, task, shown in (({}, None, 'cirros'), (AS_NOVA, 'rebuilding', 'other')):
            server = self.boot(metadata=metadata)
            image = self.stage.image()
            with self.stage.forced_down(server.compute_host):
                self.stage.act(server, 'rebuild', {'imageRef': image})
                self.stage.wait_idle(server)
            found = self.cloud.wait(server, 'REBUILD' if task else 'ACTIVE', task=task)
            self.assertEqual(self.stage.image(shown), found.image.id)
            self.assertIsNone(found.fault)
        self.end('rebuild-on-lost-host', server)
        self.cloud.admin.compute.reset_server_state(server, 'active')
        self.rebuild(server)
        self.assertEqual([], self.explained(server))

    def rebuild(self, server):
        """Rebuild a server, which succeeds."""
        self.working()
        self.stage.act(server, 'rebuild', {'imageRef': self.stage.image()})
        self.stage.wait_idle(server)
        self.cloud.wait(server)

    def test_forced_evacuation_without_room(self):
        memory = self.stage.host_memory()
        huge = self.stage.flavor('huge', ram=memory * 3 // 4)
        for metadata, status in (({}, 'ERROR'), (AS_NOVA, 'ACTIVE')):
            options = {'flavor': huge.name, 'metadata': metadata}
            server, full = (
                self.boot(availability_zone=f'nova:cell1-host{number}', **options)
                for number in (1, 2)
            )
            with self.stage.forced_down(server.compute_host):
                body = {'host': full.compute_host, 'force': True}
                self.stage.act(server, 'evacuate', body, version='2.67', status=200)
                self.stage.wait_idle(server)
            self.cloud.wait(server, status)
            if not metadata:
                self.delete(server, full)
        found = self.end('forced-evacuation-without-room', server)
        self.assertEqual(server.compute_host, found.compute_host)

    # ---- others ----

    def test_password_on_host(self):
        for metadata, status in (({}, 202), (AS_NOVA, 409)):
            server = self.boot(metadata=metadata)
            self.failing('set_password', server)
            body = {'adminPass': 'open sesame'}
            answer = self.stage.act(server, 'changePassword', body, status=status)
            found = self.cloud.wait(server, 'ERROR')
            self.assertIsNotNone(found.fault)
            self.assertEqual(bool(metadata), 'Failed to set admin password' in answer.text)
            self.assertEqual(('error', True), self.guide(server))
            self.reboot(server)
            self.stage.act(server, 'changePassword', body)
            self.cloud.wait(server)

    def test_unshelve_without_image(self):
        for metadata in ({}, AS_NOVA):
            server = self.boot(metadata=metadata)
            self.stage.act(server, 'shelve')
            self.cloud.wait(server, 'SHELVED_OFFLOADED')
            image = self.cloud.admin.image.find_image(f'{server.name}-shelved')
            self.cloud.admin.image.delete_image(image)
            self.stage.act(server, 'unshelve')
            self.stage.wait_idle(server)
            if not metadata:
                self.cloud.wait(server, 'SHELVED_OFFLOADED')
                self.delete(server)
        found = self.end('unshelve-without-image', server)
        self.assertEqual('unshelving', found.task_state)
        self.assertIsNone(found.compute_host)

    def test_attach_volume_on_host(self):
        """The fault is shown when an administrator sets the server to ERROR."""
        storage = self.cloud.admin.block_storage
        for metadata in ({}, AS_NOVA):
            server = self.boot(metadata=metadata)
            volume = storage.create_volume(size=1)
            storage.wait_for_status(volume, 'available')
            self.failing('attach_volume', server)
            self.cloud.api(
                'POST',
                f'/servers/{server.id}/os-volume_attachments',
                json={'volumeAttachment': {'volumeId': volume.id}},
            )
            self.end('attach-volume-on-host', server)
            self.cloud.admin.compute.reset_server_state(server, 'error')
            found = self.cloud.wait(server, 'ERROR')
            self.assertEqual(bool(metadata), bool(found.fault))
            storage.delete_volume(volume)


class WholeTableTest(testtools.TestCase):
    def test_each_row_has_a_test(self):
        tests = {name for name in vars(FailuresAsNovaTest) if name.startswith('test_')}
        wanted = {f'test_{name.replace("-", "_")}' for name in nova_failures.BY_NAME}
        self.assertEqual(set(), wanted - tests)
