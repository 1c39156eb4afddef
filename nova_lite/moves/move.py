"""Base of all moves: their records, destination and failure.

A move reads the server's row again in each step, because the user may delete the server at
any time. The step that notices a deletion undoes the move. An undo that restored something of
a deleted server removes it again, and the host deletes the rest.
Source: contributor/architecture, Sagas; reference/nova/moves 3 and 6.
"""

import abc
from collections.abc import Collection
from collections.abc import Sequence
import functools
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import part
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import action_events
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import stored_request
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpcapi import compute as compute_rpc
from nova_lite.saga import journal

LOG = log.getLogger(__name__)

P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# Task states of a server, one of which it must have.
Tasks: typing.TypeAlias = Collection[str | None]
# (name of an event, host or None)
Event: typing.TypeAlias = tuple[str, str | None]


class Arguments(saga.Value):
    """Arguments of all moves.

    cell: uuid of the server's cell
    order: of the transaction in which the API began the move
    migration_uuid: default: the saga's uuid
    host, node: the requested destination
    """

    cell: str
    order: moves.Order
    migration_uuid: str | None = None
    host: str | None = None
    node: str | None = None
    ignore_hosts: list[str] | None = None


class Move(saga.Saga, typing.Generic[steps.Found]):
    """Base class of moves.

    tasks: the task states that this saga sets, and may clear
    refusable: ids of steps whose refusal leads to another destination
    harmless: ids of steps whose undo may fail without breaking the server
    first: id of the first step
    named: arguments that notifications of this saga contain
    faults: whether a failure is a fault of the server, which has a task meanwhile
    """

    world: worlds.World
    ctxt: context.RequestContext
    arguments: Arguments
    tasks: Tasks = ()
    refusable: Collection[str] = ()
    harmless: Collection[str] = ()
    first: saga.Result[steps.Found]
    named: Sequence[str] = ()
    faults = True
    events = part.Of(action_events.Events)
    allocation = part.Of(allocation.Allocation)
    stored_request = part.Of(stored_request.StoredRequest)
    choice = part.Of(choice.Choice)

    # ---- records ----

    @functools.cached_property
    def cell(self) -> cells.Cell:
        """Return the server's cell at the begin of the move."""
        return self.world.cells.get(self.arguments.cell)

    @property
    def migration_uuid(self) -> str:
        """Return the uuid of the migration record."""
        return self.arguments.migration_uuid or self.uuid

    @property
    def here(self) -> server_cell.ServerCell:
        """Return the cell of the server as steps use it."""
        return server_cell.ServerCell(self, self.cell)

    @property
    def there(self) -> server_cell.ServerCell:
        """Return the same of the destination's cell."""
        return self.here

    @property
    def compute(self) -> compute_rpc.ComputeAPI:
        return self.here.compute

    def read(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.here.read(function, *args, **kwargs)

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a transaction of the cell, which is refused if the epoch of the saga is old."""
        return self.here.write(function, *args, **kwargs)

    def row(self) -> rows.Row:
        """Return the server's row. Raise InstanceNotFound."""
        return self.read(instances.get, self.instance_uuid)

    def find(self) -> rows.Row | None:
        """Return the server's row in any state, or None."""
        return self.read(instances.find, self.instance_uuid)

    def find_present(self) -> rows.Row | None:
        """Return the server's row, or None if it is deleted or is being deleted."""
        row = self.find()
        return None if instances.is_gone(row) else row

    def is_gone(self) -> bool:
        """Return whether the server is deleted or is being deleted."""
        return self.find_present() is None

    def require_task(self, row: rows.Row | None) -> None:
        """Raise StateChanged if a server has left this move. row: may be None"""
        task = row.task_state if row is not None and not row.deleted else 'deleted'
        if task not in self.tasks:
            detail = f'found task {task}'
            raise exception.StateChanged(what='Instance', key=self.instance_uuid, detail=detail)

    def require_row(self, row: rows.Row | None) -> rows.Row:
        """Return the row of a server in any state. Raise InstanceNotFound if there is none."""
        if row is None:
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def require_there(self, row: rows.Row | None) -> rows.Row:
        """Return the row of a server. Raise InstanceNotFound if it is gone, see `is_gone`."""
        if row is None or instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def devices(self) -> server_cell.Devices:
        """Return the server's block devices as objects."""
        return self.here.devices()

    def ask(
        self, method: asking.Method, *, known: asking.Known | None = None, **arguments: typing.Any
    ) -> asking.Reply:
        """Call a method of a compute, see `asking`. Return a Pending, or the reply."""
        return asking.ask(self, method, arguments, known=known)

    def asked(self, host: str | None, node: str | None, step: str) -> saga.Data:
        """Return the arguments that name a host, its node, the server and a step's key."""
        own = {'instance_uuid': self.instance_uuid, 'key': self.key(step)}
        return {'host': host, 'node': node, **own}

    def at_source(self: 'Move[steps.Began]', step: str) -> saga.Data:
        """Return them for the host that the server was on."""
        return self.asked(self.began.host, self.began.node, step)

    def at_dest(self, step: str) -> saga.Data:
        """Return them for the destination."""
        return self.asked(**self.dest, step=step)

    @staticmethod
    def instance(row: rows.Row, **changes: typing.Any) -> instance_objects.Instance:
        """Return the Instance of a row. changes: fields with other values"""
        return instance_objects.Instance.from_row(row, **changes)

    # ---- step: begin ----

    @property
    def order(self) -> moves.Order:
        """Return the arguments of the transaction in which the API began the move."""
        return self.arguments.order

    @part.transaction
    def begin(self, connection: sa.Connection) -> steps.Found:
        """Repeat the API's transaction, which may not have happened, and add our records."""
        moves.begin(connection, self.ctxt, self.instance_uuid, self.order)
        self.events.name_subject(connection)
        return self.record_begin(connection, instances.find(connection, self.instance_uuid))

    @property
    def began(self) -> steps.Found:
        """Return the result of `record_begin`."""
        return self.results[self.first]

    @property
    def has_begun(self) -> bool:
        """Return whether the first step is done."""
        return self.first in self.results

    @abc.abstractmethod
    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> steps.Found:
        """Record the begin of a kind of move. Return the result of the first step.

        row: the server's, which may be gone already (`instances.is_gone`)
        """

    @part.transaction
    def give_up(self, connection: sa.Connection) -> asking.Reply:
        """Undo `begin`: record the failure and clear the server's task."""
        if not moves.has_begun(connection, self.ctxt, self.instance_uuid, self.order):
            return None
        row = instances.find(connection, self.instance_uuid)
        present = None if instances.is_gone(row) else row
        self.record_undo(connection, present)
        if self.faults and present is not None:
            self._free(connection, present)
        self.events.end_all(connection, self.error)
        return None

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        """Record the undo of a kind of move. row: None if the server is gone

        A migration that the user's request claimed gets its former status.
        """
        claims = self.order.claims
        if claims:
            migrations.update(connection, claims['uuid'], {'status': claims['from'][0]})

    def _free(self, connection: sa.Connection, row: rows.Row) -> None:
        """Clear the task and add a fault. Set a server that could not be restored to ERROR."""
        changes, error = self.changes_of_failure(row), self.error
        lost = [self.not_undone[step] for step in self.not_undone if step not in self.harmless]
        if lost:
            changes = {**changes, 'vm_state': states.VmState.ERROR}
            move_records.change_reset(connection, row.uuid, changes)
            error = error if error is not None and self.shown(error) else lost[0]
        first = self.order.changes.get('task_state')
        self.clear_task(connection, changes, tasks=(*self.tasks, first))
        self.add_fault(connection, error)

    def clear_task(
        self, connection: sa.Connection, changes: rows.Values, *, tasks: Tasks | None = None
    ) -> None:
        """Clear the task and change columns, unless another request has set the task.

        tasks: the task states to clear; default: this saga's
        """
        uuid, changes = self.instance_uuid, {'task_state': None, **changes}
        try:
            self.change(connection, changes, tasks=tasks)
        except exception.TransitionRefused:
            # A defect: without this the server would keep its task forever.
            LOG.exception('Cannot restore server %s. Its status is ERROR.', uuid)
            lost = {**changes, 'vm_state': states.VmState.ERROR}
            instances.force(connection, uuid, lost, expect_task=tasks or self.tasks)

    @part.transaction
    def give_back(self, connection: sa.Connection) -> None:
        """Clear the task and end the action."""
        self.clear_task(connection, {})
        self.events.end_all(connection)

    def change(
        self, connection: sa.Connection, changes: rows.Values, *, tasks: Tasks | None = None
    ) -> bool:
        """Change columns of the server. Return False if another request has set its task.

        tasks: as of `clear_task`
        """
        uuid = self.instance_uuid
        try:
            instances.update(connection, uuid, changes, expect_task=tasks or self.tasks)
        except exception.StateChanged as error:
            LOG.info(
                'Server %s was changed by another request; not updating its state: %s', uuid, error
            )
            return False
        return True

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        """Return the columns of the server that an undo restores."""
        return {}

    def shown(self, error: journal.Failure) -> journal.Failure | None:
        """Return the error that the user is shown for an error, or None."""
        return error

    def add_fault(self, connection: sa.Connection, error: journal.Failure | None) -> None:
        """Add a fault to the server. error: as Saga.error"""
        if error is not None and self.shown(error):
            texts = {'message': error['message'], 'details': error['traceback']}
            instances.add_fault(connection, self.instance_uuid, code=500, **texts)

    def note_progress(
        self,
        connection: sa.Connection,
        *,
        status: str | None = None,
        changes: rows.Values | None = None,
        started: Event | None = None,
        ended: Event | None = None,
        expect: Tasks | None = None,
    ) -> None:
        """Record the progress of the move.

        status: of the migration; changes: columns of the server, whose task must be in `expect`
        (default: this saga's tasks); started, ended: (event, host)
        Raise StateChanged if the server is no longer in this move.
        """
        expect = expect or self.tasks
        instances.update(connection, self.instance_uuid, changes or {}, expect_task=expect)
        if status is not None:
            migrations.update(connection, self.migration_uuid, {'status': str(status)})
        if ended:
            self.events.end(connection, *ended)
        if started:
            self.events.start_first(connection, *started)

    # The same in a transaction of its own.
    progress = part.transaction(note_progress)

    # ---- step: choose destination ----

    @property
    def may_retry(self) -> bool:
        """Return whether another host may be tried: not if the user requested one."""
        return not self.arguments.host

    def spec(self, beside: Collection[str]) -> request_spec.RequestSpec:
        """Return the server's request for the scheduler. beside: as of `held_beside`"""
        return self.choice.stored_spec()

    def held_beside(self) -> set[str]:
        """Return the providers that the server may hold besides the destination.

        A scheduler whose reply was lost may still claim. Of two claims both would stay. So a claim
        that finds another one is refused, and the next try begins with `drop_claim`.
        """
        return self.allocation.kept_on()

    def drop_claim(self) -> None:
        """Undo `choose`: only the migration keeps an allocation."""
        placement, keep = self.world.placement, self.allocation.kept_on()
        placement.delete_allocations(self.ctxt, self.instance_uuid, keep=keep)

    def go_back(self, step: saga.Step, error: Exception) -> str | None:
        """Return to `choose` if a destination refuses or does not answer, see `Choice.go_back`."""
        return self.choice.go_back(step, error)

    @property
    def destination(self) -> selection.Selection:
        """Return the Selection of the destination."""
        return self.results[steps.CHOOSE]

    @property
    def source_host(self) -> str:
        """Return the host that the server leaves."""
        began: typing.Any = self.began
        host: str = began.host
        return host

    @property
    def dest_host(self) -> str:
        """Return the destination's host."""
        return self.destination.service_host

    @property
    def dest(self) -> dict[str, str]:
        """Return the destination as arguments of calls and columns of the server name it."""
        return {'host': self.dest_host, 'node': self.destination.nodename}

    @property
    def stays(self) -> bool:
        """Return whether source and destination are the same host."""
        return self.dest_host == self.source_host

    def devices_to_reserve(self) -> server_cell.Devices:
        """Return the block devices that the destination needs, if they are volumes."""
        return self.devices()


# A saga of any kind: what its first step finds differs.
AnyMove: typing.TypeAlias = Move[typing.Any]
