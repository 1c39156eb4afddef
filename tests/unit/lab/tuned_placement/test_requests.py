"""A tuned placement: transactions of requests, and the names that requests share."""

import fixtures
from placement import db_api
import requests
import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.daemons.wsgi import placement
from nova_lite.lab import tuned_placement
from tests.fixtures import http
from tests.fixtures import templates

HEADERS = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': 'placement 1.39'}


class SerialTestCase(testtools.TestCase):
    """A test of placement with one provider."""

    def start(self, *, atomic=True):
        """Start it on a new database; it has the provider `self.provider`."""
        path = self.useFixture(fixtures.TempDir()).path + '/placement.sqlite'
        url = templates.write(path, templates.placement)
        tuning = tuned_placement.of(is_wanted=True, atomic=atomic)
        self.application = placement.make_app(url, auth_strategy='noauth', tuning=tuning)
        routes = {'/placement': self.application}
        self.url = self.useFixture(http.Direct(routes)).url + '/placement'
        self.commits, self.statements = 0, []
        engine = db_api.get_placement_engine()
        sa.event.listen(engine, 'commit', self._committed)
        sa.event.listen(engine, 'before_cursor_execute', self._executed)
        self.provider = runtime.new_uuid()
        self.ask('POST', '/resource_providers', {'name': 'host', 'uuid': self.provider})
        self.put('inventories', {'inventories': {'VCPU': {'total': 4}}}, generation=0)

    def _committed(self, _connection):
        self.commits += 1

    def _executed(self, _connection, _cursor, statement, *_others):
        self.statements.append(statement)

    def ask(self, method, path, body=None, status=(200, 201, 204)):
        """Send a request, check the status of the response and return the response."""
        answer = requests.request(method, self.url + path, json=body, headers=HEADERS)
        self.assertIn(answer.status_code, status, answer.text)
        return answer

    def put(self, part, body, *, generation, status=(200,)):
        """Replace a part of the provider."""
        body = {'resource_provider_generation': generation, **body}
        self.ask('PUT', f'/resource_providers/{self.provider}/{part}', body, status)

    def claim(self, vcpus, status, consumer_type='INSTANCE'):
        """Claim for a new consumer; returns its uuid."""
        consumer = runtime.new_uuid()
        body = {
            'allocations': {self.provider: {'resources': {'VCPU': vcpus}}},
            'consumer_generation': None,
            'consumer_type': consumer_type,
            'project_id': runtime.new_uuid(),
            'user_id': runtime.new_uuid(),
        }
        self.ask('PUT', f'/allocations/{consumer}', body, (status,))
        return consumer

    def count(self, table):
        """Rows of a table."""
        with db_api.get_placement_engine().connect() as connection:
            return connection.scalar(sa.text(f'SELECT count(*) FROM {table}'))


class TransactionTest(SerialTestCase):
    """One transaction of each request, which is undone if the request is refused."""

    def transactions(self, **options):
        """Return how many a claim has."""
        self.start(**options)
        before = self.commits
        self.claim(1, 204)
        return self.commits - before

    def test_a_claim_has_one(self):
        self.assertEqual(1, self.transactions())

    def test_a_claim_has_several_if_that_is_wanted(self):
        self.assertGreater(self.transactions(atomic=False), 3)

    def test_a_refused_claim_leaves_nothing(self):
        self.start()
        self.claim(5, 409, consumer_type='OTHER')
        for table in ('allocations', 'consumers', 'projects', 'users', 'consumer_types'):
            self.assertEqual(0, self.count(table), table)
        self.assertEqual(1, self.generation())

    def generation(self):
        return self.ask('GET', f'/resource_providers/{self.provider}').json()['generation']

    def test_a_refused_claim_of_several_leaves_nothing(self):
        self.start()
        entries = {
            runtime.new_uuid(): {
                'allocations': {self.provider: {'resources': {'VCPU': 3}}},
                'consumer_generation': None,
                'consumer_type': 'INSTANCE',
                'project_id': 'p',
                'user_id': 'u',
            }
            for _ in range(2)
        }
        self.ask('POST', '/allocations', entries, (409,))
        self.assertEqual(0, self.count('allocations'))
        self.assertEqual(0, self.count('consumers'))

    def test_a_name_that_is_taken_is_no_fault(self):
        self.start()
        self.ask('PUT', '/traits/CUSTOM_A')
        self.ask('PUT', '/traits/CUSTOM_A')
        self.ask('POST', '/resource_providers', {'name': 'host'}, (409,))
        self.ask('PUT', '/resource_classes/CUSTOM_B')
        self.ask('POST', '/resource_classes', {'name': 'CUSTOM_B'}, (409,))


class NamesTest(SerialTestCase):
    """Names of traits, resource classes and consumer types are read once, until they change."""

    def setUp(self):
        super().setUp()
        self.start()

    def reads(self, table, path):
        """Statements that read all of a table in a request."""
        self.statements.clear()
        self.ask('GET', path)
        return [each for each in self.statements if each.rstrip().endswith(f'FROM {table}')]

    def test_read_once(self):
        path = '/allocation_candidates?resources=VCPU:1&required=!HW_CPU_X86_AVX'
        self.ask('GET', path)
        self.assertEqual([], self.reads('traits', path))
        self.assertEqual([], self.reads('resource_classes', path))

    def has_trait(self, name, status):
        self.ask('GET', f'/resource_providers?required={name}', status=(status,))

    def test_a_trait_comes_and_goes(self):
        self.has_trait('CUSTOM_A', 400)
        self.ask('PUT', '/traits/CUSTOM_A')
        self.has_trait('CUSTOM_A', 200)
        self.ask('DELETE', '/traits/CUSTOM_A')
        self.has_trait('CUSTOM_A', 400)
        for name in ('CUSTOM_B', 'CUSTOM_A'):  # other ids than before
            self.ask('PUT', f'/traits/{name}')
        self.put('traits', {'traits': ['CUSTOM_A']}, generation=1)
        found = self.ask('GET', f'/resource_providers/{self.provider}/traits').json()
        self.assertEqual(['CUSTOM_A'], found['traits'])

    def test_a_type_of_consumers_of_a_refused_claim_is_made_by_the_next(self):
        self.claim(5, 409, consumer_type='OTHER')
        consumer = self.claim(1, 204, consumer_type='OTHER')
        found = self.ask('GET', f'/allocations/{consumer}').json()
        self.assertEqual('OTHER', found['consumer_type'])

    def test_a_snapshot_brings_its_own(self):
        self.ask('PUT', '/traits/CUSTOM_A')
        self.has_trait('CUSTOM_A', 200)
        self.application.end()
        self.has_trait('CUSTOM_A', 503)
        with db_api.get_placement_engine().begin() as connection:
            connection.execute(sa.text("UPDATE traits SET name='CUSTOM_B' WHERE name='CUSTOM_A'"))
        self.application.renew()
        self.has_trait('CUSTOM_A', 400)
        self.has_trait('CUSTOM_B', 200)

    def test_another_database_has_its_own(self):
        self.ask('PUT', '/traits/CUSTOM_A')
        self.has_trait('CUSTOM_A', 200)
        self.start()
        self.has_trait('CUSTOM_A', 400)
