"""Pages of servers over build requests and all cells.

Each source is read and merged in the same order, build requests first. So a server that enters a
cell in the meantime is read twice and never missed; the second copy is removed here.
Source: reference/nova/cells-and-rpc 2.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import functools
import heapq
import typing

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import list_filters
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instance_lists


class Pending:
    """The server of a build request in a list: its columns and tags, and itself as a marker."""

    def __init__(self, build_request: rows.Row) -> None:
        self.row = server_access.row_of(build_request)
        self.tags = build_request.tags
        self._mapping = vars(self.row)

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self.row, name)


# A server of a list, and its order: (column, 'asc' or 'desc').
Record: typing.TypeAlias = rows.Row | Pending
# A server and its cell, which is None for a build request.
Found: typing.TypeAlias = tuple[Record, cells.Cell | None]
Sort: typing.TypeAlias = Sequence[tuple[str, str]]


class Page:
    """Servers of one page, in order.

    pending: {uuid: Pending} of those that are build requests
    where: {uuid: Cell} of the servers in cells
    rows: {(uuid, Cell): row} of all rows that cells returned
    down: cells that did not answer
    """

    def __init__(self) -> None:
        self.uuids: list[str] = []
        self.pending: dict[str, Pending] = {}
        self.where: dict[str, cells.Cell] = {}
        self.down: list[cells.Cell] = []
        self.rows: dict[tuple[str, cells.Cell], rows.Row] = {}

    def row(self, uuid: str) -> rows.Row | None:
        """Return the row of a server, None if its present cell has returned none."""
        if uuid in self.pending:
            return self.pending[uuid].row
        return self.rows.get((uuid, self.where[uuid]))


def read(
    req: request.Request,
    criteria: list_filters.Criteria,
    sort: Sort,
    limit: int,
    *,
    more: Iterable[str] = (),
) -> Page:
    """Return the Page that the request asks for. Raise MarkerNotFound.

    sort: (column name, 'asc' or 'desc') pairs, ending in a unique column
    more: names of further columns of the rows
    """
    page = Page()
    pending = _pending(req, criteria)
    marker = _marker(req, criteria, pending)
    if limit == 0:
        return page
    sources: list[list[Found]] = [_sorted(pending, sort, marker)]
    found = req.app.cells.scatter(
        instance_lists.keys,
        criteria.conditions,
        sort,
        limit=None if criteria.addresses else limit,
        marker=marker,
        more=(*more, 'network_info') if criteria.addresses else more,
    )
    answers, silent = cells.split(found)
    page.down.extend(silent)
    for cell, listed in answers.items():
        if criteria.addresses:
            listed = [row for row in listed if criteria.reachable(row)]
        sources.append([(row, cell) for row in listed])
    order = order_of(sort)
    twice = set()
    for row, place in heapq.merge(*sources, key=lambda pair: order(pair[0])):
        # A server that two cells know has the same place in both lists.
        if len(page.uuids) == limit and row.uuid not in page.where:
            break
        if not _take(page, row, place):
            twice.add(row.uuid)
    _settle(req, page, twice)
    return page


def _take(page: Page, row: Record, cell: cells.Cell | None) -> bool:
    if cell is not None and not isinstance(row, Pending):
        page.rows[row.uuid, cell] = row
    if row.uuid in page.pending or row.uuid in page.where:
        return False
    page.uuids.append(row.uuid)
    if isinstance(row, Pending):
        page.pending[row.uuid] = row
    elif cell is not None:
        page.where[row.uuid] = cell
    return True


def _settle(req: request.Request, page: Page, twice: Iterable[str]) -> None:
    """Keep the record in the mapped cell of a server that is changing cells."""
    wanted = [uuid for uuid in twice if uuid in page.where]
    if not wanted:
        return
    for mapping in req.app.api_db.read(instance_mappings.of, wanted):
        if mapping.cell_id is not None:
            page.where[mapping.instance_uuid] = req.app.cells.by_id(mapping.cell_id)


def _pending(req: request.Request, criteria: list_filters.Criteria) -> list[Pending]:
    rows = req.app.api_db.read(build_requests.every, criteria.project_id)
    found = [Pending(row) for row in rows]
    return [each for each in found if criteria.accepts(each.row, each.tags)]


def _marker(
    req: request.Request, criteria: list_filters.Criteria, pending: Iterable[Pending]
) -> Record | None:
    """Return the row after which the page begins, from its cell or a build request."""
    marker = req.param('marker')
    if not marker:
        return None
    for each in pending:
        if each.uuid == marker:
            return each
    if formats.is_uuid(marker):
        mapping = req.app.api_db.read(instance_mappings.find, marker)
        if mapping is not None and mapping.cell_id is not None:
            # The marker may have left the filters since its page was shown.
            whose = []
            if criteria.project_id is not None:
                whose.append(instance_lists.equals('project_id', criteria.project_id))
            cell = req.app.cells.by_id(mapping.cell_id)
            row = server_access.read_cell(req, cell, mapping, instance_lists.find, marker, whose)
            if row is not None:
                return row
    raise exception.MarkerNotFound(marker=marker)


def _sorted(pending: Iterable[Pending], sort: Sort, marker: Record | None) -> list[Found]:
    order = order_of(sort)
    ordered = sorted(pending, key=order)
    if marker is not None:
        after = order(marker)
        ordered = [each for each in ordered if order(each) > after]
    return [(each, None) for each in ordered]


@functools.total_ordering
class _Descending:
    """A value that sorts in descending order."""

    __slots__ = ('value',)

    def __init__(self, value: tuple[bool, typing.Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.value == other.value

    def __lt__(self, other: '_Descending') -> bool:
        return other.value < self.value


def order_of(sort: Sort) -> Callable[[Record], tuple[typing.Any, ...]]:
    """Return a key function that puts rows in the order the databases sort them."""
    names = [(name, direction == 'desc') for name, direction in sort]

    def key(row: Record) -> tuple[typing.Any, ...]:
        parts = []
        for name, descending in names:
            value = getattr(row, name)
            # NULL sorts before everything, as paging.ordered has it.
            part = (False, 0) if value is None else (True, value)
            parts.append(_Descending(part) if descending else part)
        return tuple(parts)

    return key
