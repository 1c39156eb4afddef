"""What moves left behind, and volumes that are not connected as recorded (I5)."""

import types

import testtools

from nova_lite.verify import leftovers

SERVER, VOLUME, ATTACHMENT = 'a server', 'a volume', 'an attachment'


class ConnectionsTest(testtools.TestCase):
    def found(self, *, status='attached', sagas=(), **columns):
        row = types.SimpleNamespace(
            **{
                'uuid': SERVER,
                'host': 'host-1',
                'hidden': False,
                'task_state': None,
                'vm_state': 'active',
                **columns,
            }
        )
        device = types.SimpleNamespace(
            instance_uuid=SERVER, volume_id=VOLUME, attachment_id=ATTACHMENT
        )
        cell = types.SimpleNamespace(block_devices=[device], migrations=[])
        picture = types.SimpleNamespace(
            cells=[cell],
            instances=lambda: [(cell, row)],
            sagas=sagas,
            attachments=[{'id': ATTACHMENT, 'status': status}] if status else [],
        )
        return [finding.detail for finding in leftovers.connections(picture)]

    def test_attached(self):
        self.assertEqual([], self.found())

    def test_reserved_only(self):
        self.assertEqual([f'of server {SERVER} is reserved'], self.found(status='reserved'))

    def test_without_an_attachment(self):
        self.assertEqual([f'of server {SERVER} is missing'], self.found(status=None))

    def test_while_something_goes_on(self):
        saga = types.SimpleNamespace(instance_uuid=SERVER, active_for=SERVER)
        self.assertEqual([], self.found(status='reserved', sagas=[saga]))
        for columns in ({'task_state': 'deleting'}, {'host': None}, {'vm_state': 'error'}):
            self.assertEqual([], self.found(status='reserved', **columns))


class ImagesTest(testtools.TestCase):
    """Disks travel between cells in images, which have the ids of the migrations."""

    def found(self, *, image='a move', active_for=None):
        migration = types.SimpleNamespace(uuid='a move')
        picture = types.SimpleNamespace(
            cells=[types.SimpleNamespace(migrations=[migration])],
            sagas=[types.SimpleNamespace(uuid='a move', active_for=active_for)],
            snapshots=[{'id': image, 'name': 'x-resize-temp'}],
        )
        return [finding.what for finding in leftovers.images(picture)]

    def test_left_over(self):
        self.assertEqual(['image a move'], self.found())

    def test_while_it_is_needed(self):
        self.assertEqual([], self.found(active_for=SERVER))

    def test_what_users_made(self):
        self.assertEqual([], self.found(image='another'))
