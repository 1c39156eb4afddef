"""Images of servers in a whole cloud: createImage, and createBackup with its rotation."""

from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class SnapshotsTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def images(self):
        return sorted((image.name, image.status) for image in self.cloud.admin.image.images())

    def test_image(self):
        server, before = self.cloud.boot(), self.images()
        self.moving.act(server, 'createImage', {'name': 'copy'})
        self.cloud.wait(server)
        self.assertEqual(sorted([*before, ('copy', 'active')]), self.images())
        self.assertEqual(
            [('compute_snapshot_instance', 'Success')], self.moving.events(server, 'createImage')
        )

    def test_backups(self):
        """The oldest goes when there are more than asked for."""
        server, before = self.cloud.boot(), self.images()
        for name in ('one', 'two', 'three'):
            body = {'name': name, 'backup_type': 'daily', 'rotation': 2}
            self.moving.act(server, 'createBackup', body)
            self.cloud.wait(server)
        self.assertEqual(sorted([*before, ('three', 'active'), ('two', 'active')]), self.images())

    def test_backup_that_fails(self):
        server, before = self.cloud.boot(), self.images()
        self.cloud.behave('extends: instant\nfailures: [{verb: snapshot, first: 1}]\n')
        body = {'name': 'broken', 'backup_type': 'daily', 'rotation': 1}
        self.moving.act(server, 'createBackup', body)
        self.cloud.wait(server)
        self.assertEqual(before, self.images())
