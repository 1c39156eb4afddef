"""Every operation is sent bodies, queries and ids that are wrong: never a 5xx.

NOVA_LITE_TEST_EXAMPLES says how many requests each operation gets; they are chosen at
random then.
"""

import json
import urllib.parse

import fixtures
import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from nova_lite.api import faults
from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.db.api import quotas
from tests.fixtures import compute_api
from tests.fixtures import examples
from tests.fixtures import hostile
from tests.fixtures import neighboured_api
from tests.fixtures import servers_api

IDS = ('1', '42', '0', '-1', 'x', 'detail', '%00', '%F0%9F%98%80', 'a' * 300, '..%2f', hostile.UUID,
       '99999999999999999999', 'd7a0f0a15f3e4a399f8a2d3d1c6d2f11')  # fmt: skip
SETTINGS = examples.settings(3)
# Of each, its cell and columns.
SERVERS = (
    ('cell1', {}),
    ('cell2', {'vm_state': 'stopped'}),
    ('cell0', {'host': None, 'vm_state': 'error', 'launched_at': None}),
    ('cell1', {'project_id': 'beta'}),
)
PROXIES = 'nova_lite.api.proxies.'
# Diagnostics of a guest without devices.
COUNTERS = {
    'memory_details': {'maximum': 192},
    'cpu_details': [],
    'disk_details': [],
    'nic_details': [],
}
# Answers that say a neighbour or a host does not answer are no fault of ours.
ALLOWED_5XX = (501, 503)


def minors(each):
    """The microversions at which an operation and its schemas differ."""
    firsts = {each.since, each.until, *each.query.firsts()}
    if each.body is not None:
        firsts.update(each.body.firsts())
    return sorted(first.minor for first in firsts if each.since <= first <= each.until)


def scenarios_of(methods, *, proxies=False):
    """A scenario for each operation with one of these methods, or for each that is a proxy."""
    return [
        (f'{each} {each.since}', {'operation': each})
        for each in operation.load_all()
        if each.method in methods and each.handler.__module__.startswith(PROXIES) == proxies
    ]


class Malformed:
    """The case of each operation; workers run whole classes, so three divide the operations.

    make_api: the fixture
    The cases of a class share an API for as long as its servers stay as they are.
    """

    api = None
    make_api = servers_api.ServersApi

    @classmethod
    def tearDownClass(cls):
        cls._leave()
        super().tearDownClass()

    @classmethod
    def _leave(cls):
        if cls.api is not None:
            cls.api.cleanUp()
            cls.api = None

    @classmethod
    def _enter(cls):
        cls.api = cls.make_api()
        cls.api.setUp()
        limits = {'instances': 30, 'cores': -1, 'ram': -1}
        cls.api.api_db.write(quotas.set_limits, 'alpha', limits)
        for each in cls.api.compute.values():
            each.answers['get_diagnostics'] = COUNTERS
        cls.strategies = {}
        cls.servers = [cls.api.add_server(cell, **values) for cell, values in SERVERS]
        cls.before = cls._rows()

    @classmethod
    def _rows(cls):
        return [
            cls.api.row(uuid, cell)
            for uuid, (cell, _values) in zip(cls.servers, SERVERS, strict=True)
        ]

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        if self.api is not None and self._rows() != self.before:
            self._leave()
        if self.api is None:
            self._enter()

    def test_never_a_server_error(self):
        @SETTINGS
        @hypothesis.given(st.data())
        def send(data):
            self.send(data)

        send()
        self.assertEqual([], list(self.api.app.undeclared))

    def send(self, data):
        each = self.operation
        minor = data.draw(st.sampled_from(minors(each)))
        version = microversion.Version(2, minor)
        body = None
        if each.method in ('POST', 'PUT'):
            body = self.body(data, each, version)
        pairs = data.draw(hostile.query(each.query.at(version).source))
        path = self.path(data, each.path)
        answer = self.api._client.simulate_request(
            each.method,
            '/v2.1' + path,
            query_string=urllib.parse.urlencode(pairs, errors='replace'),
            body=body,
            headers=self.headers(data, version),
        )
        shown = f'{each} {version} {path} {pairs} {body!r:.2000}: {answer.text}'
        if answer.status_code not in ALLOWED_5XX:
            self.assertTrue(answer.status_code < 500, f'{shown}\n{self.log.output[-3000:]}')
        if answer.status_code >= 400:
            if answer.text.startswith(('<html', '404 Not Found')):
                return  # An id like ../x is no part of a path.
            (key,) = answer.json
            self.assertEqual(faults.KEYS.get(answer.status_code, 'computeFault'), key, shown)
            self.assertNotEqual('', answer.json[key]['message'], shown)

    def body(self, data, each, version):
        """The bytes of a body: along the schema, or anything, or no JSON at all."""
        kind = data.draw(st.integers(0, 19))
        if kind == 0:
            return data.draw(st.binary(max_size=50))
        compiled = None if each.body is None else each.body.at(version)
        if kind == 1 or compiled is None:
            value = data.draw(hostile.values)
            if each.action is not None:
                value = {each.action: value}
        else:
            value = data.draw(self.strategy(compiled))
        return json.dumps(value).encode()

    def strategy(self, compiled):
        """Bodies along a compiled schema; made once, since that takes long."""
        if compiled not in self.strategies:
            self.strategies[compiled] = hostile.body(compiled.source, known=self.servers)
        return self.strategies[compiled]

    def path(self, data, template):
        parts = template.split('/')
        for position, part in enumerate(parts):
            if part.startswith('{'):
                known = self.servers if part == '{server_id}' else ['42', 'host1', '1']
                parts[position] = data.draw(st.sampled_from([*known, *known, *IDS]))
        return '/'.join(parts)

    def headers(self, data, version):
        roles = data.draw(st.sampled_from(['admin', 'admin', 'admin', 'member']))
        return {
            'X-User-Id': compute_api.MEMBER['user'],
            'X-Project-Id': compute_api.MEMBER['project'],
            'X-Roles': roles,
            'OpenStack-API-Version': f'compute {version}',
            'Content-Type': 'application/json',
        }


class TestReading(Malformed, testscenarios.WithScenarios, testtools.TestCase):
    scenarios = scenarios_of(('GET',))


class TestPosting(Malformed, testscenarios.WithScenarios, testtools.TestCase):
    scenarios = scenarios_of(('POST',))


class TestChanging(Malformed, testscenarios.WithScenarios, testtools.TestCase):
    scenarios = scenarios_of(('PUT', 'DELETE'))


class TestProxies(Malformed, testscenarios.WithScenarios, testtools.TestCase):
    """They ask the services themselves, not doubles of the clients."""

    make_api = neighboured_api.NeighbouredApi
    scenarios = scenarios_of(('GET', 'POST', 'PUT', 'DELETE'), proxies=True)
