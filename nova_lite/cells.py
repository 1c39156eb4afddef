"""Cells: the cell mappings, their databases and buses, and queries to all cells at once.

Used by the API, the super-conductor and the scheduler. A cell conductor or a compute has
access only to its own cell.
Source: reference/nova/cells-and-rpc 1 and 2.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing
import urllib.parse

from oslo_config import cfg
from oslo_log import log
import oslo_messaging
from oslo_utils import netutils
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.db import errors
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.rpc import transport
from nova_lite.runtime import workers

LOG = log.getLogger(__name__)

CELL0_UUID = cell_mappings.CELL0_UUID
T = typing.TypeVar('T')
RELOAD_S = 30
READERS = 16  # threads that read from one cell
# Errors of `fill`. Their texts may have a part of a password.
TEMPLATE_ERRORS = (AttributeError, LookupError, TypeError, ValueError)


class Cell:
    """One cell. `db` is its Database; `bus` its transport, opened on first use.

    `oldest_compute()` is the oldest version among its computes.

    Bounded reads (`submit`) have their own threads. A thread that hangs in a database that
    does not answer is not missing in other work.
    """

    def __init__(self, conf: cfg.ConfigOpts, row: rows.Row, of: incarnation.Incarnation) -> None:
        self.id, self.uuid, self.name, self.disabled = row.id, row.uuid, row.name, row.disabled
        self.urls = (row.transport_url, row.database_connection)
        url = fill(row.database_connection, conf.database.connection)
        self.db = transactions.Database(url, limits=transactions.limits(conf), of=of)
        self.oldest_compute = services.Oldest(self.db)
        self._conf, self._incarnation = conf, of
        self._bus: oslo_messaging.Transport | None = None
        self._lock = runtime.Lock()
        self._readers = workers.Executor(READERS)
        self._hanging = 0

    @property
    def is_cell0(self) -> bool:
        return bool(self.uuid == CELL0_UUID)

    @property
    def bus(self) -> oslo_messaging.Transport:
        if self.is_cell0:
            raise exception.InstanceNotReady(instance_id='in cell0')
        with self._lock:
            if self._bus is None:
                self._bus = transport.open_bus(self._conf, self.bus_url, self._incarnation)
            return self._bus

    @property
    def bus_url(self) -> str:
        """Return the URL of the cell's bus, as this process reaches it."""
        return fill(self.urls[0], self._conf.transport_url)

    def submit(
        self,
        function: Callable[..., typing.Any],
        args: tuple[typing.Any, ...],
        kwargs: dict[str, typing.Any],
        *,
        writes: bool = False,
    ) -> runtime.Future[typing.Any] | None:
        """Begin a transaction in a thread. Return its future, or None if all threads hang."""
        if self._hanging >= READERS:
            return None
        asked: runtime.Future[typing.Any] = self._readers.submit(
            self._ask, function, args, kwargs, writes=writes
        )
        return asked

    def _ask(
        self,
        function: Callable[..., typing.Any],
        args: tuple[typing.Any, ...],
        kwargs: dict[str, typing.Any],
        *,
        writes: bool,
    ) -> typing.Any:
        ask = self.db.write if writes else self.db.read
        try:
            return ask(function, *args, **kwargs)
        except exception.Unavailable as error:
            LOG.warning('Cannot reach cell %s: %s', self.name, error)
            return Unreachable(error)
        except (*errors.ERRORS, sa.exc.ArgumentError) as error:
            # Its database is of no use: without its schema or with a malformed URL, for example.
            LOG.exception('Unexpected error in a query to cell %s', self.name)
            return Unreachable(error)

    def give_up(self, future: runtime.Future[typing.Any]) -> None:
        """Stop waiting for the future of a read. Its thread may hang until the database answers."""
        LOG.warning('Cell %s did not answer in time', self.name)
        if not future.cancel():
            self._count(1)
            future.add_done_callback(lambda _future: self._count(-1))

    def _count(self, number: int) -> None:
        with self._lock:
            self._hanging += number

    def close(self) -> None:
        """Close the connections. Only for a cell whose mapping was deleted or changed."""
        self._readers.shutdown(wait=False, cancel_futures=True)
        self.db.dispose()
        if self._bus is not None:
            self._bus.cleanup()

    def __repr__(self) -> str:
        return f'<Cell {self.name} {self.uuid}>'


