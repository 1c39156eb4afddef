"""Servers that are kept when they are deleted, while they leave their hosts."""

from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
DESTROY, UNBIND = 'destroy-guest', 'unbind-ports'


class KeptOffloadsTest(own_cloud.OwnCloudTest):
    """The server has no guest that could be restored: no deletion is forgotten."""

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.cloud.cloud.confs['control'].set_override('reclaim_instance_interval', 3600)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.server = self.moving.boot_full()
        self.moving.act(self.server, 'shelve')
        self.cloud.wait(self.server, 'SHELVED')

    def delete(self):
        self.cloud.admin.compute.delete_server(self.server)

    def reset_and_delete(self):
        self.moving.act(self.server, 'os-resetState', {'state': 'active'})
        self.delete()

    def offload(self, step, meanwhile):
        self.faults.fault = saga_faults.Fault(
            'shelve-offload', step, saga_faults.Mode.DURING_BEFORE, meanwhile=meanwhile
        )
        self.moving.act(self.server, 'shelveOffload')
        self.moving.wait_idle(self.server)
        self.assertTrue(self.faults.fault.met)

    def test_deleted_before_the_guest_is_destroyed(self):
        self.offload(DESTROY, self.delete)
        self.cloud.wait_gone(self.server)

    def test_deleted_after_the_guest_was_destroyed(self):
        self.offload(UNBIND, self.delete)
        self.cloud.wait_gone(self.server)

    def test_state_reset_and_deleted_after_that(self):
        self.offload(UNBIND, self.reset_and_delete)
        self.cloud.wait_gone(self.server)

    def test_state_reset_deleted_and_restored(self):
        """The image has the only copy of the disk."""

        def restore():
            self.reset_and_delete()
            self.cloud.wait(self.server, 'SOFT_DELETED')
            self.moving.act(self.server, 'restore')

        self.offload(UNBIND, restore)
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        self.assertIsNotNone(self.cloud.admin.image.find_image(f'{self.server.name}-shelved'))
        self.moving.act(self.server, 'unshelve')
        self.cloud.wait(self.server, 'ACTIVE')
