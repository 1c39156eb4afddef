"""Users are locked after failed logins, as Keystone's lockout options do."""

import datetime

from nova_lite import runtime
from nova_lite.simcloud.identity import password_hashes
from tests.unit.simcloud import base

ATTEMPTS, DURATION_S = 3, 600


class LockoutTest(base.SimCloudTestCase):
    OPTIONS = {
        'auth': 'keystone',
        'lockout_failure_attempts': ATTEMPTS,
        'lockout_duration_s': DURATION_S,
    }

    def setUp(self):
        super().setUp()
        made = self.admin.post(
            '/identity/v3/users', {'user': {'name': 'alice', 'password': 'right'}}
        )
        self.alice = made['user']['id']

    def try_login(self, password, *, user='alice', expect=401):
        body = base.login_body(user, password)
        return self.anyone.post('/identity/v3/auth/tokens', body, expect=expect)

    def fail(self, times=ATTEMPTS, user='alice'):
        return [self.try_login('wrong', user=user) for _number in range(times)]

    def later(self, seconds):
        """Set the clock ahead."""
        now = runtime.naive_now() + datetime.timedelta(seconds=seconds)
        self.patch(runtime, 'naive_now', lambda: now)

    def test_a_locked_user(self):
        refused = self.fail()
        self.assertEqual(refused[0], self.try_login('right'))
        self.try_login('pw-demo', user='demo', expect=201)

    def test_failures_at_the_same_time_count_each(self):
        """Both are checked before either is counted."""
        matches = password_hashes.matches
        nested = ['wrong'] * (ATTEMPTS - 1)

        def check(password, known):
            if nested:
                self.try_login(nested.pop())
            return matches(password, known)

        self.patch(password_hashes, 'matches', check)
        self.try_login('wrong')
        self.try_login('right')

    def test_a_right_password_ends_the_count(self):
        for _number in range(2):
            self.fail(ATTEMPTS - 1)
            self.try_login('right', expect=201)

    def test_the_lock_ends(self):
        self.fail()
        self.later(DURATION_S + 1)
        self.fail(ATTEMPTS - 1)
        self.try_login('right', expect=201)

    def test_attempts_while_locked_do_not_prolong_the_lock(self):
        self.fail()
        self.later(DURATION_S - 1)
        self.try_login('wrong')
        self.later(2)
        self.try_login('right', expect=201)

    def test_an_administrator_ends_the_lock(self):
        self.fail()
        path = f'/identity/v3/users/{self.alice}'
        self.admin.request('PATCH', path, {'user': {'description': 'x'}})
        self.try_login('right')
        self.admin.request('PATCH', path, {'user': {'enabled': True}})
        self.try_login('right', expect=201)

    def test_changes_of_the_password_count(self):
        path = f'/identity/v3/users/{self.alice}/password'
        body = {'user': {'original_password': 'wrong', 'password': 'new'}}
        for _number in range(ATTEMPTS):
            self.demo.post(path, body, expect=401)
        self.try_login('right')

    def test_services_are_exempt(self):
        self.fail(ATTEMPTS + 1, user='nova')
        self.try_login('pw-service', user='nova', expect=201)

    def test_unknown_and_deleted_users(self):
        self.fail(ATTEMPTS + 1, user='nobody')
        self.fail()
        self.admin.delete(f'/identity/v3/users/{self.alice}')
        self.assertEqual([], self.change_database('SELECT * FROM identity_failed_logins'))


class NoLockoutTest(base.SimCloudTestCase):
    """Without the option there is no limit, as in Keystone."""

    def test_many_failures(self):
        body = base.login_body('demo', 'wrong')
        for _number in range(20):
            self.anyone.post('/identity/v3/auth/tokens', body, expect=401)
        self.assertEqual([], self.change_database('SELECT * FROM identity_failed_logins'))
        body = base.login_body('demo', 'pw-demo')
        self.anyone.post('/identity/v3/auth/tokens', body, expect=201)
