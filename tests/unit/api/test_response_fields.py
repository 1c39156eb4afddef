"""Answers have the fields of nova-responses.yaml, at each microversion with which they change."""

import testscenarios
import testtools

from nova_lite.api import console_tokens
from nova_lite.api import operation
from nova_lite.api import removed
from nova_lite.virt.sim import facts
from tests.fixtures import compute_api
from tests.fixtures import response_fields
from tests.fixtures import shown_api
from tests.fixtures import shown_requests
from tests.unit.api.servers import test_diagnostics

RESPONSES = response_fields.load()
# Those of /os-volumes_boot are others of /servers.
OPERATIONS = [
    each
    for each in operation.load_all()
    if each.handler is not removed.refuse and not each.path.startswith('/os-volumes_boot')
]
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

# Up to 2.30 tokens of consoles are of a kind that does not exist any more.
REFUSING = (console_tokens.refuse,)


def minors(each):
    """The minor versions before and with which the fields of an answer change."""
    first, last = each.since.minor, each.until.minor
    edges = RESPONSES.edges(str(each)) | {first, last}
    return sorted({m for edge in edges for m in (edge - 1, edge) if first <= m <= last})


class TestFields(testscenarios.WithScenarios, testtools.TestCase):
    api = None
    scenarios = [
        (f'{each} {each.since}', {'operation': each})
        for each in OPERATIONS
        if str(each) in RESPONSES.answers and each.handler not in REFUSING
    ]

    def setUp(self):
        super().setUp()
        api = compute_api.shared(self, shown_api.ShownApi)
        found = facts.diagnostics(test_diagnostics.GUEST, 'QEMU', 10.0)
        api.compute['cell1'].answers['get_diagnostics'] = found

    def test_fields(self):
        name = str(self.operation)
        for minor in minors(self.operation):
            answer = shown_requests.send(self.api, self.operation, minor)
            self.assertLess(answer.status_code, 300, f'2.{minor}: {answer.text}')
            body = answer.json if answer.content else None
            self.assertEqual([], RESPONSES.differences(name, minor, body), f'2.{minor}: {body}')


class TestFile(testtools.TestCase):
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
