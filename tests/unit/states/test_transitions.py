"""The table of states: what may follow what, and that nothing else is written."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.compute import delete
from nova_lite.compute import resume
from nova_lite.db.cell import instances
from nova_lite.moves import kinds
from nova_lite.states import transitions
from tests.fixtures import database

ALLOWED = (
    (('active', None), ('active', 'powering-off')),
    (('active', 'powering-off'), ('stopped', None)),
    (('active', 'powering-off'), ('active', None)),
    (('active', 'rebooting_hard'), ('error', None)),
    (('active', 'resize_prep'), ('active', 'resize_migrating')),
    (('active', 'resize_finish'), ('resized', None)),
    (('resized', None), ('stopped', None)),
    (('paused', None), ('stopped', None)),
    (('building', 'spawning'), ('active', None)),
    (('resized', 'deleting'), ('active', 'deleting')),
)
REFUSED = (
    (('active', None), ('stopped', 'powering-off')),
    (('active', None), ('shelved', None)),
    (('stopped', None), ('active', None)),
    (('active', 'powering-off'), ('paused', None)),
    (('active', 'resize_prep'), ('active', 'spawning')),
    (('deleted', None), ('active', None)),
    (('active', None), ('active', 'bogus')),
)


class TableTest(testtools.TestCase):
    def test_rows_name_states_that_exist(self):
        for row in transitions.TRANSITIONS:
            for vm_state in (*(row.vm_states or ()), *row.results):
                self.assertIn(vm_state, list(states.VmState))
            for task_state in (*(row.task_states or ()), *row.tasks):
                self.assertIn(task_state, [None, *states.TaskState])

    def test_nothing_starts_from_deleted(self):
        for row in transitions.TRANSITIONS:
            self.assertNotIn(states.VmState.DELETED, row.vm_states or ())

    def test_examples(self):
        for before, after in ALLOWED:
            self.assertTrue(transitions.is_allowed(before, after), (before, after))
        for before, after in REFUSED:
            self.assertFalse(transitions.is_allowed(before, after), (before, after))

    def test_each_action_begins_goes_on_and_ends(self):
        for row in transitions.TRANSITIONS:
            for vm_state in row.vm_states or (states.VmState.ACTIVE,):
                at = (vm_state, None)
                for task in row.tasks if row.task_states and None in row.task_states else ():
                    self.assertTrue(transitions.is_allowed(at, (vm_state, task)), row)
                    self.assertTrue(transitions.may_be(vm_state, task), row)
                    at = (vm_state, task)
                for result in row.results if row.tasks and at[1] else ():
                    self.assertTrue(transitions.is_allowed(at, (result, None)), row)

    def test_tasks_of_hosts_are_what_a_host_resumes(self):
        resumed = {
            *transitions.BUILD.tasks,
            *resume.POWER,
            *resume.IMAGES,
            *delete.DELETE.tasks,
        }
        self.assertEqual(resumed, set(transitions.HOST_TASKS))

    def test_tasks_of_sagas_are_not_those_of_hosts(self):
        tasks = {task for saga in kinds.SAGAS for task in saga.tasks}
        rows = {task for row in transitions.TRANSITIONS if row.saga for task in row.tasks}
        self.assertEqual(rows, tasks)
        self.assertEqual(set(), rows & set(transitions.HOST_TASKS))

    def test_where_an_action_may_start(self):
        self.assertTrue(transitions.CONFIRM_RESIZE.may_start('resized', None))
        self.assertFalse(transitions.CONFIRM_RESIZE.may_start('resized', 'deleting'))
        self.assertFalse(transitions.CONFIRM_RESIZE.may_start('active', None))
        self.assertTrue(transitions.DELETE_RESIZED.may_start('resized', 'rebooting'))

    def test_pairs_that_cannot_be(self):
        self.assertFalse(transitions.may_be('shelved', 'rescuing'))
        self.assertFalse(transitions.may_be('active', 'bogus'))
        self.assertTrue(transitions.may_be('error', 'deleting'))


class WritesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(database.CellDatabase())
        self.uuid = runtime.new_uuid()
        record = {
            'uuid': self.uuid,
            'project_id': 'project',
            'user_id': 'user',
            'display_name': 'server',
            'hostname': 'server',
            'vm_state': 'active',
            'vcpus': 1,
            'memory_mb': 512,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': {},
        }
        self.cell.write(instances.create, [record])

    def change(self, values, **options):
        self.cell.write(instances.update, self.uuid, values, **options)
        row = self.cell.read(instances.find, self.uuid)
        return row.vm_state, row.task_state

    def test_what_no_row_leads_to_is_refused(self):
        error = self.assertRaises(
            exception.TransitionRefused, self.change, {'vm_state': 'shelved', 'task_state': None}
        )
        self.assertIn('from vm_state active and task_state None', str(error))
        row = self.cell.read(instances.find, self.uuid)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))

    def test_what_a_row_leads_to_is_written(self):
        self.assertEqual(('active', 'powering-off'), self.change({'task_state': 'powering-off'}))
        stopped = self.change({'vm_state': 'stopped', 'task_state': None})
        self.assertEqual(('stopped', None), stopped)

    def test_a_lost_race_is_told_as_one(self):
        self.assertRaises(
            exception.StateChanged,
            self.change,
            {'task_state': 'powering-off'},
            expect_task=('rebooting',),
        )

    def test_an_administrator_may_force_it(self):
        self.cell.write(instances.force, self.uuid, {'vm_state': 'shelved', 'task_state': None})
        self.assertEqual(('shelved', None), self.change({'task_state': None}))
