"""Requests about one server, or one place, that meet each other; and who may ask."""

from nova_lite import runtime
from nova_lite.moves.parts import relocation
from tests.fixtures import live_moving
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

AT_ONCE = 4


@sample.in_turns(3)
class LiveRaceTest(own_cloud.OwnCloudTest):
    # As many live migrations at once as are asked for.
    settings = {
        'cells': 1,
        'hosts': 3,
        'options': {
            'DEFAULT': {'max_concurrent_live_migrations': 0},
            'compute': {'stray_grace': 0},
        },
    }

    def together(self, *calls):
        """Make the calls at the same time; what each gave."""
        with runtime.executor(AT_ONCE) as pool:
            return [started.result() for started in [pool.submit(call) for call in calls]]

    def post(self, server, action, content):
        return self.cloud.api(
            'POST',
            f'/servers/{server.id}/action',
            version=moving.LATEST,
            json={action: content},
        ).status_code

    def test_two_moves_of_one_server(self):
        server = self.cloud.boot()
        self.moving.behave(live_moving.ENDLESS)
        content = {'block_migration': 'auto', 'host': None}
        for _round in range(3):
            codes = self.together(
                lambda: self.post(server, 'os-migrateLive', content),
                lambda: self.post(server, 'os-migrateLive', content),
                lambda: self.post(server, 'os-stop', None),
            )
            self.assertEqual([202, 409, 409], sorted(codes))
            if codes[2] != 202:
                self.moving.abort(server, self.moving.watched(server, 'running'))
            self.cloud.wait_for(
                lambda: self.cloud.admin.compute.get_server(server.id).task_state is None,
                'the winner to end',
            )
            if self.cloud.admin.compute.get_server(server.id).status == 'SHUTOFF':
                self.cloud.admin.compute.start_server(server)
                self.cloud.wait(server, 'ACTIVE')

    def test_abort_against_completion(self):
        for _round in range(3):
            self.abort_and_complete(self.cloud.boot())

    def abort_and_complete(self, server):
        self.moving.behave(live_moving.ENDLESS)
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        self.together(
            lambda: self.moving.force_complete(server, migration),
            lambda: self.moving.abort(server, migration),
        )
        status = self.moving.ended(server)['status']
        moved = self.cloud.wait(server, 'ACTIVE').compute_host != server.compute_host
        self.assertEqual('completed' if moved else 'cancelled', status)

    def test_the_last_place(self):
        flavor = self.cloud.admin.compute.create_flavor(name='half', vcpus=1, ram=1, disk=2000)
        servers = [self.cloud.boot(f'server-{n}', flavor=flavor.name) for n in range(5)]
        free = next(
            node.name
            for node in self.cloud.admin.compute.hypervisors()
            if sum(server.compute_host == node.name for server in servers) < 2
        )
        others = [server for server in servers if server.compute_host != free]
        self.together(*(lambda s=s: self.moving.go(s, free) for s in others))
        ended = sorted(self.moving.ended(server)['status'] for server in others)
        self.assertEqual(['completed', 'error', 'error', 'error'], ended)

    def test_deleted_while_it_is_evacuated(self):
        server = self.cloud.boot()
        self.moving.behave('extends: instant\nhosts: [{match: "*", delays: {spawn: 2}}]\n')
        self.moving.fail(server.compute_host)
        self.moving.act(server, 'evacuate', {}, status=200)
        self.cloud.wait_for(
            lambda: self.moving.migration(server)['status'] == 'pre-migrating', 'the rebuild'
        )
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.cloud.wait_for(lambda: self.moving.saga(server).active_for is None, 'its end')
        self.moving.come_back(server.compute_host)
        # It was deleted without its host, whose audit finds the guest.
        self.moving.manager.audit()

    def test_evacuated_while_it_is_deleted(self):
        self.cloud.cloud.confs['control'].set_override('reclaim_instance_interval', 3600)
        self.moving.behave(
            'extends: instant\nhosts: [{match: "*", delays: {destroy: 4, power_off: 4}}]\n'
        )
        for task, delete in (
            ('deleting', lambda server: self.moving.act(server, 'forceDelete')),
            ('soft-deleting', self.cloud.admin.compute.delete_server),
        ):
            server = self.cloud.boot()
            delete(server)
            self.moving.change_service(server.compute_host, forced_down=True)
            refused = self.moving.act(server, 'evacuate', {}, status=409)
            self.assertIn(f'in task_state {task}', refused.text)
            # Asked for now it does not wait for the host. A soft deletion would keep the server.
            self.moving.act(server, 'forceDelete')
            self.cloud.wait_gone(server)
            self.moving.change_service(server.compute_host, forced_down=False)
            self.cloud.wait_for(self.is_cleared, 'its guest to be removed')

    def is_cleared(self):
        self.moving.manager.audit()
        return self.cloud.is_consistent()

    def test_evacuated_twice_at_once(self):
        server = self.cloud.boot()
        self.moving.behave('extends: instant\nhosts: [{match: "*", delays: {spawn: 2}}]\n')
        self.moving.fail(server.compute_host)
        codes = self.together(*[lambda: self.post(server, 'evacuate', {})] * 2)
        self.assertEqual([200, 409], sorted(codes))
        self.assertEqual('done', self.moving.ended(server)['status'])
        self.moving.wait_idle(server)
        self.assertEqual(1, len(self.moving.migrations(server)))

    def test_evacuated_while_it_leaves_by_itself(self):
        server = self.cloud.boot()
        faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        mode = saga_faults.Mode.SLEEPS
        faults.fault = fault = saga_faults.Fault('live-migration', relocation.SWITCH, mode)
        self.moving.go(server)
        self.cloud.wait_for(lambda: fault.met, 'the switch')
        self.moving.change_service(server.compute_host, forced_down=True)
        evacuated, _woken = self.together(
            lambda: self.post(server, 'evacuate', {}), lambda: faults.wake(fault)
        )
        # It depends on whether it was first seen before the switch or after it.
        self.assertIn(evacuated, (400, 409))
        self.moving.wait_idle(server)
        self.moving.change_service(server.compute_host, forced_down=False)
        # The guest was handed over without its host, whose audit finds what is left.
        self.moving.manager.audit()
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertEqual(1, len(self.moving.migrations(server)))

    def test_who_may_ask(self):
        server = self.cloud.boot(connection=self.cloud.demo)
        live = {'os-migrateLive': {'block_migration': 'auto', 'host': None}}
        path = f'/servers/{server.id}'
        for method, part, body in (
            ('POST', '/action', live),
            ('POST', '/action', {'evacuate': {}}),
            ('GET', '/migrations', None),
            ('GET', '/migrations/1', None),
            ('DELETE', '/migrations/1', None),
            ('POST', '/migrations/1/action', {'force_complete': None}),
        ):
            answer = self.cloud.api(
                method, path + part, version='2.96', cloud='nova-lite-demo', json=body
            )
            self.assertEqual(403, answer.status_code, f'{method} {part} {body}')
