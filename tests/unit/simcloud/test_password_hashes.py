"""Passwords at rest."""

import hashlib

import fixtures
import testtools

from nova_lite.simcloud import options
from nova_lite.simcloud.identity import password_hashes

# What releases before that named the cost stored for 'secret'.
WITHOUT_COST = 'scrypt$salt$uW8BVoxW60R3GdM4AtAswVJAW4SnpTX7zm7y8iQ1/74='


class PasswordTestCase(testtools.TestCase):
    def test_a_hash_names_its_cost(self):
        for cost in (2, 16):
            stored = password_hashes.hashed('secret', cost)
            self.assertTrue(stored.startswith(f'scrypt${cost}$'), stored)
            # One that does not know it yet.
            verifier = password_hashes.Verifier()
            self.assertTrue(verifier.matches('secret', stored))
            self.assertFalse(verifier.matches('Secret', stored))

    def test_hashes_of_earlier_releases_match(self):
        self.assertTrue(password_hashes.matches('secret', WITHOUT_COST))
        self.assertFalse(password_hashes.matches('Secret', WITHOUT_COST))

    def test_without_a_password_nothing_matches(self):
        self.assertFalse(password_hashes.matches('', None))

    def test_only_tests_have_a_low_cost(self):
        self.assertEqual(4096, options.Options().password_cost)


class VerifierTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.verifier = password_hashes.Verifier()
        self.stored = password_hashes.hashed('secret', 2)
        self.computed = 0
        scrypt = hashlib.scrypt

        def counted(*args, **kwargs):
            self.computed += 1
            return scrypt(*args, **kwargs)

        self.useFixture(fixtures.MonkeyPatch('hashlib.scrypt', counted))

    def test_what_was_right_is_not_computed_again(self):
        for _ in range(3):
            self.assertTrue(self.verifier.matches('secret', self.stored))
        self.assertEqual(1, self.computed)

    def test_what_it_hashed_is_not_computed_again(self):
        stored = self.verifier.hashed('new', 2)
        self.assertTrue(self.verifier.matches('new', stored))
        self.assertEqual(1, self.computed)
        self.assertFalse(self.verifier.matches('New', stored))

    def test_what_was_wrong_is_computed_each_time(self):
        self.assertTrue(self.verifier.matches('secret', self.stored))
        for _ in range(2):
            self.assertFalse(self.verifier.matches('Secret', self.stored))
        self.assertEqual(3, self.computed)

    def test_a_changed_password_is_compared_anew(self):
        self.assertTrue(self.verifier.matches('secret', self.stored))
        changed = password_hashes.hashed('another', 2)
        self.assertFalse(self.verifier.matches('secret', changed))
        self.assertTrue(self.verifier.matches('another', changed))

    def test_so_many_are_remembered(self):
        self.useFixture(fixtures.MonkeyPatch(f'{password_hashes.__name__}.MOST_VERIFIED', 2))
        for password in ('a', 'b', 'c'):
            self.assertTrue(self.verifier.matches(password, password_hashes.hashed(password, 2)))
        self.assertTrue(self.verifier.matches('secret', self.stored))
        before = self.computed
        self.assertTrue(self.verifier.matches('secret', self.stored))
        self.assertEqual(before, self.computed)
