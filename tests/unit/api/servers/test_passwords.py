"""changePassword, and the password that a guest encrypted."""

import logging

import fixtures

from nova_lite import exception
from nova_lite.db.cell import actions
from nova_lite.db.cell import services
from tests.fixtures import compute_api
from tests.unit.api.servers import base

BODY = {'adminPass': 'open sesame'}
CHECK = 'check_set_admin_password'


class TestChangePassword(base.Case):
    def test_checked_then_sent(self):
        uuid = self.api.add_server(image_properties={'hw_qemu_guest_agent': 'yes'})
        self.act(uuid, 'changePassword', BODY)
        (check, asked), (method, arguments) = self.sent()
        self.assertEqual((CHECK, True), (check, asked['has_agent']))
        self.assertEqual(('set_admin_password', 'open sesame'), (method, arguments['password']))
        row = self.api.row(uuid)
        self.assertEqual(('active', 'updating_password'), (row.vm_state, row.task_state))
        action = self.api.cell('cell1').db.read(actions.find_newest, uuid)
        self.assertEqual('changePassword', action.action)
        self.assertNotIn('sesame', str(row))
        self.assertEqual('PASSWORD', self.ok('GET', f'/servers/{uuid}').json['server']['status'])

    def test_refused_by_the_host(self):
        uuid = self.api.add_server()
        for error, code, text in (
            (exception.GuestAgentNotEnabled(), 409, 'agent'),
            (exception.PasswordSetFailed(instance_id=uuid, reason='reasons'), 409, 'reasons'),
            (exception.NotImplementedHere('Unable to set password'), 501, 'Unable'),
        ):
            self.api.compute['cell1'].answers[CHECK] = error
            self.refused_act(uuid, 'changePassword', BODY, code=code, text=text)
        self.assertIsNone(self.api.row(uuid).task_state)
        self.assertEqual({CHECK}, {method for method, _arguments in self.sent()})

    def test_a_cast_that_is_lost(self):
        """Its host ends the action, since no record has the password."""
        log = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.api.compute['cell1'].answers['set_admin_password'] = exception.Unavailable(
            service='bus', reason='no broker'
        )
        uuid = self.api.add_server()
        self.act(uuid, 'changePassword', BODY)
        self.assertEqual('updating_password', self.api.row(uuid).task_state)
        self.assertIn('resumes or ends it later', log.output)
        self.assertNotIn(BODY['adminPass'], log.output)

    def test_refused(self):
        uuid = self.api.add_server()
        for value in (None, {}, {'adminPass': 1}, {**BODY, 'more': 1}):
            self.refused_act(uuid, 'changePassword', value, code=400)
        reader = compute_api.READER
        self.refused_act(uuid, 'changePassword', BODY, code=403, who=reader)
        for values in ({'vm_state': 'stopped'}, {'task_state': 'rebooting'}, {'locked': True}):
            other = self.api.add_server(**values)
            self.refused_act(other, 'changePassword', BODY, code=409)
        service = self.api.cell('cell1').db.read(services.find, 'host1')
        self.api.cell('cell1').db.write(services.update, service.uuid, {'forced_down': True})
        self.refused_act(uuid, 'changePassword', BODY, code=409, text='host1')
        self.assertEqual([], self.sent())


class TestServerPassword(base.Case):
    def test_shown_and_cleared(self):
        parts = {'password_0': 'ab', 'password_1': 'cd', 'other': 'stays'}
        uuid = self.api.add_server(system_metadata=parts)
        path = f'/servers/{uuid}/os-server-password'
        self.assertEqual({'password': 'abcd'}, self.ok('GET', path).json)
        self.refused('DELETE', path, code=403, who=compute_api.READER)
        self.ok('DELETE', path, code=204)
        self.assertEqual({'password': ''}, self.ok('GET', path).json)
        self.assertEqual({'other': 'stays'}, self.api.row(uuid).system_metadata)
        self.ok('DELETE', path, code=204)
