"""Statements of a tuned placement."""

import typing

import fixtures
import os_resource_classes
from placement import context as contexts
from placement import db_api
from placement import exception as placement_exception
import requests
import sqlalchemy as sa
import testtools

from nova_lite.daemons.wsgi import placement
from nova_lite.lab import tuned_placement
from tests.fixtures import http

ADMIN = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': 'placement 1.39'}


class StatementsTest(testtools.TestCase):
    """Counts the statements of requests."""

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        app = placement.make_app(
            f'sqlite:///{directory}/db',
            auth_strategy='noauth',
            tuning=tuned_placement.of(is_wanted=True),
        )
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
