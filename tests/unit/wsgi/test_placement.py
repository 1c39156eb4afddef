"""The placement application: discovery, authentication, databases, many threads."""

import json
import sqlite3
import typing

import fixtures
import jsonschema
import os_resource_classes
from placement import context as contexts
from placement import db_api
from placement import exception as placement_exception
from placement.objects import resource_provider
import requests
import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.wsgi import placement
from tests.fixtures import http
from tests.fixtures import placement as placement_fixture

ADMIN = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': 'placement 1.36'}
SCHEMA = {
    'type': 'object',
    'properties': {'a': {'type': 'integer'}, 'b': {'type': 'string', 'format': 'uuid'}},
    'required': ['a'],
    'additionalProperties': False,
}


class ConnectionsTest(testtools.TestCase):
    """Connections that are not rolled back after each use."""

    def test_one_whose_transaction_did_not_end_is_not_used_again(self):
        path = self.useFixture(fixtures.TempDir()).join('database')
        engine = sa.create_engine(f'sqlite:///{path}', poolclass=sa.pool.QueuePool, pool_size=1)
        self.addCleanup(engine.dispose)
        placement.spare_messages(engine)
        with engine.begin() as connection:
            connection.execute(sa.text('CREATE TABLE numbers (number INTEGER)'))

        def refuse(_connection):
            raise sqlite3.OperationalError('not now')

        with engine.connect() as connection:
            connection.execute(sa.text('INSERT INTO numbers VALUES (1)'))
            engine.dialect.do_commit = refuse
            self.assertRaises(sa.exc.OperationalError, connection.commit)
            del engine.dialect.do_commit
        with engine.connect() as connection:
            self.assertFalse(connection.connection.driver_connection.in_transaction)
            found = connection.scalars(sa.text('SELECT number FROM numbers')).all()
            self.assertEqual([], found)


