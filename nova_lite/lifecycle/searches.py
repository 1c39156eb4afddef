"""Common parts of periodic searches: a cell or server that fails does not hold up others."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import instances

LOG = log.getLogger(__name__)


class Cell(typing.Protocol):
    """An object with a name for log lines."""

    @property
    def name(self) -> str: ...


C = typing.TypeVar('C', bound=Cell)


@contextlib.contextmanager
def going_on(message: str, *args: object) -> Iterator[None]:
    """Log any error that the block raises, and continue after the block.

    message: beginning of the log line, which names the work that failed; args: its arguments
    """
    try:
        yield
    except exception.NovaLiteError as error:
        LOG.warning('%s: %s', message % args, error)
    except Exception:
        # A defect of one cell or server must not hold up the other cells and servers.
        LOG.exception(message, *args)


def each(cells: Iterable[C], look: Callable[[C], object], *, what: str) -> None:
    """Call `look(cell)` for one cell after the other.

    what: noun for the log, of the objects sought
    """
    for cell in cells:
        with going_on('Skipping cell %s in the search for %s', cell.name, what):
            look(cell)


def is_still(connection: sa.Connection, row: rows.Row) -> bool:
    """Return whether a server has the host and the task with which a search has found it.

    The search may have processed other servers since.
    """
    found = instances.find(connection, row.uuid)
    if found is None or found.deleted:
        return False
    return (found.host, found.task_state) == (row.host, row.task_state)
