"""A server that is soft-deleted or reset while it leaves its host."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import instances
from nova_lite.moves import shelve
from nova_lite.states import transitions
from tests.unit.moves import moves_base

RESTORE = transitions.RESTORE


class DeletedOffloadTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.force(vm_state='shelved', power_state=4)
        made = self.make(shelve.ShelveOffload, transitions.SHELVE_OFFLOAD, 'shelveOffload')
        self.do(made, made.steps()[:1])
        self.steps = made.steps()
        self.step = next(step for step in self.steps if step.id == 'record-no-host')

    def force(self, **changes):
        self.cell.db.write(instances.force, self.server, changes)

    def restore(self, connection):
        """Change the record as the API does."""
        instances.force(
            connection,
            self.server,
            {'task_state': str(RESTORE.during), 'deleted_at': None},
            expect_task=RESTORE.task_states,
            expect_vm=RESTORE.vm_states,
        )

    def test_restoration_before_the_deletion_begins(self):
        """The transaction that finds the server deleted is the one that deletes it."""
        self.force(vm_state='soft-delete', task_state=None, deleted_at=runtime.naive_now())
        write, refused = self.cell.db.write, []

        def write_and_restore(*args, **options):
            found = write(*args, **options)
            if not refused:
                refused.append(self.assertRaises(exception.Conflict, write, self.restore))
            return found

        self.cell.db.write = write_and_restore
        self.step.do()
        self.assertEqual(1, len(refused))
        self.assertEqual(('deleted', None, moves_base.SOURCE), self.state())
        self.step.do()

    def test_restoration_before_that(self):
        self.force(vm_state='soft-delete', task_state=None, deleted_at=runtime.naive_now())
        self.cell.db.write(self.restore)
        self.step.do()
        self.assertEqual(('shelved_offloaded', None, None), self.state())

    def test_reset_after_the_server_has_left_its_host(self):
        """A server that is ACTIVE on no host would obey no request but a deletion."""
        self.step.do()
        end = next(step for step in self.steps if step.id == 'record-end-of-offload')
        for state, shown in (('active', 'shelved_offloaded'), ('error', 'error')):
            self.force(vm_state=state, task_state=None)
            end.do()
            self.assertEqual((shown, None, None), self.state())

    def state(self):
        return self.cell.state(self.server)
