"""The client of the shared file system service, against simcloud."""

import fixtures

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import share as share_client
from tests.unit.clients import neighbours


class ShareTest(neighbours.NeighbourTestCase):
    def setUp(self):
        super().setUp()
        self.client = share_client.Share(self.credentials)
        self.member = self.context_of('alice', 'wonderland', 'member')
        self.share = self.make()

    def make(self, protocol='NFS'):
        body = {'share': {'size': 1, 'share_proto': protocol}}
        return self.call('POST', '/shares', json=body).json()['share']['id']

    def call(self, method, path, **options):
        return self.client.service.call(
            self.member, method, path, as_user=True, headers=share_client.VERSION, **options
        )

    def attachment(self, address='10.0.0.1', **values):
        return {
            'uuid': runtime.new_uuid(),
            'share_id': self.share,
            'access_type': 'ip',
            'access_to': address,
            **values,
        }

    def rules(self):
        path = f'/share-access-rules?share_id={self.share}'
        return self.call('GET', path).json()['access_list']

    def locked(self):
        found = self.client.locks(self.operator)
        return sorted(each['resource_type'] for each in found if each['resource_action'] != 'show')

    def test_get(self):
        found = self.client.get(self.member, self.share)
        path = f'10.254.0.5:/shares/{self.share}'
        self.assertEqual(
            {'id': self.share, 'status': 'available', 'protocol': 'NFS', 'export_location': path},
            found,
        )
        stranger = self.context_of('bob', 'elsewhere', 'member')
        for ctxt, share in ((stranger, self.share), (self.member, 'none'), (self.member, '')):
            self.assertRaises(exception.ShareNotFound, self.client.get, ctxt, share)

    def test_grant_and_revoke_may_be_repeated(self):
        attachment = self.attachment()
        for _ in range(2):
            self.assertTrue(self.client.grant(self.operator, attachment))
        (rule,) = self.rules()
        # Users do not see whom it admits.
        self.assertEqual(('ip', '******'), (rule['access_type'], rule['access_to']))
        self.assertEqual(['access_rule', 'share'], self.locked())
        for _ in range(2):
            self.client.revoke(self.operator, attachment)
        self.assertEqual([], self.rules())
        self.assertEqual([], self.locked())

    def test_attachments_of_one_host_use_one_rule(self):
        first, second, elsewhere = (
            self.attachment(),
            self.attachment(),
            self.attachment('10.0.0.2'),
        )
        for each in (first, second, elsewhere):
            self.client.grant(self.operator, each)
        self.assertEqual(2, len(self.rules()))
        self.client.revoke(self.operator, first)
        self.assertEqual(2, len(self.rules()))
        self.client.revoke(self.operator, elsewhere)
        self.assertEqual(1, len(self.rules()))
        self.client.revoke(self.operator, second)
        self.assertEqual([], self.rules())
        self.assertEqual([], self.locked())

    def test_a_user_of_ceph(self):
        self.share = self.make('CEPHFS')
        kind, user = share_client.access_of('CEPHFS', '10.0.0.1')
        self.client.grant(self.operator, self.attachment(user, access_type=kind))
        (rule,) = self.rules()
        self.assertEqual('cephx', rule['access_type'])

    def test_access_that_is_refused(self):
        attachment = self.attachment('nowhere')
        error = self.assertRaises(
            exception.ShareNotUsable, self.client.grant, self.operator, attachment
        )
        self.assertIn(f'Share {self.share} cannot be used', error.message)
        self.assertIn('nowhere', error.message)
        # The share is locked all the same until the attachment is given back.
        self.client.revoke(self.operator, attachment)
        self.assertEqual([], self.locked())

    def test_a_rule_of_users_stays(self):
        action = {'allow_access': {'access_type': 'ip', 'access_to': '10.0.0.1'}}
        self.call('POST', f'/shares/{self.share}/action', json=action)
        attachments = [self.attachment(), self.attachment()]
        for each in attachments:
            self.assertTrue(self.client.grant(self.operator, each))
        (rule,) = self.rules()
        self.assertEqual(['access_rule'] * 2 + ['share'] * 2, self.locked())
        for each in attachments:
            self.client.revoke(self.operator, each)
        self.assertEqual([rule], self.rules())
        self.assertEqual([], self.locked())

    def test_a_rule_of_users_that_only_permits_reading(self):
        wanted = {'access_type': 'ip', 'access_to': '10.0.0.1', 'access_level': 'ro'}
        self.call('POST', f'/shares/{self.share}/action', json={'allow_access': wanted})
        attachment = self.attachment()
        error = self.assertRaises(
            exception.ShareNotUsable, self.client.grant, self.operator, attachment
        )
        self.assertIn(f'Share {self.share} cannot be used: the access rule', error.message)
        self.assertIn('level ro instead of rw', error.message)
        self.client.revoke(self.operator, attachment)
        self.assertEqual((1, []), (len(self.rules()), self.locked()))

    def test_a_share_that_is_gone(self):
        attachment = self.attachment(share_id=runtime.new_uuid())
        self.assertRaises(exception.ShareNotFound, self.client.grant, self.operator, attachment)
        self.client.revoke(self.operator, attachment)

    def test_locks_of_others_do_not_count(self):
        lock = {'resource_id': self.share, 'resource_type': 'share', 'lock_reason': 'mine'}
        self.call('POST', '/resource-locks', json={'resource_lock': lock})
        self.assertEqual([], self.client.locks(self.operator))

    def test_more_attachments_than_a_page_has_locks(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.clients.share.PAGE', 2))
        made = [self.attachment() for _ in range(4)]
        for _ in range(2):
            for each in made:
                self.client.grant(self.operator, each)
        self.assertEqual(['access_rule'] * 4 + ['share'] * 4, self.locked())
        for each in made:
            self.assertEqual(1, len(self.rules()))
            self.client.revoke(self.operator, each)
        self.assertEqual(([], []), (self.locked(), self.rules()))
