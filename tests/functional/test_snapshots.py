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
            self.back_up(server, name, rotation=2)
        self.assertEqual(sorted([*before, ('three', 'active'), ('two', 'active')]), self.images())

    def back_up(self, server, name, *, rotation=1):
        body = {'name': name, 'backup_type': 'daily', 'rotation': rotation}
        answer = self.moving.act(server, 'createBackup', body)
        self.cloud.wait(server)
        return answer

    def test_backup_that_fails(self):
        """The last good one stays."""
        server, before = self.cloud.boot(), self.images()
        self.back_up(server, 'good')
        self.cloud.behave('extends: instant\nfailures: [{verb: snapshot, first: 1}]\n')
        self.back_up(server, 'broken')
        self.assertEqual(sorted([*before, ('good', 'active')]), self.images())

    def test_backup_that_is_protected(self):
        """It stays, and the action says so."""
        server, before = self.cloud.boot(), self.images()
        self.back_up(server, 'kept')
        images = self.cloud.admin.image
        images.update_image(images.find_image('kept'), is_protected=True)
        self.back_up(server, 'next')
        self.assertEqual(sorted([*before, ('kept', 'active'), ('next', 'active')]), self.images())
        message = self.moving.action(server, 'createBackup')['message']
        self.assertIn('was not deleted', message)
        event = 'compute_snapshot_instance'
        self.assertIn((event, 'Success'), self.moving.events(server, 'createBackup'))
        self.assertEqual(message, self.moving.details(server, 'createBackup', event))
        images.update_image(images.find_image('kept'), is_protected=False)

    def test_backup_without_rotation(self):
        """As in nova, none is left."""
        server, before = self.cloud.boot(), self.images()
        self.back_up(server, 'one')
        answer = self.back_up(server, 'two', rotation=0)
        self.assertEqual(b'', answer.content)
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
