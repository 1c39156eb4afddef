"""Builds of an affinity group's members that schedulers send to different cells."""

from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models
from nova_lite.db.api import server_groups
from nova_lite.db.cell import instances
from tests.unit.superconductor import build_base


class AffinityTest(build_base.BuildTestCase):
    """The build's host is in cell1; `other` is a member of its group."""

    def setUp(self):
        super().setUp()
        self.group = self.api_db.write(
            server_groups.create,
            {
                'uuid': runtime.new_uuid(),
                'name': 'together',
                'policy': 'affinity',
                'rules': {},
                'user_id': 'u',
                'project_id': 'p',
            },
        )
        self.other = self.accept('r-2')
        self.api_db.write(server_groups.add_members, self.group, [self.uuid, self.other])
        self.api_db.write(_join, self.uuid, self.group.uuid)

    def put_other(self, cell, host, **columns):
        """The other member is recorded in a cell, as a builder does it before it maps."""
        request = self.api_db.read(build_requests.get, self.other)
        values = {name: v for name, v in request.instance.items() if name != 'created_at'}
        values.update(group_uuid=self.group.uuid, host=host, node=host, **columns)
        self.cell(cell).db.write(instances.create, [values])

    def map_other(self, cell):
        self.api_db.write(instance_mappings.place, [self.other], self.cell(cell).id)

    def assertStartsOver(self):
        self.attempt().run()
        self.assertEqual(([], None, True), self.where())
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertEqual([], self.compute.built)
        due = self.api_db.write(build_requests.take_over, 60)
        self.assertEqual([self.uuid], [request.instance_uuid for request in due['r-1']])

    def test_the_other_runs_in_another_cell(self):
        self.put_other('cell2', 'host-2', vm_state='active', task_state=None)
        self.map_other('cell2')
        self.assertStartsOver()

    def test_the_other_is_recorded_and_not_mapped(self):
        """Its builder checks after this: one of the two sees the other."""
        self.put_other('cell2', 'host-2')
        self.assertStartsOver()

    def test_what_is_refused_each_time_is_buried(self):
        self.put_other('cell2', 'host-2', vm_state='active', task_state=None)
        self.map_other('cell2')
        self.attempt().run()
        for _ in range(self.world.conf.scheduler.max_attempts - 1):
            self.assertEqual(([], None, True), self.where())
            self.take_over().run()
        self.assertEqual((['cell0'], 'cell0', False), self.where())
        self.assertEqual([], self.compute.built)
        cell0 = self.cell('cell0').db
        self.assertEqual('error', cell0.read(instances.get, self.uuid).vm_state)
        fault = cell0.read(instances.faults, [self.uuid])[self.uuid]
        self.assertIn('The affinity policy of server group', fault.message)

    def test_a_cell_that_is_away_is_waited_for(self):
        self.map_other('cell2')
        self.away('cell2')
        self.attempt().run()
        for _ in range(2 * self.world.conf.scheduler.max_attempts):
            self.take_over()
            self.attempt().run()
        self.assertEqual([], self.compute.built)
        self.assertEqual(0, self.api_db.read(build_requests.get, self.uuid).failures)

    def test_a_cell_that_may_have_the_other_is_away(self):
        self.map_other('cell2')
        self.away('cell2')
        self.attempt().run()
        self.assertIsNone(self.cell('cell1').db.read(instances.find, self.uuid))
        self.assertEqual([], self.compute.built)
        self.assertIsNotNone(self.api_db.read(build_requests.find, self.uuid))

    def test_the_other_is_on_no_host(self):
        self.put_other('cell2', None, vm_state='shelved_offloaded', task_state=None)
        self.map_other('cell2')
        self.attempt().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_nobody_else_is_anywhere(self):
        self.attempt().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())


def _join(connection, uuid, group_uuid):
    table = models.BuildRequest.__table__
    group = {'uuid': group_uuid, 'policy': 'affinity', 'rules': {}}
    connection.execute(
        table.update()
        .where(table.c.instance_uuid == uuid)
        .values(arguments={'options': {'group': group}})
    )
