"""Builds of different requests that are written together, and what one may do to the others."""

import functools

from nova_lite import context
from nova_lite import exception
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.superconductor import build
from tests.fixtures import combining
from tests.unit.superconductor import build_base


class TogetherTest(build_base.BuildTestCase):
    """Three requests for one server each."""

    def setUp(self):
        super().setUp()
        self.uuids = [self.uuid, self.accept('r-2'), self.accept('r-3', hostname='named')]
        self.commits = []
        self.count(self.api_db, self.cell('cell1').db)

    def count(self, *databases):
        for database in databases:
            write = database.write

            def counted(function, *args, write=write, **kwargs):
                self.commits.append(getattr(function, '__name__', ''))
                return write(function, *args, **kwargs)

            database.write = counted

    def builds(self):
        requests = self.api_db.read(build_requests.of, self.uuids)
        return {
            request.instance_uuid: build.Build(self.world, context.admin(), [request])
            for request in requests
        }

    def create(self, builds):
        chosen = self.scheduler.select_destinations(None, None, [0])[0]
        cell = self.cell('cell1')
        calls = [
            functools.partial(each._create_records, cell, {uuid: chosen})
            for uuid, each in builds.items()
        ]
        # The first call of a cell makes its combiner.
        combiner = self.world.builds.of_cell(cell)
        return combining.together(combiner, calls)

    def place(self, builds):
        cell_id = self.cell('cell1').id
        calls = [
            functools.partial(each._map, uuid, cell_id, 'host-1') for uuid, each in builds.items()
        ]
        return combining.together(self.world.builds._places, calls)

    def mapped(self):
        """Return the ids of the cells to which the servers are mapped."""
        return [self.api_db.read(instance_mappings.get, uuid).cell_id for uuid in self.uuids]

    def test_records(self):
        created = self.create(self.builds())
        self.assertEqual([[uuid] for uuid in self.uuids], [list(each) for each in created])
        self.assertEqual(['create'], self.commits)
        for uuid, each in zip(self.uuids, created, strict=True):
            self.assertEqual(uuid, each[uuid][0].uuid)
            action = self.cell('cell1').db.read(actions.find_newest, uuid)
            self.assertEqual('create', action.action)
        self.assertEqual('named', created[2][self.uuids[2]][0].hostname)

    def test_rows_are_as_the_database_has_them(self):
        for each in self.create(self.builds()):
            for uuid, (made, _devices) in each.items():
                read = self.cell('cell1').db.read(instances.find, uuid)
                self.assertEqual(dict(read._mapping), vars(made))

    def test_one_is_there_already(self):
        """Another super-conductor builds one of them."""
        self.builds()[self.uuids[1]]._create_records(
            self.cell('cell1'), {self.uuids[1]: self.chosen()[self.uuid]}
        )
        first, second, third = self.create(self.builds())
        self.assertIsInstance(second, build.db_exception.DBDuplicateEntry)
        self.assertEqual([self.uuids[0], self.uuids[2]], [*first, *third])

    def test_one_was_overtaken(self):
        builds, self.uuid = self.builds(), self.uuids[1]
        self.api_db.write(build_requests.expire, {self.uuid: 0})
        ((reservation, taken),) = self.api_db.write(build_requests.take_over, 60).items()
        build.Build(self.world, context.admin(), taken)._clear_former_attempt()
        self.assertEqual('r-2', reservation)
        first, second, third = self.create(builds)
        self.assertEqual(({}, [self.uuids[0], self.uuids[2]]), (second, [*first, *third]))
        self.assertIsNone(self.cell('cell1').db.read(instances.find, self.uuid))

    def test_the_pivot(self):
        self.assertEqual([None] * 3, self.place(self.builds()))
        self.assertEqual(['place'], self.commits)
        self.assertEqual([self.cell('cell1').id] * 3, self.mapped())
        self.assertEqual([], self.api_db.read(build_requests.of, self.uuids))

    def test_one_was_deleted(self):
        builds = self.builds()
        self.api_db.write(build_requests.withdraw, self.uuids[1], 60)
        found = self.place(builds)
        self.assertEqual([None, None], [found[0], found[2]])
        self.assertIsInstance(found[1], exception.StateChanged)
        here = self.cell('cell1').id
        self.assertEqual([here, None, here], self.mapped())

    def test_one_was_mapped_by_another(self):
        builds = self.builds()
        self.api_db.write(instance_mappings.place, [self.uuids[1]], self.cell('cell2').id)
        found = self.place(builds)
        self.assertIsInstance(found[1], exception.StateChanged)
        here = self.cell('cell1').id
        self.assertEqual([here, self.cell('cell2').id, here], self.mapped())

    def test_two_cells(self):
        builds = self.builds()
        calls = [
            functools.partial(builds[uuid]._map, uuid, self.cell(name).id, f'host-{name[-1]}')
            for uuid, name in zip(self.uuids, ('cell1', 'cell2', 'cell1'), strict=True)
        ]
        self.assertEqual([None] * 3, combining.together(self.world.builds._places, calls))
        ids = [self.cell(name).id for name in ('cell1', 'cell2', 'cell1')]
        self.assertEqual(ids, self.mapped())

    def test_a_host_gets_one_message(self):
        cell, builds = self.cell('cell1'), self.builds()
        created = self.create(builds)
        calls = []
        for number, (uuid, each) in enumerate(builds.items()):
            chosen = self.scheduler.select_destinations(None, None, [uuid])[0]
            chosen[0].service_host = ('host-1', 'host-2', 'host-1')[number]
            calls.append(functools.partial(each._cast, cell, created[number][uuid], chosen))
        self.assertEqual([None] * 3, combining.together(self.world.casts.of_cell(cell), calls))
        first, second, third = self.uuids
        self.assertEqual([('host-1', [first, third]), ('host-2', second)], self.compute.built)
