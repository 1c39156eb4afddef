"""Live migration in a whole cloud: watched, aborted, forced to its end, refused."""

from nova_lite.compute import live_source
from nova_lite.moves import asking
from tests.fixtures import live_moving
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
DEST_CHECK = 'compute_check_can_live_migrate_destination'
SOURCE_CHECK = 'compute_check_can_live_migrate_source'
ROLLBACK = 'compute_rollback_live_migration_at_destination'


class LiveMigrationTestCase(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def assertUntouched(self, server):
        """The server runs where it was, and nothing is left of the move."""
        found = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual([server.compute_host], self.moving.running(server))
        migration = self.moving.migration(server)
        self.assertEqual({server.compute_host}, self.moving.hosts_held(server, migration))
        self.assertEqual({}, self.moving.allocations(migration['uuid']))

    def begin_endless(self):
        """A server whose copy goes on until someone ends it, and the migration."""
        server = self.cloud.boot()
        self.moving.behave(live_moving.ENDLESS)
        self.moving.go(server)
        return server, self.moving.watched(server, 'running')


@sample.in_turns(3)
class LiveMigrationTest(LiveMigrationTestCase):
    def test_ports_and_volumes_come_along(self):
        network = self.cloud.admin.network.find_network('private')
        volume = self.cloud.admin.block_storage.create_volume(size=1, name='data')
        self.cloud.admin.block_storage.wait_for_status(volume, 'available', interval=0.1)
        server = self.cloud.boot(
            networks=[{'uuid': network.id}],
            block_device_mapping_v2=[
                {
                    'boot_index': 0,
                    'source_type': 'image',
                    'destination_type': 'local',
                    'uuid': self.cloud.admin.image.find_image('cirros').id,
                },
                {
                    'source_type': 'volume',
                    'destination_type': 'volume',
                    'uuid': volume.id,
                    'boot_index': -1,
                },
            ],
        )
        self.moving.go(server)
        moved = self.cloud.wait(server, 'ACTIVE')
        self.assertNotEqual(server.compute_host, moved.compute_host)
        self.assertEqual([moved.compute_host], self.moving.running(server))
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual(moved.compute_host, port.binding_host_id)
        attached = self.cloud.admin.block_storage.get_volume(volume.id)
        self.assertEqual(1, len(attached.attachments))
        self.assertEqual(moved.compute_host, attached.attachments[0]['host_name'])

    def test_what_its_action_tells(self):
        server = self.cloud.boot()
        self.moving.go(server)
        moved = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(
            [
                ('conductor_live_migrate_instance', 'Success'),
                (DEST_CHECK, 'Success'),
                (SOURCE_CHECK, 'Success'),
                ('compute_live_migration', 'Success'),
                ('compute_pre_live_migration', 'Success'),
                ('compute_post_live_migration_at_destination', 'Success'),
            ],
            self.moving.events(server, 'live-migration'),
        )
        migration = self.moving.migration(server)
        self.assertEqual(
            ('live-migration', 'completed', server.compute_host, moved.compute_host),
            (
                migration['migration_type'],
                migration['status'],
                migration['source_compute'],
                migration['dest_compute'],
            ),
        )
        self.assertEqual({}, self.moving.allocations(migration['uuid']))

    def test_a_paused_server_stays_paused(self):
        server = self.cloud.boot()
        self.cloud.admin.compute.pause_server(server)
        self.cloud.wait(server, 'PAUSED')
        self.moving.go(server)
        moved = self.cloud.wait(server, 'PAUSED')
        self.assertNotEqual(server.compute_host, moved.compute_host)

    def test_counters_move(self):
        server, _migration = self.begin_endless()

        def counted():
            now = self.moving.watched(server, 'running')
            return None if now['memory_total_bytes'] is None else now

        # Null until the source has told of them for the first time.
        first = self.cloud.wait_for(counted, 'counters')
        self.assertEqual(512 * 2**20, first['memory_total_bytes'])

        def moved():
            now = self.moving.watched(server, 'running')
            return now if now['memory_processed_bytes'] > first['memory_processed_bytes'] else None

        later = self.cloud.wait_for(moved, 'the counters to move')
        path = f'/servers/{server.id}/migrations/{later["id"]}'
        shown = self.cloud.api('GET', path, version='2.23').json()['migration']
        self.assertEqual(server.id, shown['server_uuid'])
        self.assertNotIn('uuid', shown)
        self.assertEqual(202, self.moving.abort(server, later))
        self.moving.ended(server)
        self.assertEqual(404, self.cloud.api('GET', path, version='2.23').status_code)
        self.assertUntouched(server)

    def test_one_leaves_a_host_at_a_time(self):
        self.moving.behave(live_moving.ENDLESS)
        host = self.cloud.boot().compute_host
        servers = [
            self.cloud.boot(f'server-{number}', availability_zone=f'nova:{host}')
            for number in range(2)
        ]
        for server in servers:
            self.moving.go(server)

        def status(server):
            return self.moving.watched(server, 'running', 'queued')['status']

        self.cloud.wait_for(
            lambda: sorted(map(status, servers)) == ['queued', 'running'], 'one to go first'
        )
        for server in sorted(servers, key=status, reverse=True):
            migration = self.moving.watched(server, 'running')
            self.assertEqual(202, self.moving.force_complete(server, migration))
            self.assertEqual('completed', self.moving.ended(server)['status'])

    def test_who_waits_is_called(self):
        """It is called when a place frees, not at the next poll."""
        self.patch(live_source, 'TURN_S', 600.0)
        self.patch(live_source, 'LONGEST_TURN_S', 600.0)
        self.patch(asking, 'LONGEST_POLL_S', 600.0)
        first, migration = self.begin_endless()
        second = self.cloud.boot('second', availability_zone=f'nova:{first.compute_host}')
        for end in (self.moving.abort, self.moving.force_complete):
            self.moving.go(second)
            self.moving.waits_at(second, 'wait-for-turn')
            self.assertEqual(202, end(first, migration))
            migration = self.moving.watched(second, 'running')
            self.moving.ended(first)
            first, second = second, first
        self.assertEqual(202, self.moving.abort(first, migration))
        self.moving.ended(first)

    def test_forced_past_the_scheduler(self):
        server = self.cloud.boot()
        dest = self.moving.others(server.compute_host)[0]
        self.moving.change_service(dest, status='disabled')
        content = {'block_migration': 'auto', 'host': dest, 'force': True}
        self.moving.act(server, 'os-migrateLive', content, version='2.67')
        moved = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(dest, moved.compute_host)
        action = next(iter(self.cloud.admin.compute.server_actions(server)))
        self.assertEqual(('live-migration', True), (action.action, dest in action.message))


@sample.in_turns(3, first=1)
class EarlyEndTest(LiveMigrationTestCase):
    def test_abort_while_running(self):
        server, migration = self.begin_endless()
        self.assertEqual(202, self.moving.abort(server, migration, version='2.24'))
        ended = self.moving.ended(server)
        self.assertEqual(
            ('cancelled', migration['dest_compute']), (ended['status'], ended['dest_compute'])
        )
        self.assertUntouched(server)
        self.assertEqual(
            [('compute_live_migration_abort', 'Success')],
            self.moving.events(server, 'live_migration_cancel'),
        )
        self.assertIn((ROLLBACK, 'Success'), self.moving.events(server, 'live-migration'))
        self.assertEqual(409, self.moving.abort(server, migration))

    def test_asked_for_twice(self):
        """The first request is carried out; each action tells its own end."""
        for ask, delay, action in (
            (self.moving.abort, 'abort_live_migration', 'live_migration_cancel'),
            (
                self.moving.force_complete,
                'force_complete_live_migration',
                'live_migration_force_complete',
            ),
        ):
            server, migration = self.begin_endless()
            self.moving.behave(f'{live_moving.ENDLESS}    delays: {{{delay}: 2}}\n')
            self.assertEqual([202, 202], [ask(server, migration), ask(server, migration)])
            self.moving.ended(server)
            self.assertEqual(['Error', 'Success'], sorted(self.results(server, action)))

    def results(self, server, action):
        """Return how each action of that name ended; None for one that tells no end."""
        asked = [
            each.request_id
            for each in self.cloud.admin.compute.server_actions(server)
            if each.action == action
        ]
        shown = [self.cloud.admin.compute.get_server_action(each, server) for each in asked]
        return [each.events[0]['result'] if each.events else 'None' for each in shown]

    def test_abort_while_queued(self):
        server, migration = self.begin_endless()
        waiting = self.cloud.boot(availability_zone=f'nova:{server.compute_host}')
        self.moving.go(waiting)
        queued = self.moving.watched(waiting, 'queued')
        self.assertEqual(400, self.moving.abort(waiting, queued, version='2.64'))
        self.assertEqual(202, self.moving.abort(waiting, queued, version='2.65'))
        self.assertEqual('cancelled', self.moving.ended(waiting)['status'])
        self.assertUntouched(waiting)
        self.moving.abort(server, migration)
        self.moving.ended(server)

    def test_abort_while_preparing(self):
        server = self.cloud.boot()
        self.moving.behave(
            "extends: instant\nhosts: [{match: '*', delays: {pre_live_migration: 3}}]\n"
        )
        self.moving.go(server)
        migration = self.moving.watched(server, 'preparing')
        self.assertEqual(400, self.moving.abort(server, migration, version='2.64'))
        self.assertEqual(400, self.moving.force_complete(server, migration))
        self.assertEqual(202, self.moving.abort(server, migration))
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.assertUntouched(server)

    def test_force_complete_pauses_the_guest(self):
        server, migration = self.begin_endless()
        self.assertEqual(202, self.moving.force_complete(server, migration))
        self.assertEqual('completed', self.moving.ended(server)['status'])
        moved = self.cloud.wait(server, 'ACTIVE')
        self.assertNotEqual(server.compute_host, moved.compute_host)
        self.assertEqual(
            [('compute_live_migration_force_complete', 'Success')],
            self.moving.events(server, 'live_migration_force_complete'),
        )

    def test_post_copy_declines_an_abort(self):
        server = self.cloud.boot()
        self.moving.behave(live_moving.POST_COPY)
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        self.assertEqual(202, self.moving.force_complete(server, migration))
        dest = migration['dest_compute']
        self.cloud.wait_for(lambda: self.moving.running(server) == [dest], 'the guest to leave')
        self.assertEqual(202, self.moving.abort(server, migration))
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertEqual(dest, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.assertEqual(
            [('compute_live_migration_abort', 'Error')],
            self.moving.events(server, 'live_migration_cancel'),
        )

    def test_what_cannot_be_ended(self):
        server, migration = self.begin_endless()
        other = {'id': migration['id'] + 1000}
        self.assertEqual(404, self.moving.abort(server, other))
        self.assertEqual(400, self.moving.force_complete(server, other))
        self.moving.abort(server, migration)
        self.moving.ended(server)
        self.assertEqual(409, self.moving.force_complete(server, migration))
        self.assertEqual(409, self.moving.abort(server, other))

    def test_deleted_while_it_moves(self):
        server, _migration = self.begin_endless()
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.cloud.wait_for(lambda: not self.moving.running(server), 'the guest to be gone')


class RefusalTest(LiveMigrationTestCase):
    def test_no_host_is_left(self):
        server = self.cloud.boot()
        for host in self.moving.others(server.compute_host):
            self.moving.change_service(host, status='disabled')
        self.moving.go(server)
        self.assertEqual('error', self.moving.ended(server)['status'])
        self.assertUntouched(server)
        action = next(iter(self.cloud.admin.compute.server_actions(server)))
        self.assertEqual('Error', action.message)
        content = {'block_migration': True, 'disk_over_commit': False, 'host': None}
        answer = self.moving.act(server, 'os-migrateLive', content, version='2.1', status=400)
        self.assertIn('No valid host', answer.json()['badRequest']['message'])
        self.assertUntouched(server)

    def test_another_destination_after_a_failed_check(self):
        server = self.cloud.boot()
        bad, good = self.moving.others(server.compute_host)
        self.moving.behave(
            f'extends: instant\nhosts: [{{match: {bad}, hypervisor: {{version: 1}}}}]\n'
        )
        content = {'block_migration': 'auto', 'host': None}
        self.moving.act(server, 'os-migrateLive', content, version='2.34')
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertEqual(good, self.cloud.wait(server, 'ACTIVE').compute_host)

    def test_the_requested_host_fails_its_check(self):
        server = self.cloud.boot()
        bad = self.moving.others(server.compute_host)[0]
        self.moving.behave(
            f'extends: instant\nhosts: [{{match: {bad}, hypervisor: {{version: 1}}}}]\n'
        )
        for force, words in ((False, 'No valid host'), (True, 'pre-check')):
            answer = self.moving.act(
                server,
                'os-migrateLive',
                {'block_migration': 'auto', 'host': bad, 'force': force},
                version='2.33',
                status=400,
            )
            self.assertIn(words, answer.json()['badRequest']['message'])
            migration = self.moving.migration(server)
            self.assertEqual(('error', bad), (migration['status'], migration['dest_compute']))
            self.assertUntouched(server)

    def test_unknown_hosts_and_states(self):
        server = self.cloud.boot()
        self.moving.go(server, 'nowhere', status=400)
        self.moving.go(server, '', status=400)
        self.cloud.admin.compute.stop_server(server)
        self.cloud.wait(server, 'SHUTOFF')
        self.moving.go(server, status=409)
