"""TLS contexts, which are made once."""

import ssl

import testtools

from nova_lite.dialects import mariadb


class EncryptionTest(testtools.TestCase):
    def context(self, **settings):
        return mariadb.Connection(defer_connect=True, **settings).ctx

    def test_connections_without_settings_share_a_context(self):
        found = self.context()
        self.assertIs(found, self.context())
        self.assertEqual(ssl.CERT_NONE, found.verify_mode)
        self.assertFalse(found.check_hostname)

    def test_others_have_their_own(self):
        found = self.context(ssl_verify_cert=True, ssl_verify_identity=True)
        self.assertIsNot(self.context(), found)
        self.assertEqual(ssl.CERT_REQUIRED, found.verify_mode)
