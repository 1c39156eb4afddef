"""Output of nova-lite saga."""

import testtools

from nova_lite.lab.timeline import listing


class SecretsTest(testtools.TestCase):
    def test_user_data_is_not_shown(self):
        order = {'action': 'rebuild', 'changes': {'user_data': 'cGFzcw==', 'key_name': 'mine'}}
        shown = listing.without_secrets({'order': order, 'image': None})
        self.assertEqual({'user_data': '***', 'key_name': 'mine'}, shown['order']['changes'])
        self.assertEqual('rebuild', shown['order']['action'])
        # The saga itself still has them.
        self.assertEqual('cGFzcw==', order['changes']['user_data'])

    def test_there_may_be_none(self):
        for changes in ({}, {'user_data': None}):
            arguments = {'order': {'changes': changes}}
            self.assertEqual(arguments, listing.without_secrets(arguments))
        self.assertEqual({}, listing.without_secrets({}))
