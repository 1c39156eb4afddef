"""Scope of a saga: the server, the services, and the cell with which its parts work.

A saga makes one Scope, and an End for each host between which its server moves. Parts and helper
functions take these and the values that they use. They do not know the saga.
"""

from collections.abc import Callable
from collections.abc import Collection
import functools
import typing

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves import world as worlds
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import values

P = typing.ParamSpec('P')
T = typing.TypeVar('T')
Args = typing.ParamSpec('Args')
# Task states of a server, one of which it must have.
Tasks: typing.TypeAlias = Collection[str | None]


class Arguments(saga.Value):
    """Arguments of all moves.

    cell: uuid of the server's cell
    order: arguments of the transaction in which the API began the move
    migration_uuid: uuid of the migration; default: the saga's uuid
    host, node: the requested destination
    """

    cell: str
    order: moves.Order
    migration_uuid: str | None = None
    host: str | None = None
    node: str | None = None
    ignore_hosts: list[str] | None = None


class Scope:
    """The server of a saga, the services that the saga uses, and how far the saga has come.

    of: the saga that the engine runs
    asked: the arguments of the saga
    tasks: the task states that the saga sets, and may clear
    present: function that returns the ServerCell with the server's visible record
    migration_uuid: uuid of the migration record
    """

    def __init__(
        self,
        of: saga.Saga,
        asked: Arguments,
        *,
        tasks: Tasks,
        present: Callable[[], server_cell.ServerCell],
    ) -> None:
        self._saga, self._cell, self._present = of, asked.cell, present
        self.world: worlds.World = of.world
        self.uuid, self.instance_uuid = of.uuid, of.instance_uuid
        self.migration_uuid = asked.migration_uuid or of.uuid
        self.tasks = tasks
        self._seen: dict[str, server_cell.Seen] = {}

    # ---- the saga ----

    @property
    def ctxt(self) -> context.RequestContext:
        """Return the user's context, whose calls are fenced."""
        return typing.cast(context.RequestContext, self._saga.ctxt)

    @property
    def results(self) -> values.Results:
        """Return the results of the saga's steps."""
        return self._saga.results

    @property
    def repeated(self) -> bool:
        """Return whether steps may have been tried before."""
        return self._saga.repeated

    @property
    def undoing(self) -> bool:
        """Return whether steps are being undone, as `Saga.undoing`."""
        return self._saga.undoing

    @property
    def going_back(self) -> bool:
        """Return whether steps are being undone only to continue differently."""
        return self._saga.going_back

    @property
    def given_up(self) -> dict[str, journal.Failure]:
        """Return {step id: error} of steps that were given up."""
        return self._saga.given_up

    @property
    def not_undone(self) -> dict[str, journal.Failure]:
        """Return {step id: error} of steps whose undo failed."""
        return self._saga.not_undone

    @property
    def left_as(self) -> str | None:
        """Return the name of the failure that the saga leaves as nova does, or None."""
        return self._saga.left_as

    def owes(self, step: str) -> bool:
        """Return whether the saga still has to do the duty of a step."""
        return cleaning.owes(self._saga, step)

    def key(self, step: str) -> str:
        """Return the idempotency key of a step for a host, as `Saga.key`."""
        return self._saga.key(step)

    # ---- the cell ----

    @functools.cached_property
    def cell(self) -> cells.Cell:
        """Return the server's cell at the begin of the saga."""
        return self.world.cells.get(self._cell)

    @property
    def here(self) -> server_cell.ServerCell:
        """Return the ServerCell of the server's cell at the begin of the saga."""
        return self.side(self.cell)

    def side(self, cell: cells.Cell) -> server_cell.ServerCell:
        """Return the ServerCell of a cell with a record of the server."""
        return server_cell.ServerCell(
            self.world,
            self.ctxt,
            self.instance_uuid,
            cell,
            self._seen,
            grouped=bool(self.results.get(steps.GROUP)),
        )

    @property
    def compute(self) -> compute_rpc.ComputeAPI:
        """Return a client of the cell's computes."""
        return self.here.compute

    def read(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query in the cell's database."""
        return self.here.read(function, *args, **kwargs)

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a transaction of the cell, which is refused if the epoch of the saga is old."""
        return self.here.write(function, *args, **kwargs)

    # ---- the server's record ----

    def row(self) -> rows.Row:
        """Return the server's row. Raise InstanceNotFound."""
        return self.read(instances.get, self.instance_uuid)

    def latest(self) -> rows.Row:
        """Return the server's row as `ServerCell.latest`. Raise InstanceNotFound."""
        row = self.here.latest()
        if row is None or row.deleted or row.hidden:
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def has_ports(self) -> bool:
        """Return whether the server has ports. None are added while it moves."""
        row = self.present.latest()
        return row is not None and bool(row.network_info)

    @property
    def present(self) -> server_cell.ServerCell:
        """Return the ServerCell with the server's visible record."""
        return self._present()

    def find(self) -> rows.Row | None:
        """Return the server's row in any state, or None."""
        return self.present.find()

    def find_present(self) -> rows.Row | None:
        """Return the server's row, or None if it is deleted or is being deleted."""
        row = self.find()
        return None if instances.is_gone(row) else row

    def is_gone(self) -> bool:
        """Return whether the server is deleted or is being deleted."""
        return self.find_present() is None

    def require_task(self, row: rows.Row | None) -> None:
        """Raise StateChanged if a server has left this saga. row: may be None"""
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


class End:
    """One end of a move: a host, its node, and the cell with its record of the server.

    place: function that returns (host, node), which are known after an earlier step
    cell: function that returns the ServerCell of the host; default: that of the server
    """

    def __init__(
        self,
        scope: Scope,
        place: Callable[[], tuple[typing.Any, str | None]],
        cell: Callable[[], server_cell.ServerCell] | None = None,
    ) -> None:
        self._scope, self._place, self._cell = scope, place, cell

    @property
    def host(self) -> str:
        """Return the host."""
        host: str = self._place()[0]
        return host

    @property
    def node(self) -> str | None:
        """Return the name of the host's node."""
        return self._place()[1]

    @property
    def cell(self) -> server_cell.ServerCell:
        """Return the ServerCell of the host."""
        return self._cell() if self._cell else self._scope.here

    @property
    def compute(self) -> compute_rpc.ComputeAPI:
        """Return a client of the computes of the host's cell."""
        return self.cell.compute

    @property
    def columns(self) -> dict[str, typing.Any]:
        """Return {'host', 'node'}, as arguments of calls and columns of the server."""
        host, node = self._place()
        return {'host': host, 'node': node}

    def asked(self, step: str) -> saga.Data:
        """Return the common arguments of a call: host, node, server and the key of a step."""
        own = {'instance_uuid': self._scope.instance_uuid, 'key': self._scope.key(step)}
        return {**self.columns, **own}


class Route(typing.NamedTuple):
    """Both ends of a move."""

    source: End
    dest: End

    @property
    def stays(self) -> bool:
        """Return whether source and destination are the same host."""
        return self.dest.host == self.source.host

    def back(self) -> 'Route':
        """Return the opposite route."""
        return Route(source=self.dest, dest=self.source)


class Owner(typing.Protocol):
    """A saga or a part, with its scope."""

    @property
    def scope(self) -> Scope: ...


Of = typing.TypeVar('Of', bound=Owner)


def transaction(
    method: Callable[typing.Concatenate[Of, sa.Connection, Args], T],
) -> Callable[typing.Concatenate[Of, Args], T]:
    """Run a method (self, connection, ...) of a saga or a part as a transaction of its cell."""

    @functools.wraps(method)
    def run(self: Of, /, *args: Args.args, **kwargs: Args.kwargs) -> T:
        bound: Callable[typing.Concatenate[sa.Connection, Args], T] = method.__get__(self)
        return self.scope.write(bound, *args, **kwargs)

    return run


def ending(
    method: Callable[typing.Concatenate[Of, sa.Connection, Args], None],
) -> Callable[typing.Concatenate[Of, sa.Connection, Args], None]:
    """Make a method (self, connection, ...) that records the end of a saga do so only once.

    The step is repeated if the journal does not know its end. Users may have changed the server
    since, and a second fault would tell of no second failure.
    """

    @functools.wraps(method)
    def run(
        self: Of, connection: sa.Connection, /, *args: Args.args, **kwargs: Args.kwargs
    ) -> None:
        if epochs.end(connection, self.scope.uuid):
            method(self, connection, *args, **kwargs)

    return run
