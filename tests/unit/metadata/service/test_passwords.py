"""Passwords that guests report to the metadata service."""

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.metadata.service import callers
from nova_lite.metadata.service import servers
from tests.unit.metadata.service import base


class PasswordTest(base.Case):
    def post(self, password, *, status=200, **values):
        return self.ask(base.PASSWORD, 'POST', body=password, status=status, **values)

    def of(self, uuid=None):
        return self.api.call('GET', f'/servers/{uuid or self.uuid}/os-server-password').json

    def test_posted_shown_and_cleared(self):
        self.assertEqual('', self.ask(base.PASSWORD).text)
        longest = 'k' * 1020
        self.assertEqual(b'', self.post(longest).content)
        self.assertEqual({'password': longest}, self.of())
        self.assertEqual(longest, self.ask(base.PASSWORD).text)
        self.api.call('DELETE', f'/servers/{self.uuid}/os-server-password')
        self.assertEqual({'password': ''}, self.of())
        self.post('again')
        self.assertEqual({'password': 'again'}, self.of())

    def test_only_once(self):
        self.post('first')
        answer = self.post('second', status=409)
        self.assertIn('is set already', answer.text)
        self.assertEqual({'password': 'first'}, self.of())

    def test_refused(self):
        for body in ('x' * 1021, '', ' \n', 'ü', 'a\x00b', b'\xff'):
            self.assertIn('password', self.post(body, status=400).text)
        self.post('x', status=403, **{callers.SIGNATURE: 'wrong'})
        self.assertEqual({'password': ''}, self.of())

    def test_incomplete_body(self):
        headers = self.headers(Content_Length='10')
        answer = self.client.simulate_request('POST', base.PASSWORD, headers=headers, body='half')
        self.assertEqual(400, answer.status_code)
        self.assertIn('incomplete', answer.text)
        self.assertEqual({'password': ''}, self.of())

    def test_keeps_other_system_metadata(self):
        uuid = self.add_server(system_metadata={'image_os': 'linux'})
        self.post('secret', uuid=uuid)
        self.assertEqual('linux', self.api.row(uuid).system_metadata['image_os'])

    def test_while_the_server_changes_cells(self):
        self.api.cell('cell1').db.write(instances.update, self.uuid, {'sealed': True})
        answer = self.post('secret', status=503)
        self.assertIn('changing cells', answer.text)

    def test_server_that_has_just_changed_cells(self):
        for found in (self.make_servers(), servers.CellServers(self.api.cell('cell1').db)):
            server = found.get(self.uuid, 'alpha')
            self.api.cell('cell1').db.write(instances.update, self.uuid, {'hidden': True})
            self.assertRaises(exception.Unavailable, found.store_password, server, 'secret')
            self.api.cell('cell1').db.write(instances.update, self.uuid, {'hidden': False})

    def test_is_not_logged(self):
        self.post('top secret')
        self.assertNotIn('top secret', self.log.output)
