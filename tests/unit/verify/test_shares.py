"""Shares of servers (I5)."""

from nova_lite.clients import share as share_client
from nova_lite.db.cell import models as cell_models
from nova_lite.virt import model
from tests.unit.verify import base

SHARE, UUID = 'a share', 'its attachment'


class SharingTest(base.VerifyTest):
    def have(self, status='active', *, locked=('share', 'access_rule'), mounted=True, **columns):
        values = {'uuid': UUID, 'share_id': SHARE, 'status': status}
        self.snapshot.cells[0].shares = [
            base.row(
                cell_models.ShareMapping, **{**values, 'instance_uuid': base.SERVER, **columns}
            )
        ]
        self.lock(UUID, locked)
        if mounted:
            (guest,) = self.snapshot.guests
            devices = (*guest.spec.devices, model.Device(model.DeviceKind.SHARE, SHARE))
            self.snapshot.guests = [base.guest(devices=devices)]
        return self.found()

    def lock(self, uuid, kinds, action='delete'):
        self.snapshot.share_locks = [
            *self.snapshot.share_locks,
            *(
                {
                    'id': f'{kind} lock',
                    'resource_type': kind,
                    'resource_id': f'a {kind}',
                    'resource_action': action,
                    'lock_reason': share_client.REASON + uuid,
                }
                for kind in kinds
            ),
        ]

    def test_all_is_well(self):
        self.assertEqual([], self.have())

    def test_locks_of_nothing(self):
        self.lock('gone', ('share',))
        self.assertEqual(
            ['I5 lock share lock: is of attachment gone, which does not exist'], self.found()
        )
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.found())

    def test_a_rule_that_another_attachment_has_made(self):
        self.lock('gone', ('access_rule',), action='show')
        problem = ['I5 lock access_rule lock: is of attachment gone, which does not exist']
        self.assertEqual(problem, self.found())
        self.assertEqual([], self.have())

    def test_a_rule_that_is_only_hidden(self):
        self.lock(UUID, ('access_rule',), action='show')
        self.assertEqual(
            ['I5 share a share: of server a server has no lock on: access_rule'],
            self.have(locked=('share',)),
        )

    def test_a_share_that_is_not_locked(self):
        self.assertEqual(
            ['I5 share a share: of server a server has no lock on: access_rule'],
            self.have(locked=('share',)),
        )

    def test_a_share_in_error_may_have_no_locks(self):
        self.assertEqual([], self.have('error', locked=(), mounted=False))

    def test_a_share_of_no_server(self):
        self.assertIn('I5 share a share: is of server gone, gone', self.have(instance_uuid='gone'))

    def test_mounted_or_not(self):
        self.assertEqual(
            ['I5 share a share: of server a server is not mounted'], self.have(mounted=False)
        )

    def test_mounted_and_not_active(self):
        self.assertEqual(
            ['I5 share a share: of server a server is mounted and not active'],
            self.have('inactive'),
        )
