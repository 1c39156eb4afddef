"""Aggregates in the API database."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from tests.fixtures import database


class AggregatesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.ApiDatabase())

    def create(self, name, zone=None):
        metadata = {'availability_zone': zone} if zone else {}
        return self.db.write(
            aggregates.create, uuid=runtime.new_uuid(), name=name, metadata=metadata
        )

    def stamp(self):
        return self.db.read(stamps.every).get(stamps.AGGREGATES, 0)

    def get(self, aggregate):
        return self.db.read(aggregates.get, aggregate.id)

    def test_hosts(self):
        one, two = self.create('one', 'z1'), self.create('two')
        for aggregate, host in ((one, 'b'), (one, 'a'), (two, 'a')):
            self.db.write(aggregates.add_host, aggregate.id, host)
        self.assertEqual(('a', 'b'), self.get(one).hosts)
        self.assertEqual({'a': 'z1', 'b': 'z1'}, self.db.read(aggregates.zones))
        self.assertEqual(
            [one.id, two.id], [found.id for found in self.db.read(aggregates.of_host, 'a')]
        )
        self.assertRaises(exception.AlreadyExists, self.db.write, aggregates.add_host, one.id, 'a')
        self.db.write(aggregates.remove_host, one.id, 'b')
        self.assertRaises(
            exception.AggregateHostNotFound, self.db.write, aggregates.remove_host, one.id, 'b'
        )
        self.assertEqual(2, self.db.write(aggregates.forget_host, 'a'))
        self.assertEqual((), self.get(one).hosts)

    def test_metadata_is_merged_and_null_removes(self):
        aggregate = self.create('one', 'z1')
        self.db.write(aggregates.set_metadata, aggregate.id, {'a': '1', 'b': '2'})
        self.db.write(aggregates.set_metadata, aggregate.id, {'a': None, 'availability_zone': 'z2'})
        found = self.get(aggregate)
        self.assertEqual({'availability_zone': 'z2', 'b': '2'}, found.metadata)
        self.assertEqual('z2', found.availability_zone)

    def test_names_are_unique(self):
        aggregate = self.create('one')
        self.create('two')
        self.assertRaises(exception.AlreadyExists, self.create, 'one')
        self.assertRaises(
            exception.AlreadyExists, self.db.write, aggregates.rename, aggregate.id, 'two'
        )
        self.db.write(aggregates.rename, aggregate.id, 'one')
        self.db.write(aggregates.rename, aggregate.id, 'three')
        self.assertEqual('three', self.get(aggregate).name)

    def test_only_an_empty_one_goes(self):
        aggregate = self.create('one')
        self.db.write(aggregates.add_host, aggregate.id, 'a')
        self.assertRaises(
            exception.AggregateNotEmpty, self.db.write, aggregates.destroy, aggregate.id
        )
        self.db.write(aggregates.remove_host, aggregate.id, 'a')
        self.db.write(aggregates.destroy, aggregate.id)
        self.assertRaises(exception.AggregateNotFound, self.get, aggregate)

    def test_one_that_is_made_again_is_not_deleted(self):
        values = {'uuid': runtime.new_uuid(), 'name': 'one', 'metadata': {}}
        for _ in range(2):
            aggregate = self.db.write(aggregates.create, **values)
            self.assertEqual({}, self.db.read(aggregates.deleted))
            self.db.write(aggregates.destroy, aggregate.id)
            self.assertEqual({aggregate.uuid}, set(self.db.read(aggregates.deleted)))

    def test_every_change_moves_the_stamp(self):
        changes = (
            lambda: self.create('one'),
            lambda: self.db.write(aggregates.rename, 1, 'two'),
            lambda: self.db.write(aggregates.set_metadata, 1, {'a': '1'}),
            lambda: self.db.write(aggregates.add_host, 1, 'a'),
            lambda: self.db.write(aggregates.remove_host, 1, 'a'),
            lambda: self.db.write(aggregates.add_host, 1, 'a'),
            lambda: self.db.write(aggregates.forget_host, 'a'),
            lambda: self.db.write(aggregates.destroy, 1),
        )
        for change in changes:
            before = self.stamp()
            change()
            self.assertEqual(before + 1, self.stamp())
