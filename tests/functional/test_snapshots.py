"""Images of servers in a whole cloud: createImage, and createBackup with its rotation."""

import json

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

    def test_booted_from_volume(self):
        """The image has no data; its volume is made of a snapshot of the server's."""
        server = self.moving.boot_from_volume()
        answer = self.moving.act(server, 'createImage', {'name': 'copy'}, version='2.45')
        image = self.cloud.admin.image.get_image(answer.json()['image_id'])
        self.assertEqual(('active', 0, 'raw'), (image.status, image.size, image.disk_format))
        (mapped,) = json.loads(image.properties['block_device_mapping'])
        self.assertEqual(
            ('snapshot', 'volume'), (mapped['source_type'], mapped['destination_type'])
        )
        storage = self.cloud.admin.block_storage
        snapshot = storage.get_snapshot(mapped['snapshot_id'])
        self.assertEqual('available', snapshot.status)
        storage.delete_snapshot(snapshot)
        self.cloud.admin.image.delete_image(image)
