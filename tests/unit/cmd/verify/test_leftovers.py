"""Volumes whose connection is not what the record says (I5)."""

import types

import testtools

from nova_lite.cmd.verify import leftovers

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
