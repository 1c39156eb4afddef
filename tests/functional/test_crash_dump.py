"""Crash dumps in a whole cloud: what becomes of the guest, and what fails."""

from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

EVENT = 'compute_trigger_crash_dump'


class CrashDumpTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def behave(self, what):
        self.cloud.behave(f'extends: instant\nhosts: [{{crash_dump: {what}}}]\n')

    def trigger(self, server, result='Success'):
        self.moving.act(server, 'trigger_crash_dump')
        self.moving.wait_idle(server)
        events = self.moving.events(server, 'trigger_crash_dump')
        self.assertEqual([(EVENT, result)], events)

    def reason(self, server):
        return self.moving.details(server, 'trigger_crash_dump', EVENT)

    def test_ignored(self):
        server = self.cloud.boot()
        self.trigger(server)
        self.moving.manager.audit()
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)

    def test_crashes(self):
        server = self.cloud.boot()
        self.behave('crash')
        self.trigger(server)
        self.moving.manager.audit()
        self.cloud.wait(server, 'SHUTOFF')
        self.moving.act(server, 'trigger_crash_dump', status=409)
        self.moving.act(server, 'os-start')
        self.cloud.wait(server, 'ACTIVE')

    def test_states(self):
        server = self.cloud.boot()
        self.moving.act(server, 'pause')
        self.cloud.wait(server, 'PAUSED')
        self.trigger(server)
        self.moving.act(server, 'unpause')
        self.cloud.wait(server, 'ACTIVE')
        self.moving.act(server, 'suspend')
        self.cloud.wait(server, 'SUSPENDED')
        self.moving.act(server, 'trigger_crash_dump', status=409)

    def test_fails(self):
        server = self.cloud.boot()
        failure = '{verb: trigger_crash_dump, when: before, message: no NMI}'
        self.cloud.behave(f'extends: instant\nfailures: [{failure}]\n')
        self.trigger(server, 'Error')
        found = self.cloud.admin.compute.get_server(server.id)
        self.assertEqual('ACTIVE', found.status)
        self.assertIn('no NMI', self.reason(server))

    def test_host_is_down(self):
        server = self.cloud.boot()
        with self.moving.forced_down(server.compute_host):
            self.trigger(server, 'Error')
        self.assertIn('is not up', self.reason(server))
