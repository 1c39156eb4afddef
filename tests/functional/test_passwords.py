"""Passwords in a whole cloud: set, carried along by moves, refused, and failed to be set."""

import json

from nova_lite.db.api import sagas
from nova_lite.virt.sim import passwords
from tests.fixtures import attaching
from tests.fixtures import moving
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

SECRET = 'open sesame'
BODY = {'adminPass': SECRET}
EVENT = 'compute_set_admin_password'


class PasswordsTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def change(self, server, **options):
        return self.moving.act(server, 'changePassword', BODY, **options)

    def assert_kept(self, server):
        kept = attaching.Attaching(self.cloud).guest(server).spec.password
        self.assertTrue(passwords.matches(kept, SECRET))

    def assert_not_in_journals(self, server):
        """The hash of a password stays in no journal of a saga that has ended."""
        kept = attaching.Attaching(self.cloud).guest(server).spec.password
        rows = moving.Moving(self.cloud).world.api_db.read(sagas.every, instance_uuid=server.id)
        self.assertNotEqual([], rows)
        self.assertNotIn(kept, json.dumps([row.data for row in rows]))

    def test_goes_along_with_moves(self):
        server = self.cloud.boot()
        self.change(server)
        self.cloud.wait(server)
        self.assert_kept(server)
        self.assertEqual([(EVENT, 'Success')], self.moving.events(server, 'changePassword'))
        self.moving.go(server)
        self.moving.ended(server)
        self.assert_kept(server)
        self.assert_not_in_journals(server)
        self.moving.act(server, 'migrate')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)
        self.assert_kept(server)
        self.assert_not_in_journals(server)

    def test_hosts_that_cannot(self):
        server, other = self.cloud.boot(), self.cloud.boot(image='debian', flavor='m1.small')
        self.cloud.behave('extends: instant\nhosts: [{passwords: agent}]\n')
        self.assertIn('agent', self.change(server, status=409).text)
        self.change(other)
        self.cloud.wait(other)
        self.assert_kept(other)
        self.cloud.behave('extends: instant\nhosts: [{passwords: never}]\n')
        with self.cloud.server_errors.announced(501):
            self.change(other, status=501)
        self.cloud.wait(other)

    def test_a_change_that_fails(self):
        server = self.cloud.boot()
        self.cloud.behave('extends: instant\nfailures: [{verb: set_password, first: 1}]\n')
        self.change(server)
        self.cloud.wait(server, 'ERROR')
        self.assertEqual([(EVENT, 'Error')], self.moving.events(server, 'changePassword'))
        self.moving.act(server, 'reboot', {'type': 'HARD'})
        self.cloud.wait(server)
        self.change(server)
        self.cloud.wait(server)
        self.assert_kept(server)
