"""Images of guests: what becomes of an image, whatever happens to its server meanwhile."""

from nova_lite import exception
from tests.unit.compute import test_resume

IMAGE = test_resume.IMAGE


class TestSnapshot(test_resume.Base):
    def ask(self, action='createImage', task='image_snapshot_pending'):
        self.uuid = self.cell.boot()
        self.cell.image.add_image(IMAGE)
        ctxt = self.cell.ask(self.uuid, action, task)
        self.cell.compute.snapshot_instance(ctxt, 'host-1', self.cell.instance(self.uuid), IMAGE)

    def test_works(self):
        self.ask()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        image = self.cell.image.images[IMAGE]
        self.assertEqual(('active', 'raw'), (image['status'], image['disk_format']))
        self.assertEqual(65536, image['size'])
        self.assertIn(
            ('compute_snapshot_instance', 'host-1', 'Success'), self.cell.events(self.uuid)
        )

    def test_backup_works(self):
        self.ask('createBackup', 'image_backup')
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual('active', self.cell.image.images[IMAGE]['status'])

    def test_failed_upload_leaves_no_image(self):
        self.cell.image.fail('upload', exception.Unavailable(service='image', reason='test'))
        self.ask()
        self.cell.run_dry()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual({}, self.cell.image.images)
        self.assertIn('is not available', self.cell.fault(self.uuid))

    def test_image_that_is_created_meanwhile(self):
        """The API has created it before the host ended the action: its request is accepted."""
        find = self.cell.image.get

        def miss(ctxt, image_id):
            self.cell.image.get = find
            try:
                return find(ctxt, image_id)
            finally:
                self.cell.image.add_image(IMAGE)

        self.cell.image.get = miss
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        self.cell.compute.snapshot_instance(ctxt, 'host-1', self.cell.instance(uuid), IMAGE)
        self.assertEqual('active', self.cell.image.images[IMAGE]['status'])
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))

    def test_image_that_does_not_exist(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        self.cell.compute.snapshot_instance(ctxt, 'host-1', self.cell.instance(uuid), IMAGE)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual({}, self.cell.image.images)

    def test_image_of_a_message_after_the_deletion_goes(self):
        uuid = self.cell.boot()
        asked = self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        message = self.cell.instance(uuid)
        self.cell.delete(uuid)
        self.cell.image.add_image(IMAGE)
        self.cell.compute.snapshot_instance(asked, 'host-1', message, IMAGE)
        self.assertEqual({}, self.cell.image.images)

    def test_repeated_message_keeps_the_image(self):
        uuid = self.cell.boot()
        self.cell.image.add_image(IMAGE)
        asked = self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        message = self.cell.instance(uuid)
        for _ in range(2):
            self.cell.compute.snapshot_instance(asked, 'host-1', message, IMAGE)
        self.assertEqual('active', self.cell.image.images[IMAGE]['status'])

    def test_image_that_a_deletion_interrupts_goes(self):
        uuid = self.cell.boot()
        for kind in ('snapshot', 'backup', 'test'):
            for status in ('queued', 'saving', 'active'):
                self.cell.image.add_image(
                    f'{status}-{kind}', image_type=kind, instance_uuid=uuid, status=status
                )
        self.cell.image.add_image('another')
        self.cell.ask(uuid, 'createImage', 'image_uploading')
        self.cell.delete(uuid)
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual(
            ['active-backup', 'active-snapshot', 'active-test', 'another'],
            sorted(self.cell.image.images),
        )
