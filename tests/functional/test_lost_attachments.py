"""Attachments that their owners or administrators change in Cinder, behind the server's back."""

import json

from nova_lite import context
from nova_lite.moves.parts import detaching
from tests.fixtures import attaching
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
KINDS = ('HARD', 'SOFT')


class LostAttachmentsTest(own_cloud.OwnCloudTest):
    """At the end `verify` finds nothing."""

    settings = {'cells': 2, 'hosts': 2}

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.storage = self.cloud.admin.block_storage
        self.server = self.cloud.boot()

    def attach(self):
        volume = self.hands.volume()
        self.hands.attached(self.server, volume)
        return volume

    def reset(self, volume):
        """Do what `openstack volume set --state available --detached` does."""
        self.storage.reset_volume_status(volume, 'available', 'detached', None)

    def reboot(self, kind):
        self.moving.act(self.server, 'reboot', {'type': kind})
        self.cloud.wait(self.server)

    def check_none(self):
        self.assertEqual([], self.hands.attachments(self.server))
        self.assertEqual([], self.hands.volumes_of_guest(self.server))

    def test_reboots(self):
        """The volume leaves the guest and the record, and can be attached again."""
        volume = self.attach()
        for kind in KINDS:
            self.reset(volume)
            self.hands.detach(self.server, volume, status=400)
            self.reboot(kind)
            self.check_none()
            self.assertIn(
                ('compute_detach_volume', 'Success'),
                self.moving.events(self.server, 'detach_volume'),
            )
            self.assertEqual('available', self.hands.volume_status(volume))
            self.hands.attached(self.server, volume)

    def test_volume_is_gone(self):
        kept = self.attach()
        for kind in KINDS:
            volume = self.attach()
            self.reset(volume)
            self.storage.delete_volume(volume)
            self.reboot(kind)
            self.assertEqual([kept], self.hands.volumes_of_guest(self.server))
            self.hands.detach(self.server, volume, status=404)

    def test_volume_is_deleted_while_it_is_detached(self):
        """Its owner wins the race, and the detachment that was accepted ends as asked."""
        volume, faults = self.attach(), self.useFixture(saga_faults.SagaFaults(self.cloud))

        def delete():
            self.reset(volume)
            self.storage.delete_volume(volume)

        mode = saga_faults.Mode.DURING_BEFORE
        faults.fault = saga_faults.Fault('detach-volume', detaching.MARK, mode, meanwhile=delete)
        self.hands.detached(self.server, volume)
        self.check_none()
        self.assertIn(
            ('compute_detach_volume', 'Success'), self.moving.events(self.server, 'detach_volume')
        )

    def test_image_of_a_server_whose_volume_is_deleted(self):
        """The image of a server that boots from a volume has the other disks."""
        self.server = self.cloud.wait(self.moving.boot_from_volume())
        volume = self.attach()
        self.reset(volume)
        self.storage.delete_volume(volume)
        answer = self.moving.act(self.server, 'createImage', {'name': 'copy'}, version='2.45')
        image = self.cloud.admin.image.get_image(answer.json()['image_id'])
        self.assertEqual(1, len(json.loads(image.properties['block_device_mapping'])))
        self.reboot('HARD')

    def test_attachment_that_the_server_does_not_know(self):
        volume, kept = self.hands.volume(), self.attach()
        client = self.moving.world.volume
        for kind in KINDS:
            client.create_attachment(context.admin(), volume, self.server.id)
            self.assertEqual('reserved', self.hands.volume_status(volume))
            self.reboot(kind)
            self.assertEqual('available', self.hands.volume_status(volume))
            self.assertEqual([kept], self.hands.volumes_of_guest(self.server))

    def test_attached_to_another_server(self):
        """After the volume was reset, and not before the first server has lost it."""
        volume, other = self.attach(), self.cloud.boot('other')
        self.reset(volume)
        answer = self.cloud.api(
            'POST',
            f'/servers/{other.id}/os-volume_attachments',
            json={'volumeAttachment': {'volumeId': volume}},
        )
        self.assertEqual(400, answer.status_code)
        self.assertIn(f'already attached to instances: {self.server.id}', answer.text)
        self.reboot('SOFT')
        self.hands.attached(other, volume)
