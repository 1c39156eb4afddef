"""Destinations whose mapping an administrator deletes while a move has not recorded them yet."""

from nova_lite import exception
from nova_lite import states
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import evacuate
from nova_lite.moves import kinds
from nova_lite.moves import resize
from nova_lite.moves import steps
from nova_lite.moves import unshelve
from nova_lite.states import transitions
from tests.unit.moves import moves_base

DEST = moves_base.DEST


class UnmappedDestinationTest(moves_base.MoveTestCase):
    """The scheduler has chosen DEST."""

    def reach(self, made, name):
        """Do the steps before the one that records the destination. Return that step."""
        self.do(made, moves_base.until(made, name))
        return moves_base.since(made, name)[0]

    def evacuation(self):
        arguments = {'forced': False, 'leave_stopped': False}
        made = self.make(evacuate.Evacuation, transitions.EVACUATE, 'evacuate', **arguments)
        values = {'migration_type': states.MigrationType.EVACUATION, 'status': 'accepted'}
        values |= {'uuid': made.uuid, 'instance_uuid': self.server}
        values |= {'source_compute': moves_base.SOURCE, 'source_node': moves_base.SOURCE}
        self.cell.db.write(migrations.create, values)
        return made

    def unshelving(self):
        gone = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
        self.cell.db.write(instances.force, self.server, gone)
        return self.make(unshelve.Unshelve, transitions.UNSHELVE, 'unshelve', offloaded=True)

    def unmap(self):
        self.api_db.write(host_mappings.destroy, DEST)

    def check_refused(self, made, name=steps.RECORD):
        """The step refuses the destination. Return the error."""
        step = self.reach(made, name)
        self.unmap()
        return step, self.assertRaises(exception.HostMappingNotFound, self.do, made, [step])

    def test_live_migration_goes_to_another_host(self):
        made = self.live_migration()
        self.assertEqual(steps.CHOOSE, made.go_back(*self.check_refused(made)))

    def test_resize_goes_to_another_host(self):
        made = self.resize()
        self.assertEqual(steps.CHOOSE, made.go_back(*self.check_refused(made)))

    def test_server_that_cannot_be_evacuated_stays_as_it_was(self):
        made = self.evacuation()
        step, error = self.check_refused(made)
        self.assertIsNone(made.go_back(step, error))
        made.error = {'type': type(error).__name__}
        self.assertEqual({}, made.changes_of_failure(self.cell.row(self.server)))

    def test_unshelving_is_refused(self):
        made = self.unshelving()
        self.assertIsNone(made.go_back(*self.check_refused(made, unshelve.RECORD)))

    def test_record_is_there_before_the_mapping_is_looked_for(self):
        """A deletion that this step does not notice finds the migration."""
        for made, name in (
            (self.live_migration, steps.RECORD),
            (self.resize, steps.RECORD),
            (self.evacuation, steps.RECORD),
            (self.unshelving, unshelve.RECORD),
        ):
            found = []
            hold = host_mappings.hold

            def look(connection, hosts, cell_id, found=found, hold=hold):
                found.extend(self.cell.db.read(migrations.in_progress, *hosts))
                hold(connection, hosts, cell_id)

            self.cell.db.write(instances.force, self.server, {'task_state': None})
            saga = made()
            step = self.reach(saga, name)
            self.patch(host_mappings, 'hold', look)
            self.do(saga, [step])
            self.patch(host_mappings, 'hold', hold)
            self.assertEqual([saga.uuid], [row.uuid for row in found])
            self.cell.db.write(migrations.update, saga.uuid, {'status': 'error'})

    def test_host_of_another_cell(self):
        made = self.resize()
        step = self.reach(made, steps.RECORD)
        self.cell.id += 1
        self.assertRaises(exception.HostMappingNotFound, self.do, made, [step])


class EveryMoveTest(moves_base.MoveTestCase):
    def test_each_saga_that_chooses_a_destination_holds_it(self):
        """It records the destination by the step of its choice."""
        made = [saga for saga in kinds.SAGAS if self.chooses(saga)]
        self.assertIn(resize.Resize, made)
        for saga in made:
            for kind in saga.kinds():
                for plan in kinds.plans(kind, saga):
                    if steps.CHOOSE in [step.id for step in plan]:
                        named = [step.transaction.__name__ for step in plan if step.transaction]
                        self.assertEqual(1, named.count('hold_mapping'), (kind, named))

    def chooses(self, saga):
        plans = [plan for kind in saga.kinds() for plan in kinds.plans(kind, saga)]
        return any(steps.CHOOSE in [step.id for step in plan] for plan in plans)
