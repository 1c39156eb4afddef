"""Images of servers in a whole cloud: createImage, and createBackup with its rotation."""

import json

from tests.fixtures import moving
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
SLOW = "extends: instant\nhosts: [{match: '*', delays: {snapshot: 3}}]\n"


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

    def test_state_is_reset_meanwhile(self):
        """The image goes, and the action says so."""
        server, before = self.cloud.boot(), self.images()
        self.cloud.behave(SLOW)
        self.moving.act(server, 'createImage', {'name': 'copy'})
        self.cloud.wait(server, task='image_snapshot')
        self.moving.act(server, 'os-resetState', {'state': 'active'})
        self.cloud.wait_for(lambda: self.images() == before, 'the image to go')
        event = 'compute_snapshot_instance'
        self.cloud.wait_for(
            lambda: self.moving.events(server, 'createImage') == [(event, 'Error')], 'an error'
        )
        details = self.moving.details(server, 'createImage', event)
        self.assertIn('another request changed the task', details)
        self.assertEqual('Error', self.moving.action(server, 'createImage').message)
        self.cloud.wait(server)

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
        event = 'compute_backup_instance'
        self.assertIn((event, 'Success'), self.moving.events(server, 'createBackup'))
        self.assertEqual(message, self.moving.details(server, 'createBackup', event))
        images.update_image(images.find_image('kept'), is_protected=False)

    def test_backup_without_rotation(self):
        """As in nova, none is left, although the answer names one."""
        server, before = self.cloud.boot(), self.images()
        self.back_up(server, 'one')
        answer = self.back_up(server, 'two', rotation=0)
        self.assertEqual(['image_id'], [*answer.json()])
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

    def with_two_volumes(self):
        blank = {'boot_index': -1, 'source_type': 'blank', **moving.VOLUME}
        image = {'boot_index': 0, 'source_type': 'image', 'uuid': self.cloud.image_id('cirros')}
        devices = [{**image, **moving.VOLUME}, blank]
        return self.cloud.boot(block_device_mapping=devices)

    def kept(self):
        storage = self.cloud.admin.block_storage
        return [each.id for each in storage.snapshots()], self.images()

    def test_volumes_that_are_not_snapshotted(self):
        """The second snapshot exceeds a quota. Nothing stays, and the volumes can be deleted."""
        server, before = self.with_two_volumes(), self.kept()
        storage = self.cloud.admin.block_storage
        project = self.cloud.admin.current_project_id
        storage.update_quota_set(project, snapshots=1)
        answer = self.moving.act(server, 'createImage', {'name': 'copy'}, status=403)
        self.assertIn('napshot', answer.text)
        self.assertEqual(before, self.kept())
        self.assertEqual(
            [('api_snapshot_instance', 'Error')], self.moving.events(server, 'createImage')
        )
        storage.update_quota_set(project, snapshots=-1)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.assertEqual([], list(storage.volumes()))

    def test_image_of_two_volumes(self):
        server = self.with_two_volumes()
        answer = self.moving.act(server, 'createImage', {'name': 'copy'}, version='2.45')
        image = self.cloud.admin.image.get_image(answer.json()['image_id'])
        mapping = json.loads(image.properties['block_device_mapping'])
        snapshots, _images = self.kept()
        self.assertEqual(sorted(snapshots), sorted(each['snapshot_id'] for each in mapping))
        self.assertEqual([0, None], [each['boot_index'] for each in mapping])
        flavor = self.cloud.flavor_id('m1.tiny')
        compute = self.cloud.admin.compute
        again = compute.create_server(
            name='again', image_id=image.id, flavor_id=flavor, networks='none'
        )
        self.assertEqual(2, len(self.cloud.wait(again).attached_volumes))
