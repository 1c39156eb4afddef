"""Resize and cold migrate in a whole cloud: what the user sees and what is left."""

import functools

from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

NO_QUOTA = {'quota': {'cores': -1, 'ram': -1}}

EVENTS = [
    ('conductor_migrate_server', 'Success'),
    ('cold_migrate', 'Success'),
    ('compute_prep_resize', 'Success'),
    ('compute_resize_instance', 'Success'),
    ('compute_finish_resize', 'Success'),
]


@sample.in_turns(3)
class ResizeTest(moves_base.MovesTest):
    settings = {'cells': 1, 'hosts': 3, 'options': NO_QUOTA}

    def resized(self, server, flavor='m1.small'):
        self.stage.resize(server, flavor)
        return self.cloud.wait(server, 'VERIFY_RESIZE')

    def test_confirm(self):
        server = self.boot_full()
        resized = self.resized(server)
        self.assertNotEqual(server.compute_host, resized.compute_host)
        self.assertEqual('m1.small', resized.flavor.name)
        migration = self.stage.migration(server)
        self.assertEqual('finished', migration['status'])
        self.assertEqual('resize', migration['migration_type'])
        self.assertEqual(server.compute_host, migration['source_compute'])
        self.assertEqual(resized.compute_host, migration['dest_compute'])
        held = self.stage.hosts_held(server, migration)
        self.assertEqual({server.compute_host, resized.compute_host}, held)
        self.assertEqual(
            512, self.stage.total(self.stage.allocations(migration['uuid']), 'MEMORY_MB')
        )
        self.assertEqual(2048, self.stage.total(self.stage.allocations(server.id), 'MEMORY_MB'))
        self.assertEqual([], self.cloud.findings())
        self.assertEqual(EVENTS, self.stage.events(server, 'resize'))
        self.stage.act(server, 'confirmResize', status=204)
        confirmed = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(resized.compute_host, confirmed.compute_host)
        self.assertEqual('confirmed', self.stage.migration(server)['status'])
        self.assertEqual({}, self.stage.allocations(migration['uuid']))
        self.assertEqual(
            [('compute_confirm_resize', 'Success')], self.stage.events(server, 'confirmResize')
        )

    def test_revert(self):
        server = self.boot_full()
        self.resized(server)
        answer = self.stage.act(server, 'revertResize')
        self.assertEqual(b'', answer.content)
        reverted = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(server.compute_host, reverted.compute_host)
        self.assertEqual('m1.tiny', reverted.flavor.name)
        self.assertEqual('reverted', self.stage.migration(server)['status'])
        self.assertEqual(512, self.stage.total(self.stage.allocations(server.id), 'MEMORY_MB'))
        self.assertEqual(
            [('compute_revert_resize', 'Success'), ('compute_finish_revert_resize', 'Success')],
            self.stage.events(server, 'revertResize'),
        )

    def test_stopped_server_stays_off(self):
        for end, status in (('confirmResize', 204), ('revertResize', 202)):
            server = self.boot()
            self.cloud.admin.compute.stop_server(server)
            self.cloud.wait(server, 'SHUTOFF')
            self.resized(server)
            self.stage.act(server, end, status=status)
            self.assertEqual(4, self.cloud.wait(server, 'SHUTOFF').power_state)

    def test_delete_while_unconfirmed(self):
        server = self.boot_full()
        self.resized(server)
        migration = self.stage.migration(server)
        self.delete(server)
        self.stage.wait_idle(server)
        self.assertEqual({}, self.stage.allocations(migration['uuid']))
        actions = self.cloud.admin.compute.server_actions(server.id)
        self.assertEqual(
            ['delete', 'confirmResize', 'resize', 'create'], [each.action for each in actions]
        )

    def test_soft_deletion_while_unconfirmed(self):
        """As in nova the resize is confirmed, and the server can be restored."""
        server = self.boot_full()
        resized = self.resized(server)
        migration = self.stage.migration(server)
        self.soft_delete(server)
        self.assertEqual('confirmed', self.stage.migration(server)['status'])
        self.assertEqual({}, self.stage.allocations(migration['uuid']))
        actions = self.cloud.admin.compute.server_actions(server.id)
        self.assertEqual(
            ['delete', 'confirmResize', 'resize', 'create'], [each.action for each in actions]
        )
        self.assertEqual([], self.cloud.findings())
        self.stage.act(server, 'restore')
        restored = self.cloud.wait(server)
        self.assertEqual(
            (resized.compute_host, 'm1.small'), (restored.compute_host, restored.flavor.name)
        )

    def test_the_deletion_while_unconfirmed_fails(self):
        """The resize is confirmed nevertheless, and nothing stays at its source."""
        server = self.boot_full()
        self.resized(server)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        self.cloud.behave('extends: instant\nfailures: [{verb: destroy, first: 1}]\n')
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait(server, 'ERROR')
        self.stage.wait_idle(server)
        self.assertEqual('confirmed', self.stage.migration(server)['status'])
        self.assertEqual([], self.cloud.findings())
        self.delete(server)

    def test_no_host_is_big_enough(self):
        flavor = self.stage.flavor('too-big', vcpus=4096)
        server = self.boot()
        answer = self.stage.resize(server, flavor.name)
        self.assertEqual(b'', answer.content)
        self.stage.wait_idle(server)
        after = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(server.compute_host, after.compute_host)
        self.assertIsNone(after.fault)
        self.assertEqual('error', self.stage.migration(server)['status'])
        action = self.stage.action(server, 'resize')
        self.assertEqual('Error', action.message)
        self.assertIn(('cold_migrate', 'Error'), self.stage.events(server, 'resize'))
        self.assertIn('No valid host', self.stage.details(server, 'resize', 'cold_migrate'))

    def test_named_host(self):
        server = self.boot()
        others = self.stage.other_hosts(server)
        self.stage.act(server, 'migrate', {'host': others[-1]})
        moved = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual(others[-1], moved.compute_host)
        self.assertEqual('migration', self.stage.migration(server)['migration_type'])
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')

    def test_named_host_is_not_remembered(self):
        server = self.boot()
        named = self.stage.other_hosts(server)[0]
        self.stage.act(server, 'migrate', {'host': named})
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')
        self.stage.act(server, 'migrate')
        moved = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertNotEqual(named, moved.compute_host)

    def test_named_host_is_checked(self):
        server = self.boot()
        named = self.stage.other_hosts(server)[0]
        with self.stage.disabled(named):
            self.stage.act(server, 'migrate', {'host': named})
            self.stage.wait_idle(server)
        after = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(server.compute_host, after.compute_host)
        self.assertEqual('error', self.stage.migration(server)['status'])

    def test_host_before_it_could_be_named(self):
        server = self.boot()
        self.stage.act(server, 'migrate', {'host': 'no-such-host'}, version='2.55')
        self.cloud.wait(server, 'VERIFY_RESIZE')

    def test_quota_follows_the_flavor(self):
        server = self.boot()
        before = self.stage.used_cores()
        small = self.stage.flavor('two-cores', vcpus=2)
        self.resized(server, small.name)
        self.stage.wait_idle(server)
        self.assertEqual(before + 1, self.stage.used_cores())
        self.stage.act(server, 'revertResize')
        self.cloud.wait(server, 'ACTIVE')
        self.stage.wait_idle(server)
        self.assertEqual(before, self.stage.used_cores())


