"""Logins that are refused cost the same, whether or not there is such a user."""

import hashlib

import fixtures

from tests.unit.simcloud import base


class LoginTimeTest(base.SimCloudTestCase):
    def hashes(self, user):
        """Return how many passwords are hashed for a login that is refused."""
        made, scrypt = [], hashlib.scrypt

        def counted(password, **options):
            made.append(options['n'])
            return scrypt(password, **options)

        body = {'auth': {'identity': {'methods': ['password'], 'password': {'user': user}}}}
        with fixtures.MonkeyPatch('hashlib.scrypt', counted):
            self.demo.post('/identity/v3/auth/tokens', body, expect=401)
        return made

    def test_refused_logins(self):
        default = {'id': 'default'}
        known = self.hashes({'name': 'demo', 'domain': default, 'password': 'wrong'})
        self.assertEqual(1, len(known))
        for user in (
            {'name': 'nobody', 'domain': default},
            {'name': 'demo', 'domain': {'id': 'none'}},
            {'name': 'demo', 'domain': {'name': 'none'}},
            {'id': 'none'},
        ):
            self.assertEqual(known, self.hashes({**user, 'password': 'wrong'}), user)

    def test_a_disabled_user(self):
        made = self.admin.post('/identity/v3/users', {'user': {'name': 'off', 'password': 'right'}})
        user = {'id': made['user']['id'], 'password': 'right'}
        self.admin.request(
            'PATCH', f'/identity/v3/users/{user["id"]}', {'user': {'enabled': False}}
        )
        self.assertEqual(1, len(self.hashes(user)))
