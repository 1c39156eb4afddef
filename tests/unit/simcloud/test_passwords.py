"""Passwords at rest."""

import testtools

from nova_lite.simcloud import options
from nova_lite.simcloud.identity import passwords

# What releases before that named the cost stored for 'secret'.
WITHOUT_COST = 'scrypt$salt$uW8BVoxW60R3GdM4AtAswVJAW4SnpTX7zm7y8iQ1/74='


class PasswordTestCase(testtools.TestCase):
    def test_a_hash_names_its_cost(self):
        for cost in (2, 16):
            stored = passwords.hashed('secret', cost)
            self.assertTrue(stored.startswith(f'scrypt${cost}$'), stored)
            self.assertTrue(passwords.matches('secret', stored))
            self.assertFalse(passwords.matches('Secret', stored))

    def test_hashes_of_earlier_releases_match(self):
        self.assertTrue(passwords.matches('secret', WITHOUT_COST))
        self.assertFalse(passwords.matches('Secret', WITHOUT_COST))

    def test_without_a_password_nothing_matches(self):
        self.assertFalse(passwords.matches('', None))

    def test_only_tests_have_a_low_cost(self):
        self.assertEqual(4096, options.Options().password_cost)
