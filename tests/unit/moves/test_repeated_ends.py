"""The end of a saga is in the records of its cell, but the journal does not know it.

That is so if a process is killed between the two, or if the API database is away then. The next
owner repeats the step. It must neither add a fault again nor undo what was changed since.
"""

import testscenarios

from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from nova_lite.moves import confirm
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from nova_lite.moves import rebuild
from nova_lite.moves import revert
from nova_lite.moves import shelve
from nova_lite.moves.parts import offload
from nova_lite.saga import step as step_module
from nova_lite.states import nova_failures
from nova_lite.states import transitions
from tests.unit.moves import moves_base

WHY = {'type': 'X', 'message': 'broken', 'kind': 'internal', 'traceback': 't'}
RUNS = {'power_state': int(states.PowerState.RUNNING)}
TABLES = models.InstanceFault, models.InstanceAction, models.InstanceActionEvent, models.Migration
# What an administrator sets, and a user whose server is ACTIVE again may change.
RESETS = {'vm_state': 'active', 'power_state': 4, 'progress': 7}, {'vm_state': 'error'}


class RepeatedEndTest(testscenarios.WithScenarios, moves_base.MoveTestCase):
    """faults: how many faults the end adds"""

    scenarios = [
        ('live migration', {'name': 'live', 'faults': 0}),
        ('live migration without a guest', {'name': 'live_in_error', 'faults': 1}),
        ('live migration, undone', {'name': 'live_undone', 'faults': 1}),
        ('resize, undone', {'name': 'resize_undone', 'faults': 1}),
        ('resize, lost', {'name': 'resize_lost', 'faults': 1}),
        ('resize, left as in nova', {'name': 'resize_left', 'faults': 1}),
        ('revert', {'name': 'reverted', 'faults': 0}),
        ('revert without a guest', {'name': 'revert_in_error', 'faults': 1}),
        ('revert, undone', {'name': 'revert_undone', 'faults': 1}),
        ('confirmation', {'name': 'confirmed', 'faults': 0}),
        ('evacuation', {'name': 'evacuated', 'faults': 0}),
        ('evacuation, undone', {'name': 'evacuation_undone', 'faults': 1}),
        ('rebuild', {'name': 'rebuilt', 'faults': 0}),
        ('rebuild without a guest', {'name': 'rebuild_in_error', 'faults': 1}),
        ('rebuild, undone', {'name': 'rebuild_undone', 'faults': 1}),
        ('offload', {'name': 'offloaded', 'faults': 0}),
        ('offload, left', {'name': 'offload_left', 'faults': 1}),
    ]

    def test_changes_nothing_again(self):
        end = getattr(self, self.name)()
        end()
        self.assertEqual(self.faults, len(self.records()[models.InstanceFault]))
        for reset in RESETS:
            self.cell.db.write(instances.force, self.server, {'task_state': None, **reset})
            before = self.records(), self.cell.row(self.server)
            self.made.repeated = True
            end()
            self.assertEqual(before, (self.records(), self.cell.row(self.server)))

    def records(self):
        return {
            each: self.cell.db.read(rows.every, each.__table__, order_by=each.__table__.c.id)
            for each in TABLES
        }

    def last(self, made, name=None, given_up=None, **results):
        """The end of a saga that has done, or given up, the steps before."""
        self.made = made
        for step, result in results.items():
            made.results.keep(step.replace('_', '-'), result)
        if given_up:
            made.data[step_module.GIVEN_UP] = {given_up: WHY}
        steps = {step.id: step for step in made.steps()}
        return steps[name].do if name else list(steps.values())[-1].do

    def first_undone(self, made, steps):
        """The undo of the first step, after those of the others."""
        self.made = made
        self.do(made, steps)
        self.undo(made, steps[1:])
        return made.steps()[0].undo

    # ---- ends ----

    def live(self, **options):
        made = self.live_migration()
        self.do(made, moves_base.through(made, 'record-destination'))
        if not options:
            made.results.keep(live_migrate.START, RUNS)
        return self.last(made, 'record-end-of-migration', **options)

    def live_in_error(self):
        return self.live(given_up=live_migrate.START)

    def live_undone(self):
        made = self.live_migration()
        return self.first_undone(made, made.steps()[:1])

    def resize_undone(self):
        made = self.resize()
        return self.first_undone(made, moves_base.through(made, 'record-destination'))

    def resize_lost(self):
        undo = self.resize_undone()
        self.made.data[step_module.NOT_UNDONE] = {'finish-on-destination': WHY}
        return undo

    def resize_left(self):
        made = self.resize()
        name, keeps = 'resize-on-destination', nova_failures.BY_NAME['resize-on-destination'].keeps
        left = {'name': name, 'step': 'finish-on-destination', 'keeps': [*keeps]}
        undo = self.first_undone(made, moves_base.through(made, 'record-destination'))
        made.data[step_module.LEFT_AS] = left
        return undo

    def reverted(self, given_up=None):
        made = self.revert()
        steps = [step for step in made.steps() if step.id != given_up]
        self.do(made, steps[:-1])
        return self.last(made, given_up=given_up)

    def revert_in_error(self):
        return self.reverted(revert.FINISH)

    def revert_undone(self):
        made = self.revert()
        return self.first_undone(made, made.steps()[:2])

    def confirmed(self):
        made = self.make(
            confirm.ConfirmResize,
            transitions.CONFIRM_RESIZE,
            'confirmResize',
            migration=self.resized(),
            status='confirming',
        )
        self.do(made, made.steps()[:1])
        self.made = made
        return made.record

    def evacuation(self):
        given = {'forced': False, 'leave_stopped': False, 'host': moves_base.DEST}
        made = self.make(evacuate.Evacuation, transitions.EVACUATE, 'evacuate', **given)
        values = {'migration_type': 'evacuation', 'status': 'accepted', 'uuid': made.uuid}
        values |= {'source_compute': moves_base.SOURCE, 'source_node': moves_base.SOURCE}
        self.cell.db.write(migrations.create, {**values, 'instance_uuid': self.server})
        return made

    def evacuated(self):
        made = self.evacuation()
        self.do(made, moves_base.through(made, 'record-destination'))
        return self.last(made, 'record-end-of-action')

    def evacuation_undone(self):
        made = self.evacuation()
        return self.first_undone(made, made.steps()[:1])

    def rebuild(self):
        given = {'image': None, 'former': {'image_ref': 'old'}, 'reimage': None}
        return self.make(rebuild.Rebuild, transitions.REBUILD, 'rebuild', **given)

    def rebuilt(self, **options):
        made = self.rebuild()
        self.do(made, moves_base.through(made, rebuild.COMMIT))
        if not options:
            made.results.keep(rebuild.MAKE, RUNS)
        return self.last(made, **options)

    def rebuild_in_error(self):
        return self.rebuilt(given_up=rebuild.MAKE)

    def rebuild_undone(self):
        made = self.rebuild()
        return self.first_undone(made, made.steps()[:1])

    def offloaded(self, left=False):
        self.cell.db.write(instances.force, self.server, {'vm_state': 'shelved', 'power_state': 4})
        made = self.make(shelve.ShelveOffload, transitions.SHELVE_OFFLOAD, 'shelveOffload')
        self.do(made, made.steps()[:1])
        if left:
            made.results[offload.LEFT] = WHY
        return self.last(made)

    def offload_left(self):
        return self.offloaded(left=True)