class ChecksTest(moves_base.MovesTest):
    """Codes of wrong requests, in the order of reference/nova/moves 2.2."""

    def test_resize(self):
        server = self.boot()
        for flavor, status, text in (
            ('no-such-flavor', 400, 'could not be found'),
            (self.cloud.flavor_id('m1.tiny'), 400, 'must change flavor'),
            (self.stage.flavor('diskless', disk=0).id, 400, 'zero disk'),
        ):
            answer = self.stage.act(server, 'resize', {'flavorRef': flavor}, status=status)
            self.assertIn(text, answer.text)

    def test_quota(self):
        server = self.boot()
        flavor = self.stage.flavor('hundred-cores', vcpus=100)
        answer = self.stage.resize(server, flavor.name, status=403)
        self.assertIn('Quota exceeded for cores', answer.text)

    def test_quota_of_resizes_at_once(self):
        servers = [self.boot() for _ in range(3)]
        self.stage.flavor('four-cores', vcpus=4)
        flavor = self.cloud.flavor_id('four-cores')
        path = f'/os-quota-sets/{self.cloud.admin.current_project_id}'
        limit = self.stage.used_cores() + 3
        self.addCleanup(self.cloud.api, 'DELETE', path)
        self.cloud.api('PUT', path, json={'quota_set': {'cores': limit}})

        def resize(server):
            return self.stage.send(server, 'resize', {'flavorRef': flavor})

        codes = self.stage.together(*(functools.partial(resize, each) for each in servers))
        self.assertEqual([202, 403, 403], sorted(codes))
        self.assertEqual(limit, self.stage.used_cores())
        self.assertEqual([], self.cloud.findings())
        server = servers[codes.index(202)]
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.stage.wait_idle(server)
        self.stage.act(server, 'revertResize')
        self.cloud.wait(server, 'ACTIVE')
        self.stage.wait_idle(server)
        self.assertEqual(limit - 3, self.stage.used_cores())

    def test_migrate(self):
        server = self.boot()
        for host in ('no-such-host', server.compute_host):
            self.stage.act(server, 'migrate', {'host': host}, status=400)
        self.stage.act(server, 'migrate', {'host': ''}, status=400)
        self.stage.act(server, 'migrate', {'force': True}, status=400)

    def test_states(self):
        server = self.boot()
        self.stage.act(server, 'confirmResize', status=409)
        self.stage.act(server, 'revertResize', status=409)
        self.cloud.admin.compute.suspend_server(server)
        self.cloud.wait(server, 'SUSPENDED')
        self.stage.act(server, 'migrate', status=409)
        self.stage.resize(server, 'm1.small', status=409)

    def test_locked(self):
        server = self.stage.boot_as_member()
        self.cloud.admin.compute.lock_server(server)
        flavor = self.cloud.flavor_id('m1.small')
        for action, content in (('resize', {'flavorRef': flavor}), ('confirmResize', None)):
            self.stage.act(server, action, content, status=409, cloud='nova-lite-demo')

    def test_policies(self):
        server = self.stage.boot_as_member()
        self.stage.act(server, 'migrate', status=403, cloud='nova-lite-demo')

    def test_source_is_down(self):
        server = self.boot()
        with self.stage.forced_down(server.compute_host):
            self.stage.act(server, 'migrate', status=409)
            self.stage.resize(server, 'm1.small', status=409)
        self.stage.resize(server, 'm1.small')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        with self.stage.forced_down(server.compute_host):
            self.stage.act(server, 'confirmResize', status=409)
        self.assertEqual('finished', self.stage.migration(server)['status'])


class SameHostTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST

    def test_resize_stays(self):
        for end, status, flavor in (
            ('confirmResize', 204, 'm1.small'),
            ('revertResize', 202, 'm1.tiny'),
        ):
            server = self.boot_full()
            self.stage.resize(server, 'm1.small')
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual([], self.cloud.findings())
            self.stage.act(server, end, status=status)
            self.assertEqual(flavor, self.cloud.wait(server, 'ACTIVE').flavor.name)

    def test_migrate_has_nowhere_to_go(self):
        server = self.boot()
        self.stage.act(server, 'migrate')
        self.stage.wait_idle(server)
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual('error', self.stage.migration(server)['status'])


class AutomaticConfirmTest(moves_base.MovesTest):
    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {
            'DEFAULT': {'resize_confirm_window': 1},
            'conductor': {'sweep_interval_s': 0.2},
        },
    }

    def test_unconfirmed_resize_is_confirmed(self):
        server = self.boot()
        self.stage.resize(server, 'm1.small')
        self.cloud.wait(server, 'ACTIVE')
        self.cloud.wait_for(
            lambda: self.stage.migration(server)['status'] == 'confirmed', 'the confirmation'
        )
        self.assertEqual('m1.small', self.cloud.wait(server, 'ACTIVE').flavor.name)


class RaceTest(moves_base.MovesTest):
    settings = {'cells': 1, 'hosts': 3, 'options': NO_QUOTA}

    def test_two_moves_of_one_server(self):
        server = self.boot()
        codes = self.stage.together(
            lambda: self.stage.send(server, 'migrate'),
            lambda: self.stage.send(
                server, 'resize', {'flavorRef': self.cloud.flavor_id('m1.small')}
            ),
            lambda: self.stage.send(server, 'migrate'),
        )
        self.assertEqual([202, 409, 409], sorted(codes))
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual(1, len(self.stage.migrations(server)))

    def test_confirm_against_revert(self):
        for _attempt in range(5):
            server = self.boot()
            self.stage.act(server, 'migrate')
            self.cloud.wait(server, 'VERIFY_RESIZE')
            codes = self.stage.together(
                lambda server=server: self.stage.send(server, 'confirmResize'),
                lambda server=server: self.stage.send(server, 'revertResize'),
            )
            # Who comes so late that the other has begun finds no resize to end: 400.
            self.assertIn(codes, ([204, 409], [204, 400], [409, 202], [400, 202]))
            after = self.cloud.wait(server, 'ACTIVE')
            self.assertEqual(codes[1] == 202, after.compute_host == server.compute_host)

    def test_many_want_the_last_place(self):
        flavor = self.stage.flavor('half-a-host', ram=self.stage.host_memory() // 2 - 600)
        servers = [self.boot(f'server-{number}') for number in range(8)]
        codes = self.stage.together(
            *(
                lambda server=server: self.stage.send(server, 'resize', {'flavorRef': flavor.id})
                for server in servers
            )
        )
        self.assertEqual({202}, set(codes))
        for server in servers:
            self.stage.wait_idle(server)
        statuses = [self.stage.migration(server)['status'] for server in servers]
        self.assertLessEqual({'finished', 'error'}, {*statuses, 'error'})
        fitted = statuses.count('finished')
        self.assertTrue(1 <= fitted <= 6, statuses)
        for server, status in zip(servers, statuses, strict=True):
            self.cloud.wait(server, 'VERIFY_RESIZE' if status == 'finished' else 'ACTIVE')