class DiscoveryTest(testtools.TestCase):
    """Resources that a client may ask for before it has a token."""

    def test_versions(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        for address in (url, url + '/'):
            version = requests.get(address).json()['versions'][0]
            self.assertEqual(('1.0', '1.39'), (version['min_version'], version['max_version']))

    def test_nothing_else(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        self.assertEqual(401, requests.get(url + '/resource_providers').status_code)

    def test_links_have_the_prefix(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        provider = {'uuid': runtime.new_uuid(), 'name': 'host'}
        answer = requests.post(url + '/resource_providers', json=provider, headers=ADMIN)
        hrefs = {link['href'].split('/')[1] for link in answer.json()['links']}
        self.assertEqual({'placement'}, hrefs)


class DatabaseTest(testtools.TestCase):
    """One process, several databases one after the other."""

    def providers(self, app):
        with http.Http({'/': app}) as server:
            answer = requests.get(server.url + '/resource_providers', headers=ADMIN)
            return [item['name'] for item in answer.json()['resource_providers']]

    def create(self, app, name):
        with http.Http({'/': app}) as server:
            answer = requests.post(
                server.url + '/resource_providers', json={'name': name}, headers=ADMIN
            )
            self.assertEqual(200, answer.status_code)

    def make(self, name):
        return placement.make_app(f'sqlite:///{self.directory}/{name}', auth_strategy='noauth')

    def test_keystone_has_a_limit(self):
        conf = placement.make_conf('sqlite://', 'keystone', keystone={})
        self.assertEqual(10, conf.keystone_authtoken.http_connect_timeout)

    def test_each_application_uses_its_own(self):
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.create(self.make('one'), 'first')
        self.create(self.make('two'), 'second')
        self.assertEqual(['first'], self.providers(self.make('one')))
        self.assertEqual(['second'], self.providers(self.make('two')))


class ThreadsTest(testtools.TestCase):
    """On SQLite, many threads at once get answers, not `database is locked`."""

    def test_readers_and_writers(self):
        server = self.useFixture(placement_fixture.Placement(threads=8))
        statuses = []

        def work(number):
            with requests.Session() as session:
                session.headers.update(ADMIN)
                for turn in range(10):
                    body = {'name': f'{number}-{turn}'}
                    statuses.append(
                        session.post(server.url + '/resource_providers', json=body).status_code
                    )
                    statuses.append(
                        session.get(
                            server.url + '/allocation_candidates?resources=VCPU:1'
                        ).status_code
                    )

        threads = [runtime.spawn(work, number) for number in range(8)]
        for thread in threads:
            thread.join()
        self.assertEqual([200] * 160, statuses)


class CompiledValidationTest(testtools.TestCase):
    """The same verdicts and messages as jsonschema.validate."""

    def verdict(self, validate, instance):
        try:
            validate(instance, SCHEMA, format_checker=jsonschema.FormatChecker())
        except jsonschema.ValidationError as error:
            return str(error)
        return None

    def test_same_as_jsonschema(self):
        compiled = placement.CompiledValidation()
        for instance in (
            {'a': 1},
            {},
            {'a': 'x'},
            {'a': 1, 'c': 2},
            [],
            {'a': 1, 'b': 7},
            {'a': 'x', 'b': 7, 'c': 2},
            None,
        ):
            for _ in range(2):
                self.assertEqual(
                    self.verdict(jsonschema.validate, instance),
                    self.verdict(compiled.validate, instance),
                    json.dumps(instance),
                )


class KnownAliasesTest(testtools.TestCase):
    """The same statements as with SQLAlchemy itself, from aliases that are made once."""

    table = sa.Table('t', sa.MetaData(), sa.Column('id', sa.Integer), sa.Column('of', sa.Integer))

    def statement(self, of):
        """A statement that joins a table with itself, made by a module."""
        child, parent = of.alias(self.table, name='c'), of.alias(self.table, name='p')
        joined = of.join(child, parent, child.c.of == parent.c.id)
        return str(of.select(child.c.id, parent.c.of).select_from(joined))

    def test_same_as_sqlalchemy(self):
        known = placement.KnownAliases()
        for _ in range(2):
            self.assertEqual(self.statement(sa), self.statement(known))

    def test_made_once(self):
        first = placement.KnownAliases().alias(self.table, name='a')
        self.assertIs(first, placement.KnownAliases().alias(self.table, name='a'))
        self.assertIsNot(first, placement.KnownAliases().alias(self.table, name='b'))


class StatementsTest(testtools.TestCase):
    """Counts the statements of requests."""

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        app = placement.make_app(f'sqlite:///{directory}/db', auth_strategy='noauth')
        self.url = self.useFixture(http.Http({'/': app})).url
        self.context = contexts.RequestContext()
        self.statements = []
        engine = db_api.get_placement_engine()
        sa.event.listen(engine, 'before_cursor_execute', self.heard)
        self.addCleanup(sa.event.remove, engine, 'before_cursor_execute', self.heard)

    def heard(self, _connection, _cursor, statement, *_more):
        self.statements.append(statement)


class ResourceClassesTest(StatementsTest):
    """Requests know the standard resource classes without a read."""

    def put(self, name):
        answer = requests.put(f'{self.url}/resource_classes/{name}', headers=ADMIN)
        self.assertEqual(201, answer.status_code)

    def test_their_numbers_are_those_of_the_database(self):
        found = self.context.rc_cache.get_all()
        stored = {row.name: row.id for row in found}
        self.assertEqual(len(os_resource_classes.STANDARDS), len(stored))
        cache = contexts.RequestContext().rc_cache
        self.statements.clear()
        for name, number in stored.items():
            self.assertEqual(number, cache.id_from_string(name))
            self.assertEqual(name, cache.string_from_id(number))
        self.assertEqual([], self.statements)

    def test_custom_ones_are_read(self):
        self.assertRaises(
            placement_exception.ResourceClassNotFound,
            self.context.rc_cache.id_from_string,
            'CUSTOM_A',
        )
        self.put('CUSTOM_A')
        cache = self.context.rc_cache
        self.assertEqual('CUSTOM_A', cache.string_from_id(cache.id_from_string('CUSTOM_A')))
        self.assertEqual(0, cache.id_from_string('VCPU'))

    def test_all_are_listed(self):
        self.put('CUSTOM_A')
        listed = requests.get(f'{self.url}/resource_classes', headers=ADMIN).json()
        names = {each['name'] for each in listed['resource_classes']}
        self.assertEqual({*map(str, os_resource_classes.STANDARDS), 'CUSTOM_A'}, names)


class RowsTest(StatementsTest):
    """The rows of a new provider are inserted together."""

    traits = ('COMPUTE_NODE', 'HW_CPU_X86_AVX', 'HW_CPU_X86_SSE', 'STORAGE_DISK_SSD')
    inventories: typing.ClassVar = {
        'VCPU': {'total': 8, 'reserved': 1, 'max_unit': 4, 'allocation_ratio': 4.0},
        'MEMORY_MB': {'total': 1024, 'min_unit': 128, 'step_size': 128},
        'DISK_GB': {'total': 100},
    }

    def setUp(self):
        super().setUp()
        answer = requests.post(
            f'{self.url}/resource_providers', json={'name': 'host'}, headers=ADMIN
        )
        self.provider = f'{self.url}/resource_providers/{answer.json()["uuid"]}'
        self.statements.clear()

    def put(self, what, generation, value):
        body = {what: value, 'resource_provider_generation': generation}
        answer = requests.put(f'{self.provider}/{what}', json=body, headers=ADMIN)
        self.assertEqual(200, answer.status_code, answer.text)
        return requests.get(f'{self.provider}/{what}', headers=ADMIN).json()[what]

    def inserted(self):
        return [each for each in self.statements if each.startswith('INSERT')]

    def test_traits(self):
        self.assertEqual(sorted(self.traits), sorted(self.put('traits', 0, self.traits)))
        self.assertEqual(1, len(self.inserted()), self.statements)
        self.assertEqual(['COMPUTE_NODE'], self.put('traits', 1, ['COMPUTE_NODE']))

    def test_inventories(self):
        found = self.put('inventories', 0, self.inventories)
        for name, wanted in self.inventories.items():
            self.assertEqual(wanted, {key: found[name][key] for key in wanted})
        self.assertEqual(1, len(self.inserted()), self.statements)

    def test_a_trait_that_another_request_was_faster_with(self):
        provider = resource_provider.ResourceProvider.get_by_uuid(
            self.context, self.provider.rsplit('/', 1)[1]
        )
        numbers = [self.context.trait_cache.id_from_string(name) for name in self.traits]
        add = db_api.placement_context_manager.writer(resource_provider._add_traits_to_provider)
        add(self.context, provider.id, numbers[:1])
        self.assertRaises(
            placement_exception.ConcurrentUpdateDetected, add, self.context, provider.id, numbers
        )
        found = requests.get(f'{self.provider}/traits', headers=ADMIN).json()['traits']
        self.assertEqual([self.traits[0]], found)
