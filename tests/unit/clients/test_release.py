"""Giving back what a server holds, where no host does it."""

import datetime
import types

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import release
from tests.fixtures import neighbours

DEVICE = {'volume_id': 'volume', 'delete_on_termination': True}


class Attaching(neighbours.Volume):
    """A move attaches the volume once more when it is to be deleted."""

    moving = True

    def delete(self, ctxt, volume_id):
        if self.moving:
            self.moving = False
            self.create_attachment(ctxt, volume_id, 'server')
        if self.attachments:
            raise exception.Conflict(reason='it is in use')
        super().delete(ctxt, volume_id)


class ReleaseTest(testtools.TestCase):
    def release(self, volume, **device):
        clients = types.SimpleNamespace(
            placement=neighbours.Placement(),
            network=neighbours.Network(),
            volume=volume,
            image=neighbours.Image(),
        )
        release.release(clients, None, 'server', [{**DEVICE, **device}], ports=())

    def test_attached_meanwhile(self):
        volume = Attaching()
        volume.add_volume('volume')
        attachment_id = volume.create_attachment(None, 'volume', 'server')['id']
        self.release(volume, attachment_id=attachment_id)
        self.assertEqual(({}, {}), (volume.volumes, volume.attachments))

    def test_in_use_by_another(self):
        volume = neighbours.Volume()
        volume.add_volume('volume')
        volume.fail('delete', exception.Conflict(reason='it is in use'))
        logger = self.useFixture(fixtures.FakeLogger())
        self.release(volume, attachment_id=None)
        self.assertEqual({'volume': 'available'}, volume.volumes)
        self.assertIn('Cannot delete volume volume of server server', logger.output)

    def test_not_made_yet(self):
        volume = neighbours.Volume()
        volume.volumes['volume'] = 'creating'
        volume.fail('delete', exception.Conflict(reason='it is being made'))
        self.assertRaises(exception.Unavailable, self.release, volume, attachment_id=None)

    def test_never_made(self):
        """As in nova the server goes, though the volume service hangs."""
        volume = neighbours.Volume()
        volume.volumes['volume'] = 'creating'
        volume.changed_at = runtime.now() - datetime.timedelta(seconds=release.STUCK_S + 1)
        volume.fail('delete', exception.Conflict(reason='it is being made'))
        logger = self.useFixture(fixtures.FakeLogger())
        self.release(volume, attachment_id=None)
        self.assertEqual({'volume': 'creating'}, volume.volumes)
        self.assertIn('volume is creating', logger.output)

    def test_protected_images(self):
        """They stay, whether they are shelved or wait for contents."""
        images = neighbours.Image()
        for image_id in ('queued', 'shelved'):
            images.add_image(image_id, instance_uuid='server')
        images.fail('delete', exception.Forbidden('it is protected'))
        what = release.Images(copying=True, shelved='shelved')
        logger = self.useFixture(fixtures.FakeLogger())
        release.drop_images(images, None, 'server', what)
        self.assertIn('Cannot delete image queued of server server', logger.output)

    def test_gone_by_now(self):
        volume = neighbours.Volume()
        volume.fail('delete', exception.Forbidden('no'))
        volume.fail('get', exception.VolumeNotFound(volume_id='volume'))
        self.release(volume, attachment_id=None)

    def test_fenced(self):
        """Another super-conductor has the saga; this one must not go on with it."""
        volume = neighbours.Volume()
        volume.add_volume('volume')
        stale = exception.StaleEpoch(saga='s', seen=2, epoch=1)
        volume.fail('delete', stale)
        self.assertRaises(exception.StaleEpoch, self.release, volume, attachment_id=None)

    def test_fails_unexpectedly(self):
        """Other errors than a refusal are raised: the volume may have to be deleted still."""
        volume = neighbours.Volume()
        volume.add_volume('volume')
        volume.fail('delete', exception.NovaLiteError())
        self.assertRaises(exception.NovaLiteError, self.release, volume, attachment_id=None)

    def test_service_is_away(self):
        volume = neighbours.Volume()
        volume.add_volume('volume')
        volume.fail('delete', exception.Unavailable(service='volume', reason='test'))
        self.assertRaises(exception.Unavailable, self.release, volume, attachment_id=None)
