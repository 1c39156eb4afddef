"""A server at every step of its way to another cell and back: seen once, and left alone."""

import datetime

from nova_lite import runtime
from tests.fixtures import crossing
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.sim.cases import loading

load_tests = loading.load_tests
SOURCE, DEST = 'cell1-host1', 'cell2-host1'
# What no server in a move, or waiting for its user, lets be done to it.
ACTIONS = (
    ('reboot', {'type': 'HARD'}),
    ('pause', None),
    ('suspend', None),
    ('createImage', {'name': 'too-soon'}),
    ('migrate', None),
    ('shelve', None),
    ('os-migrateLive', {'host': None, 'block_migration': 'auto'}),
)
EVENTS = ('network-changed', 'network-vif-plugged')


class PointsTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.crossing = crossing.Crossing(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.began = runtime.now() - datetime.timedelta(seconds=5)
        self.wrong = []

    def look(self, server, where):
        """Note whatever is not as it should be at this point."""
        self.listed(server, where)
        status, task = self.state(server)
        if (status, task) != ('ACTIVE', None):
            for name, content in ACTIONS:
                code = self.stage.send(server, name, content)
                if code != 409:
                    self.wrong.append((where, status, task, name, code))
        self.told(server, where)

    def state(self, server):
        answer = self.cloud.api('GET', f'/servers/{server.id}', version=moving.LATEST)
        found = answer.json().get('server', {})
        return found.get('status', answer.status_code), found.get('OS-EXT-STS:task_state')

    def listed(self, server, where):
        """Every list shows the server once, and its migrations once."""
        since = self.began.strftime('%Y-%m-%dT%H:%M:%SZ')
        for query in (
            '',
            'limit=10',
            f'changes-since={since}',
            f'uuid={server.id}',
            f'name={server.name}&all_tenants=1',
        ):
            for path in ('/servers', '/servers/detail'):
                found = self.cloud.api('GET', f'{path}?{query}', version=moving.LATEST).json()
                seen = [each['id'] for each in found['servers']]
                if seen.count(server.id) != 1:
                    self.wrong.append((where, path, query, seen))
        found = [each['uuid'] for each in self.stage.migrations(server)]
        if len(found) != len(set(found)):
            self.wrong.append((where, 'os-migrations', found))
        deleted = self.cloud.api('GET', '/servers?deleted=true', version=moving.LATEST).json()
        if server.id in [each['id'] for each in deleted['servers']]:
            self.wrong.append((where, 'deleted'))

    def told(self, server, where):
        """Other services tell of the server's ports, wherever it is."""
        events = [{'name': name, 'server_uuid': server.id} for name in EVENTS]
        answer = self.cloud.api('POST', '/os-server-external-events', json={'events': events})
        codes = [event['code'] for event in answer.json()['events']]
        if codes != [200] * len(EVENTS):
            self.wrong.append((where, 'events', codes))

    def play(self, server, kind, ask):
        """Look at the server before each step of a saga that `ask` begins, and after it."""
        self.faults.fault = looks = saga_faults.Look(kind, lambda step: self.look(server, step))
        ask()
        self.assertEqual('done', self.faults.ended(server).state)
        self.assertEqual([], looks.errors)
        self.faults.fault = None
        steps = saga_faults.steps_of(kind, {})
        self.assertEqual([step.id for step in steps], looks.met)
        self.look(server, 'at its end')
        self.assertEqual([], self.wrong)

    def migrate(self, server, host=DEST):
        self.stage.act(server, 'migrate', {'host': host})

    def there(self, server):
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)

    def test_there_and_back(self):
        server = self.stage.boot_full(availability_zone=f'nova:{SOURCE}')
        self.play(server, 'cross-cell-migrate', lambda: self.migrate(server))
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.play(server, 'cross-cell-revert', lambda: self.stage.act(server, 'revertResize'))

    def test_confirmed(self):
        server = self.stage.boot_full(availability_zone=f'nova:{SOURCE}')
        self.there(server)
        self.play(
            server,
            'cross-cell-confirm',
            lambda: self.stage.act(server, 'confirmResize', status=204),
        )
