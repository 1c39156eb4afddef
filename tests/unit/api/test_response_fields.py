"""Answers have the fields of nova-responses.yaml, at each microversion with which they change."""

import json

import testscenarios
import testtools

from nova_lite.db.cell import instances
from tests.fixtures import answered
from tests.fixtures import compute_api
from tests.fixtures import shown_api
from tests.fixtures import shown_requests

RESPONSES = answered.RESPONSES
OPERATIONS = answered.OPERATIONS
# These wait for a saga, which no process runs here; Tempest compares their answers.
WAITING = {
    'POST /servers/{server_id}/os-interface',
    'POST /servers/{server_id}/os-volume_attachments',
    'POST /servers/{server_id}/shares',
}
# Nova answers with an error, without a body, or with a text.
BARE = {
    *(f'GET /os-hosts/{{host}}/{action}' for action in ('reboot', 'shutdown', 'startup')),
    'GET /os-baremetal-nodes',
    'GET /os-baremetal-nodes/{id}',
    'GET /versions/{id}',
    'POST /os-baremetal-nodes',
    'POST /os-security-group-rules',
    *(f'POST /os-baremetal-nodes/{{id}}/action ({verb}_interface)' for verb in ('add', 'remove')),
    'POST /servers/{server_id}/action (os-getRDPConsole)',
    'PUT /servers/{server_id}/tags/{tag}',
}


def minors(each):
    """The minor versions before and with which the fields of an answer change."""
    first, last = each.since.minor, each.until.minor
    edges = RESPONSES.edges(str(each)) | {first, last}
    return sorted({m for edge in edges for m in (edge - 1, edge) if first <= m <= last})


class TestFields(testscenarios.WithScenarios, testtools.TestCase):
    api = None
    scenarios = [(f'{each} {each.since}', {'operation': each}) for each in answered.shown()]

    def setUp(self):
        super().setUp()
        compute_api.shared(self, shown_api.ShownApi)

    def test_fields(self):
        name = str(self.operation)
        for minor in minors(self.operation):
            answer = shown_requests.send(self.api, self.operation, minor)
            self.assertLess(answer.status_code, 300, f'2.{minor}: {answer.text}')
            body = answer.json if answer.content else None
            self.assertEqual([], RESPONSES.differences(name, minor, body), f'2.{minor}: {body}')


class TestStates(testscenarios.WithScenarios, testtools.TestCase):
    """Servers that are on no host, and that an administrator asks for."""

    api = None
    scenarios = [
        ('building', {'cell': 'cell1', 'state': {'vm_state': 'building', 'power_state': 0}}),
        ('in cell0', {'cell': 'cell0', 'state': {'vm_state': 'error', 'power_state': 0}}),
        ('offloaded', {'cell': 'cell1', 'state': {'vm_state': 'shelved_offloaded'}}),
    ]

    def setUp(self):
        super().setUp()
        compute_api.shared(self, shown_api.ShownApi)

    def test_fields(self):
        uuid = self.api.add(self.cell, host=None, node=None, **self.state)
        for name, path, key in (
            ('GET /servers/{server_id}', f'/servers/{uuid}', 'server'),
            ('GET /servers', f'/servers?uuid={uuid}', 'servers'),
            ('GET /servers/detail', f'/servers/detail?uuid={uuid}', 'servers'),
        ):
            for minor in minors(next(each for each in OPERATIONS if str(each) == name)):
                body = self.api.ask('GET', path, version=f'2.{minor}')
                self.assertNotEqual([], body[key])
                self.assertEqual([], RESPONSES.differences(name, minor, body), f'2.{minor}: {body}')


# What deleted servers have no longer.
DELETED = {
    'GET /servers': [],
    'GET /servers/detail': [
        'servers[].os-extended-volumes:volumes_attached is no list with items: []',
        'servers[].security_groups is missing',
    ],
}


class TestDeleted(testtools.TestCase):
    """Deleted servers, which only administrators list, in full."""

    api = None

    def test_fields(self):
        compute_api.shared(self, shown_api.ShownApi)
        uuid = self.api.add('cell1')
        self.api.cell('cell1').db.write(instances.mark_deleted, uuid)
        for name, path in (
            ('GET /servers', '/servers'),
            ('GET /servers/detail', '/servers/detail'),
        ):
            for minor in minors(next(each for each in OPERATIONS if str(each) == name)):
                query = f'{path}?deleted=True&uuid={uuid}'
                body = self.api.ask('GET', query, version=f'2.{minor}')
                self.assertEqual([uuid], [each['id'] for each in body['servers']])
                found = RESPONSES.differences(name, minor, body)
                self.assertEqual(DELETED[name], found, f'2.{minor}: {body}')
                self.api.ask('GET', f'/servers/{uuid}', version=f'2.{minor}', codes=(404,))


class TestFile(testtools.TestCase):
    def test_samples(self):
        """The reference page shows an answer of each, which has the fields of now."""
        with answered.FILE.open() as opened:
            samples = json.load(opened)
        self.assertEqual({answered.key(each) for each in answered.shown()}, set(samples))
        for each in answered.shown():
            body = samples[answered.key(each)]
            self.assertEqual([], RESPONSES.differences(str(each), each.until.minor, body), each)

    def test_nothing_is_left_over(self):
        known = {str(each) for each in OPERATIONS}
        self.assertEqual(set(), RESPONSES.answers.keys() - known)
        self.assertEqual(set(), RESPONSES.unused())

    def test_nothing_is_missing(self):
        """A body is in answers of these codes; some others have one, too."""
        answering = {
            str(each)
            for each in OPERATIONS
            if each.success in (200, 201) and each.method != 'DELETE'
        }
        self.assertEqual(WAITING | BARE, answering - RESPONSES.answers.keys())
