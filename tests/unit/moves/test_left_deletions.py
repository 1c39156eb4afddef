"""Failures that are left as in nova, of servers whose deletion was accepted; see moves_base."""

from nova_lite import context
from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.lifecycle import intents
from nova_lite.moves import confirm
from nova_lite.moves import kinds
from nova_lite.moves import steps
from nova_lite.saga import step as saga_step
from nova_lite.saga import values
from nova_lite.states import nova_failures
from nova_lite.states import transitions
from tests.unit.moves import moves_base

SOFT = ('active', 'soft-deleting')
ENDING = (('active', 'deleting'), SOFT, ('soft-delete', None))
ROWS = [(row, kind) for row in nova_failures.FAILURES for kind in row.kinds]
ERROR = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}


class LeftDeletionsTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.cell.conf.set_override('failures', 'nova', group='conductor')

    def set(self, vm_state, task_state):
        changes = {'vm_state': vm_state, 'task_state': task_state}
        self.cell.db.write(instances.force, self.server, changes)

    def make_any(self, kind, row, guard):
        """A saga of a kind, as far as the row is about it; its steps cannot be run."""
        made = kinds.KINDS[kind]
        given = {**dict.fromkeys(values.required(made)), **row.arguments}
        arguments = {name: given[name] for name in given if name not in ('cell', 'order')}
        order = intents.order(guard, 'any')
        record = moves_base.saga_record(
            kind, self.cell, self.server, order=order, arguments=arguments
        )
        return made(self.world, record, context.admin())

    def left(self, made, row):
        made.data[saga_step.LEFT_AS] = {'name': row.name}
        self.cell.db.write(made.leaving.settle, self.cell.row(self.server), ERROR)

    def test_they_fail_as_without_the_option(self):
        for row, kind in ROWS:
            made = self.make_any(kind, row, transitions.SOFT_DELETE)
            error = getattr(exception, row.errors[0]) if row.errors else exception.NovaLiteError
            for state in (('active', None), *ENDING):
                self.set(*state)
                leave = made.leave_at(kinds.steps(kind)[row.steps[0]], error.__new__(error))
                self.assertIs(state in ENDING, leave is None, (row.name, kind, state))

    def test_their_states_stay(self):
        """Also if the deletion was accepted after the failure, or began the saga itself."""
        for row, kind in ROWS:
            if steps.CLAIM in row.keeps:
                continue
            for guard in (transitions.DELETE, transitions.SOFT_DELETE):
                made = self.make_any(kind, row, guard)
                for state in ENDING:
                    self.set(*state)
                    self.left(made, row)
                    found = self.cell.state(self.server)
                    self.assertEqual((*state, moves_base.SOURCE), found, (row.name, kind))
        self.assertIsNone(self.cell.fault(self.server))

    def test_a_destination_keeps_the_server(self):
        """Its volumes and its allocation are there, so its record is as well."""
        row = nova_failures.BY_NAME['resize-on-destination']
        made = self.resize()
        self.do(made, moves_base.until(made, row.steps[0]))
        self.set(*SOFT)
        self.left(made, row)
        self.assertEqual((*SOFT, moves_base.DEST), self.cell.state(self.server))

    def test_a_soft_deletion_that_confirms(self):
        self.cell.conf.set_override('failures', 'undo', group='conductor')
        migration = self.resized()
        self.cell.conf.set_override('failures', 'nova', group='conductor')
        made = self.make(
            confirm.ConfirmResize,
            transitions.SOFT_DELETE_RESIZED,
            'delete',
            migration=migration,
            status='confirming',
            delete=True,
            keep=True,
        )
        for step in made.steps():
            if step.id == confirm.CLEAN:
                self.assertIsNone(made.leave_at(step, exception.NovaLiteError()))
                made.data[saga_step.GIVEN_UP] = {step.id: ERROR}
            else:
                self.do(made, [step])
        self.assertEqual(('soft-delete', None), self.cell.state(self.server)[:2])
        self.assertEqual('confirmed', self.status(migration))
