"""Flavors in the API database."""

import testtools

from nova_lite import exception
from nova_lite.db.api import flavors
from nova_lite.lab.launcher import first_flavors
from tests.fixtures import database


def values(flavorid, **more):
    return {
        'flavorid': flavorid,
        'name': f'name-{flavorid}',
        'vcpus': 1,
        'memory_mb': 512,
        'root_gb': 1,
        **more,
    }


class FlavorsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.ApiDatabase())

    def create(self, flavorid, **more):
        return self.db.write(flavors.create, values(flavorid, **more))

    def page(self, **options):
        conditions = flavors.matching(**options.pop('where', {}))
        found = self.db.read(flavors.page, conditions, **options)
        return [row.flavorid for row in found]

    def test_created_with_defaults(self):
        row = self.create('1')
        self.assertEqual(
            (0, 0, 1.0, True, None, {}),
            (
                row.ephemeral_gb,
                row.swap,
                row.rxtx_factor,
                row.is_public,
                row.description,
                row.extra_specs,
            ),
        )

    def test_id_and_name_are_unique(self):
        self.create('1')
        error = self.assertRaises(exception.AlreadyExists, self.create, '1', name='another')
        self.assertEqual('Flavor with ID 1 already exists.', str(error))
        error = self.assertRaises(exception.AlreadyExists, self.create, '2', name='name-1')
        self.assertEqual('Flavor with name name-1 already exists.', str(error))

    def test_private_one_is_found_by_those_with_access(self):
        row = self.create('1', is_public=False)
        self.assertEqual(row, self.db.read(flavors.get, '1'))
        self.assertRaises(exception.FlavorNotFound, self.db.read, flavors.get, '1', 'alpha')
        self.db.write(flavors.allow, row, 'alpha')
        self.assertEqual(row, self.db.read(flavors.get, '1', 'alpha'))
        self.assertEqual(['alpha'], self.db.read(flavors.projects, row))
        self.assertRaises(exception.AlreadyExists, self.db.write, flavors.allow, row, 'alpha')
        self.db.write(flavors.disallow, row, 'alpha')
        self.assertRaises(
            exception.FlavorAccessNotFound, self.db.write, flavors.disallow, row, 'alpha'
        )

    def test_conditions(self):
        self.create('1', memory_mb=1024)
        self.create('2', root_gb=50, disabled=True)
        row = self.create('3', is_public=False)
        self.db.write(flavors.allow, row, 'alpha')
        self.assertEqual(['1', '2', '3'], self.page())
        self.assertEqual(['1', '2'], self.page(where={'is_public': True}))
        self.assertEqual(
            ['1', '2', '3'], self.page(where={'is_public': True, 'project_id': 'alpha'})
        )
        self.assertEqual(['3'], self.page(where={'is_public': False}))
        self.assertEqual(['1'], self.page(where={'min_memory_mb': 1000}))
        self.assertEqual(['2'], self.page(where={'min_root_gb': 50}))
        self.assertEqual(['1', '3'], self.page(where={'disabled': False}))

    def test_name_is_a_regular_expression(self):
        self.create('1')
        self.create('11')
        found = self.db.read(flavors.page, [flavors.named('^name-1$')])
        self.assertEqual(['1'], [row.flavorid for row in found])

    def test_pages_join_without_gaps_even_over_nulls(self):
        for flavorid, description in (('1', None), ('2', 'b'), ('3', None), ('4', 'a')):
            self.create(flavorid, description=description)
        for direction, whole in (('asc', ['1', '3', '4', '2']), ('desc', ['2', '4', '3', '1'])):
            sort = ('description', direction)
            found, marker = [], None
            while page := self.page(sort=sort, limit=1, marker=marker):
                found += page
                marker = page[-1]
            self.assertEqual(whole, found)

    def test_unknown_marker(self):
        self.assertRaises(exception.MarkerNotFound, self.page, marker='none')

    def test_extra_specs_are_merged(self):
        self.create('1')
        self.db.write(flavors.set_extra_specs, '1', {'a': '1', 'b': '2'})
        row = self.db.write(flavors.set_extra_specs, '1', {'b': '3'})
        self.assertEqual({'a': '1', 'b': '3'}, row.extra_specs)
        row = self.db.write(flavors.drop_extra_spec, '1', 'a')
        self.assertEqual({'b': '3'}, row.extra_specs)
        self.assertRaises(
            exception.FlavorExtraSpecNotFound, self.db.write, flavors.drop_extra_spec, '1', 'a'
        )

    def test_description(self):
        self.create('1')
        self.assertEqual('text', self.db.write(flavors.describe, '1', 'text').description)
        self.assertRaises(exception.FlavorNotFound, self.db.write, flavors.describe, '2', 'text')

    def test_destroy_takes_access_along(self):
        row = self.create('1', is_public=False)
        self.db.write(flavors.allow, row, 'alpha')
        self.db.write(flavors.destroy, '1')
        self.assertRaises(exception.FlavorNotFound, self.db.write, flavors.destroy, '1')
        self.assertEqual([], self.db.read(flavors.projects, row))
        self.assertRaises(exception.FlavorNotFound, self.db.write, flavors.allow, row, 'alpha')

    def test_seed_leaves_what_is_there(self):
        self.create('1', name='m1.small')
        added = self.db.write(first_flavors.create)
        self.assertNotIn('m1.tiny', added)
        self.assertNotIn('m1.small', added)
        self.assertIn('cirros256', added)
        self.assertEqual([], self.db.write(first_flavors.create))
