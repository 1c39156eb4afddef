"""Volumes and snapshots that the volume service never finishes hold no server."""

from nova_lite.clients import release
from nova_lite.saga import journal
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class StuckVolumesTest(own_cloud.OwnCloudTest):
    settings = own_cloud.FOUR_HOSTS

    def reset(self, path, **status):
        answer = self.cloud.admin.block_storage.post(
            f'{path}/action', json={'os-reset_status': status}
        )
        self.assertEqual(202, answer.status_code)

    def test_delete(self):
        """As in nova the volume stays, and the server goes."""
        self.patch(release, 'STUCK_S', 3)
        server = self.moving.boot_from_volume()
        (volume,) = self.cloud.admin.block_storage.volumes()
        self.reset(f'/volumes/{volume.id}', status='creating', attach_status='detached')
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_for(lambda: not [*self.cloud.admin.compute.servers()], 'its deletion', 30)
        self.assertEqual(['creating'], [v.status for v in self.cloud.admin.block_storage.volumes()])

    def test_offload(self):
        """Cinder does not reserve such a volume when its server leaves. The unshelve repeats it."""
        server = self.moving.boot_from_volume()
        (volume,) = self.cloud.admin.block_storage.volumes()
        self.reset(f'/volumes/{volume.id}', status='detaching')
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.cloud.wait_for(
            lambda: self.moving.saga(server).state == journal.DONE, 'the end of its duty', 120
        )
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.reset(f'/volumes/{volume.id}', status='in-use')
        with self.moving.disabled(server.compute_host):
            self.moving.act(server, 'unshelve')
            self.cloud.wait(server, 'ACTIVE')
