"""Volumes and snapshots that the volume service never finishes hold no server."""

from nova_lite.clients import release
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class StuckVolumesTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 2}

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