class Clients(typing.Generic[T]):
    """Clients on the buses of cells, one for each cell.

    A new client for each call would cost more than the call: oslo.config forgets the values that it
    has read whenever a client registers its options.

    make: function that returns the client of a Cell
    """

    def __init__(self, make: Callable[[Cell], T]) -> None:
        self._make = make
        self._known: dict[str, tuple[Cell, T]] = {}

    def of(self, cell: Cell) -> T:
        """Return the client of a cell. A cell that was changed is another object."""
        known = self._known.get(cell.uuid)
        if known is None or known[0] is not cell:
            known = self._known[cell.uuid] = (cell, self._make(cell))
        return known[1]


class Unreachable:
    """The result of `scatter` for a cell that did not answer; `error` has the reason."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def split(
    answers: Mapping[Cell, T | Unreachable],
) -> tuple[dict[Cell, T], dict[Cell, Unreachable]]:
    """Split the results of `scatter`. Return {cell: result} and {cell: Unreachable}."""
    found: dict[Cell, T] = {}
    silent: dict[Cell, Unreachable] = {}
    for cell, answer in answers.items():
        if isinstance(answer, Unreachable):
            silent[cell] = answer
        else:
            found[cell] = answer
    return found, silent


class Cells:
    """All cells of a deployment, read from the API database and kept.

    timeout_s: how long a cell may take to answer a query sent to all
    watch: function that takes a Cell and returns the watcher of its database; or None
    """

    def __init__(
        self, conf: cfg.ConfigOpts, api_db: transactions.Database, timeout_s: float | None = None
    ) -> None:
        self.conf = conf
        self.api_db = api_db
        self.timeout_s = timeout_s or conf.api.cell_timeout
        self.watch: Callable[[Cell], notes.Watcher] | None = None
        self._cells: dict[str, Cell] = {}
        self._incarnation = incarnation.current()
        self._loaded: float | None = None
        self._stamp = 0
        self._lock = runtime.Lock()

    def every(self, *, cell0: bool = True, disabled: bool = True) -> list[Cell]:
        """Cells in the order of their mappings."""
        return [
            cell
            for cell in self._known().values()
            if (cell0 or not cell.is_cell0) and (disabled or not cell.disabled)
        ]

    def follow(self, found: Mapping[str, int]) -> None:
        """Read the cells again if one was mapped, changed or deleted. found: stamps, just read"""
        if found.get(stamps.CELLS, 0) != self._stamp:
            self._known(again=True)

    def get(self, uuid: str) -> Cell:
        """Return one cell by uuid. Raise CellMappingNotFound."""
        return self._find(lambda cell: cell.uuid == uuid, uuid)

    def by_id(self, cell_id: int) -> Cell:
        """Return one cell by the mapping's id. Raise CellMappingNotFound."""
        return self._find(lambda cell: cell.id == cell_id, cell_id)

    @property
    def cell0(self) -> Cell:
        return self.get(CELL0_UUID)

    def of_host(self, host: str) -> Cell:
        """Return the cell of a compute host. Raise HostMappingNotFound."""
        return self.by_id(self.api_db.read(host_mappings.get, host).cell_id)

    def of_instance(self, uuid: str) -> Cell:
        """Return the cell of a server.

        Raise InstanceNotFound, or InstanceMappingNotFound if the server is in no cell yet.
        """
        try:
            mapping = self.api_db.read(instance_mappings.get, uuid)
        except exception.InstanceMappingNotFound:
            raise exception.InstanceNotFound(instance_id=uuid) from None
        if mapping.cell_id is None:
            raise exception.InstanceMappingNotFound(uuid=uuid)
        return self.by_id(mapping.cell_id)

    def instance(self, uuid: str, **options: bool) -> tuple[Cell, rows.Row]:
        """Return (cell, row) of a server that is in a cell. Raise InstanceNotFound."""
        cell = self.of_instance(uuid)
        return cell, cell.db.read(instances.get, uuid, **options)

    def scatter(
        self,
        function: Callable[..., T],
        *args: typing.Any,
        cells: Iterable[Cell] | None = None,
        timeout_s: float | None = None,
        writes: bool = False,
        **kwargs: typing.Any,
    ) -> dict[Cell, T | Unreachable]:
        """Run `function(connection, ...)` in every cell at once.

        writes: the function changes rows. It may take effect after the timeout, so it must do
            no harm then
        Returns {cell: result}, with an Unreachable for a cell that failed or did not answer
        within timeout_s. So a dead cell delays the answer by at most the timeout.
        """
        cells = self.every() if cells is None else cells
        started = {cell: cell.submit(function, args, kwargs, writes=writes) for cell in cells}
        runtime.wait_all(
            [future for future in started.values() if future is not None],
            timeout_s or self.timeout_s,
        )
        results = {}
        for cell, future in started.items():
            if future is not None and future.done():
                results[cell] = future.result()
                continue
            if future is not None:
                cell.give_up(future)
            results[cell] = Unreachable(
                exception.CellTimeout(service='A cell', reason='no answer', cell=cell.name)
            )
        return results

    def _find(self, matches: Callable[[Cell], bool], key: object) -> Cell:
        for again in (False, True):
            for cell in self._known(again).values():
                if matches(cell):
                    return cell
        raise exception.CellMappingNotFound(cell=key)

    def _known(self, again: bool = False) -> dict[str, Cell]:
        now = runtime.monotonic()
        if not again and self._loaded is not None and now - self._loaded < RELOAD_S:
            return self._cells
        with self._lock:
            stamp, found = self.api_db.read(_read)
            fresh = {}
            for row in found:
                old = self._cells.get(row.uuid)
                if old and (old.id, *old.urls) == (
                    row.id,
                    row.transport_url,
                    row.database_connection,
                ):
                    old.name, old.disabled = row.name, row.disabled
                    fresh[row.uuid] = old
                else:
                    fresh[row.uuid] = self._made(row)
            # The stamp last: `follow` in another thread believes that the cells are as new.
            self._cells, self._loaded, self._stamp = fresh, now, stamp
            return fresh

    def _made(self, row: rows.Row) -> Cell:
        cell = Cell(self.conf, row, self._incarnation)
        if self.watch is not None:
            cell.db.watcher = self.watch(cell)
        return cell

    def close(self) -> None:
        """Close the connections of all cells."""
        for cell in self._cells.values():
            cell.close()


def _read(connection: sa.Connection) -> tuple[int, Sequence[rows.Row]]:
    """Return the stamp of the cells, and the cells, which may be newer."""
    return stamps.every(connection).get(stamps.CELLS, 0), cell_mappings.every(connection)


def fill(url: str, local: str | None) -> str:
    """Fill `{hostname}`, `{port}`, ... in a mapping's URL from a daemon's own URL.

    Raise one of TEMPLATE_ERRORS if either URL is malformed.
    IPv6 addresses have brackets in the result, whether or not they are in the mapping.
    """
    if '{' not in url or not local:
        return url
    parts = urllib.parse.urlsplit(local)
    return url.replace('[{hostname}]', '{hostname}').format(
        scheme=parts.scheme,
        hostname=netutils.escape_ipv6(parts.hostname or ''),
        port=parts.port or '',
        username=parts.username or '',
        password=parts.password or '',
        path=parts.path.removeprefix('/'),
        query=parts.query,
        fragment=parts.fragment,
    )
