"""Pages of servers over build requests and all cells.

Every source is read in the same order and merged by it, build requests first:
a server that moves into a cell meanwhile is then seen twice, which is mended
here, rather than never. Source: reference/nova/cells-and-rpc 2.
"""

import functools
import heapq

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import server_access
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instance_lists


class Pending:
    """A build request's server in a list: its columns, tags, and itself as a marker."""

    def __init__(self, build_request):
        self.row = server_access.row_of(build_request)
        self.tags = build_request.tags
        self._mapping = vars(self.row)

    def __getattr__(self, name):
        return getattr(self.row, name)


class Page:
    """Servers of one page, in order.

    pending: {uuid: Pending} of those that are build requests
    where: {uuid: Cell} of the others
    rows: {(uuid, Cell): row} of all; Cell is None for build requests
    down: cells that did not answer
    """

    def __init__(self):
        self.uuids, self.pending, self.where, self.down = [], {}, {}, []
        self.rows = {}

    def row(self, uuid):
        """Return the row of a server; None if the cell that has it now gave none."""
        return self.rows.get((uuid, self.where.get(uuid)))


def read(req, criteria, sort, limit, *, more=()):
    """Return the Page that the request asks for. Raise MarkerNotFound.

    sort: (column name, 'asc' or 'desc') pairs, ending in a unique column
    more: names of further columns of its rows
    """
    page = Page()
    pending = _pending(req, criteria)
    marker = _marker(req, criteria, pending)
    if limit == 0:
        return page
    sources = [_sorted(pending, sort, marker)]
    options = {
        'limit': None if criteria.addresses else limit,
        'marker': marker,
        'more': (*more, 'network_info') if criteria.addresses else more,
    }
    found = req.app.cells.scatter(instance_lists.keys, criteria.conditions, sort, **options)
    answers, silent = cells.split(found)
    page.down.extend(silent)
    for cell, rows in answers.items():
        if criteria.addresses:
            rows = [row for row in rows if criteria.reachable(row)]
        sources.append([(row, cell) for row in rows])
    order = order_of(sort)
    twice = set()
    for row, cell in heapq.merge(*sources, key=lambda pair: order(pair[0])):
        # One that two cells know has the same place in both lists.
        if len(page.uuids) == limit and row.uuid not in page.where:
            break
        if not _take(page, row, cell):
            twice.add(row.uuid)
    _settle(req, page, twice)
    return page


def _take(page, row, cell):
    page.rows[row.uuid, cell] = row
    if row.uuid in page.pending or row.uuid in page.where:
        return False
    page.uuids.append(row.uuid)
    if cell is None:
        page.pending[row.uuid] = row
    else:
        page.where[row.uuid] = cell
    return True


def _settle(req, page, twice):
    """Keep the record in the mapped cell of a server that is changing cells."""
    wanted = [uuid for uuid in twice if uuid in page.where]
    if not wanted:
        return
    for mapping in req.app.api_db.read(instance_mappings.of, wanted):
        if mapping.cell_id is not None:
            page.where[mapping.instance_uuid] = req.app.cells.by_id(mapping.cell_id)


def _pending(req, criteria):
    rows = req.app.api_db.read(build_requests.every, criteria.project_id)
    found = [Pending(row) for row in rows]
    return [each for each in found if criteria.accepts(each.row, each.tags)]


def _marker(req, criteria, pending):
    """Return the row after which the page begins, from wherever it is."""
    marker = req.param('marker')
    if marker is None:
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


def _sorted(pending, sort, marker):
    order = order_of(sort)
    rows = sorted(pending, key=order)
    if marker is not None:
        after = order(marker)
        rows = [row for row in rows if order(row) > after]
    return [(row, None) for row in rows]


@functools.total_ordering
class _Descending:
    """A value that sorts the other way round."""

    __slots__ = ('value',)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return other.value < self.value


def order_of(sort):
    """Return a key function that puts rows in the order the databases sort them."""
    names = [(name, direction == 'desc') for name, direction in sort]

    def key(row):
        parts = []
        for name, descending in names:
            value = getattr(row, name)
            # NULL sorts before everything, as paging.ordered has it.
            part = (False, 0) if value is None else (True, value)
            parts.append(_Descending(part) if descending else part)
        return tuple(parts)

    return key
