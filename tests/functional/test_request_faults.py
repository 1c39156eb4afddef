"""Requests to placement and to simulated services that fail while a cloud runs."""

from openstack import exceptions as sdk_exceptions

from nova_lite import runtime
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

DELAY_S = 0.3
PORTS = {'service': 'network', 'request': 'GET /v2.0/ports*'}


class RequestFaultsTest(own_cloud.OwnCloudTest):
    settings = base.ROOMY

    def setUp(self):
        super().setUp()
        self.faults = self.cloud.cloud.faults

    def counts(self):
        """Return how many requests have come to each fault."""
        return [fault.count for fault in self.faults.requests._faults]

    def test_builds_and_lists(self):
        self.faults.add({'service': 'placement', 'status': 503, 'first': 2})
        self.assertEqual('ACTIVE', self.cloud.boot().status)
        (count,) = self.counts()
        self.assertLess(2, count)
        self.faults.clear()
        network = self.cloud.admin.network
        for status, error in (
            (409, sdk_exceptions.ConflictException),
            (404, sdk_exceptions.NotFoundException),
        ):
            self.faults.add({**PORTS, 'status': status})
            raised = self.assertRaises(error, lambda: list(network.ports()))
            self.assertIn('Injected fault', str(raised))
            list(network.networks())
            self.faults.clear()
        self.faults.add({**PORTS, 'delay': DELAY_S})
        began = runtime.monotonic()
        list(network.ports())
        self.assertLessEqual(DELAY_S, runtime.monotonic() - began)
        self.cloud.save('before')
        self.cloud.cloud.reset('before')
        self.assertEqual([], self.faults.show()['failures'])

    def test_moves_whose_claims_lose_their_answers(self):
        for method in ('PUT', 'POST'):
            server = self.cloud.boot()
            request = f'{method} /allocations*'
            self.faults.add({'service': 'placement', 'request': request, 'lost': True, 'first': 1})
            self.cloud.admin.compute.migrate_server(server)
            moved = self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertNotEqual(server.compute_host, moved.compute_host)
            self.cloud.admin.compute.confirm_server_resize(server)
            self.cloud.wait(server, 'ACTIVE')
            self.assertNotIn(0, self.counts())
