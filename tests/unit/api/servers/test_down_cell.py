"""Every operation on one server while the database of its cell cannot be reached.

Operations come from the registry: a new one is tested without another line here,
unless it needs a body.
"""

import testtools

from nova_lite.api import operation
from nova_lite.api import removed
from nova_lite.db.api import instance_mappings
from tests.fixtures import api_neighbours
from tests.fixtures import compute_api
from tests.fixtures import servers_api
from tests.unit.api.servers import base

ID = api_neighbours.PORT_ID
ADMIN = {**base.ADMIN, 'roles': 'admin,service'}
# Bodies by action, or by path, where null will not do.
BODIES = {
    'os-getConsoleOutput': {},
    'os-getVNCConsole': {'type': 'novnc'},
    'os-getSPICEConsole': {'type': 'spice-html5'},
    'os-getSerialConsole': {'type': 'serial'},
    'os-migrateLive': {'host': None, 'block_migration': False, 'disk_over_commit': False},
    'evacuate': {'onSharedStorage': False},
    'reboot': {'type': 'SOFT'},
    'os-resetState': {'state': 'active'},
    'resize': {'flavorRef': '42'},
    'rebuild': {'imageRef': ID},
    'createImage': {'name': 'copy'},
    'createBackup': {'name': 'copy', 'backup_type': 'daily', 'rotation': 1},
    'addSecurityGroup': {'name': 'web'},
    'removeSecurityGroup': {'name': 'web'},
    'changePassword': {'adminPass': 'secret'},
    'addFloatingIp': {'address': '192.0.2.1'},
    'removeFloatingIp': {'address': '192.0.2.1'},
    'addFixedIp': {'networkId': ID},
    'removeFixedIp': {'address': '192.0.2.1'},
    '/remote-consoles': {'remote_console': {'protocol': 'vnc', 'type': 'novnc'}},
    'POST /os-interface': {'interfaceAttachment': {'port_id': ID}},
    'POST /shares': {'share': {'share_id': ID}},
    'POST /metadata': {'metadata': {'key': 'value'}},
    'PUT /metadata': {'metadata': {'key': 'value'}},
    'PUT /metadata/{key}': {'meta': {'key': 'value'}},
    'PUT /tags': {'tags': ['tag']},
    'PUT ': {'server': {'name': 'other'}},
    'POST /os-volume_attachments': {'volumeAttachment': {'volumeId': ID}},
    'PUT /os-volume_attachments/{volume_id}': {'volumeAttachment': {'volumeId': ID}},
}
PARTS = {'port_id': ID, 'volume_id': ID, 'share_id': ID, 'key': 'key', 'migration_id': '1', 'tag': 'tag',
         'network_label': 'private', 'request_id': 'req-1', 'id': '1'}  # fmt: skip


def on_one_server():
    """(operation, body) of all that there are."""
    for each in operation.load_all():
        if not each.path.startswith('/servers/{server_id}') or _is_gone(each):
            continue
        below = each.path.removeprefix('/servers/{server_id}')
        body = None
        if each.action is not None:
            body = {each.action: BODIES.get(each.action)}
        elif each.method in ('POST', 'PUT'):
            body = BODIES.get(f'{each.method} {below}', BODIES.get(below))
        yield each, body


def _is_gone(each):
    """Return whether the operation answers only that it was removed."""
    return each.handler.__module__ == removed.__name__ or each.action == 'os-getRDPConsole'


class TestOneServer(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.api = self.useFixture(servers_api.ServersApi())
        self.uuid = self.api.add_server(cell='cell2')
        database = self.api.cell('cell2').db
        database.dispose()
        database.url, database._engine = 'sqlite:////nonexistent/directory/x.sqlite', None

    def answers(self, who=ADMIN):
        """[(operation, code, message), ...] of all operations."""
        found = []
        for each, body in on_one_server():
            path = each.path.format(server_id=self.uuid, **PARTS)
            answer = self.api.call(each.method, path, body, version=str(each.since), who=who)
            (error,) = answer.json.values()
            found.append((str(each), answer.status_code, error['message']))
        self.assertThat(len(found), testtools.matchers.GreaterThan(50))
        return found

    def assert_all(self, code, message, found):
        self.assertEqual([(name, code, message) for name, _code, _message in found], found)

    def test_who_is_away_is_told(self):
        message = f'The cell of server {self.uuid} does not answer. Try again later.'
        self.assert_all(503, message, self.answers())
        mapping = self.api.api_db.read(instance_mappings.get, self.uuid)
        self.assertFalse(mapping.queued_for_delete)

    def test_one_that_was_deleted_is_not_found(self):
        self.api.api_db.write(instance_mappings.set_queued_for_delete, [self.uuid])
        self.assert_all(404, f'Instance {self.uuid} could not be found.', self.answers())
        answer = self.api.call('GET', f'/servers/{self.uuid}', version='2.69')
        self.assertEqual(404, answer.status_code)

    def test_one_of_another_project_is_not_found(self):
        found = self.answers(who=compute_api.OTHER)
        self.assert_all(404, f'Instance {self.uuid} could not be found.', found)
