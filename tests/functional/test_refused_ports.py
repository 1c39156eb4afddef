"""The network service refuses changes of ports for good: moves end, and say so."""

import fixtures

from nova_lite import exception
from nova_lite.moves import steps
from nova_lite.moves.parts import offload
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

BINDINGS, PORTS = 'nova_lite.clients.bindings.Bindings', 'nova_lite.clients.network.Network'


def _refuse(*_args, **_options):
    raise exception.NeighbourError(
        service='network', status=403, reason='a test says so', request='PUT'
    )


class RefusedTest(own_cloud.OwnCloudTest):
    settings = own_cloud.FOUR_HOSTS

    def refused(self, *names):
        """A context in which these methods of clients are refused."""
        return fixtures.CompoundFixture([fixtures.MonkeyPatch(name, _refuse) for name in names])

    def test_unshelve(self):
        """The server stays on no host, and can be unshelved later."""
        server = self.moving.boot_full()
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED')
        self.moving.act(server, 'shelveOffload')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        with self.refused(f'{PORTS}.move', f'{PORTS}.unbind'):
            self.moving.act(server, 'unshelve')
            self.cloud.wait(server, 'SHELVED_OFFLOADED')
            self.assertEqual({}, self.moving.allocations(server.id))
        self.moving.wait_idle(server)
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')

    def test_live_migration(self):
        """Once the guest has left, the action ends with a remark, and a duty goes on."""
        server = self.moving.boot_full()
        with self.refused(f'{BINDINGS}.activate'):
            self.moving.go(server)
            self.assertEqual('completed', self.moving.ended(server)['status'])
        found = dict(self.moving.events(server, 'live-migration'))
        self.assertIn('Error', found.values())
        self.assertIn(steps.ACTIVATE, self.moving.saga(server).data['_left'])

    def test_offload(self):
        server = self.moving.boot_full()
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED')
        with self.refused(f'{PORTS}.unbind'):
            self.moving.act(server, 'shelveOffload')
            self.cloud.wait(server, 'SHELVED_OFFLOADED')

    def test_deletion_during_an_offload(self):
        """It fails while the guest is removed. The server stays in ERROR, with its fault."""
        server = self.moving.boot_full()
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED')
        faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

        def delete():
            with self.refused(f'{PORTS}.deallocate'):
                self.cloud.admin.compute.delete_server(server.id)
                self.cloud.wait(server, 'ERROR')

        mode = saga_faults.Mode.DURING_AFTER
        faults.fault = saga_faults.Fault('shelve-offload', offload.DESTROY, mode, meanwhile=delete)
        self.moving.act(server, 'shelveOffload')
        self.assertEqual('done', faults.ended(server).state)
        found = self.cloud.admin.compute.get_server(server.id)
        self.assertEqual(('ERROR', None), (found.status, found.compute_host))
        self.assertIn('a test says so', found.fault['message'])
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)
