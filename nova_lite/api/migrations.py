"""GET /os-migrations: every move of every cell (reference/nova/moves 2.6).

Before 2.59 there is neither order nor pages, and a move between cells is shown twice, once for each
cell; from 2.59 on it is shown once, with its newest record.
"""

from collections.abc import Callable
from collections.abc import Sequence
import datetime
import typing

from oslo_utils import timeutils

from nova_lite import cells
from nova_lite import exception
from nova_lite import states
from nova_lite.api import cross_cell_lists
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import times
from nova_lite.api.policies import cold_moves as rules
from nova_lite.db import rows
from nova_lite.db.cell import migration_lists

# Migrations with the uuid of their cell.
Found: typing.TypeAlias = list[tuple[str, rows.Row]]

FILTERS = (
    'hidden',
    'host',
    'instance_uuid',
    'source_compute',
    'status',
    'migration_type',
)
OWNERS = ('user_id', 'project_id')
PLACES = ('source_compute', 'source_node', 'dest_compute', 'dest_node', 'dest_host')
FIELDS = ('id', 'status', 'instance_uuid', 'old_instance_type_id', 'new_instance_type_id')
PAGES, OWNED = 59, 80

_TIME = schema_parts.single({'type': 'string', 'format': 'date-time'})
_PLAIN = {name: schema_parts.multi() for name in FILTERS}
_V59 = {
    **_PLAIN,
    'limit': schema_parts.single(schema_parts.NUMBER),
    'marker': schema_parts.single(schema_parts.ANY_TEXT),
    'changes-since': _TIME,
}
_V66 = {**_V59, 'changes-before': _TIME}
QUERY = {
    '2.1': schema_parts.query(_PLAIN),
    '2.59': schema_parts.query(_V59, strict=True),
    '2.66': schema_parts.query(_V66, strict=True),
    '2.80': schema_parts.query(
        {**_V66, **dict.fromkeys(OWNERS, schema_parts.single(schema_parts.ANY_TEXT))},
        strict=True,
    ),
}


@operation.operation(
    'GET', '/os-migrations', policy=rules.MIGRATIONS, query=QUERY, faults=(400, 403)
)
def index(req: request.Request) -> operation.Result:
    """Migrations, of all projects for administrators."""
    where = _where(req)
    if where.get('project_id') != req.ctxt.project_id:
        req.authorize(rules.MIGRATIONS_ALL)
    places = req.allows(rules.MIGRATIONS_HOST)
    if req.minor < PAGES:
        found = cross_cell_lists.steadily(req, lambda: _gather(req, migration_lists.every, where))
        return {'migrations': [_view(req, row, places=places) for _cell, row in found]}
    limit = paging.limit_of(req)
    shown = cross_cell_lists.steadily(req, lambda: _page(req, where, limit)) if limit else []
    answer: operation.Body = {'migrations': [_view(req, row, places=places) for row in shown]}
    if paging.is_full(req, shown, limit):
        answer['migrations_links'] = links.next_page(req, shown[-1].uuid)
    return answer


def _where(req: request.Request) -> dict[str, typing.Any]:
    where = {}
    for name in (*FILTERS, *(OWNERS if req.minor >= OWNED else ())):
        value = req.param(name)
        if value is not None:
            where[name] = schema_parts.is_true(value) if name == 'hidden' else value
    return where


def _cells(req: request.Request) -> list[cells.Cell]:
    return req.app.cells.every(cell0=False)


def _gather(
    req: request.Request,
    function: Callable[..., Sequence[rows.Row]],
    *args: typing.Any,
    **kwargs: typing.Any,
) -> Found:
    """Return [(uuid of the cell, row), ...] of the cells that answer."""
    answers = req.app.cells.scatter(function, *args, cells=_cells(req), **kwargs)
    found, _silent = cells.split(answers)
    return [(cell.uuid, row) for cell, known in found.items() for row in known]


def _page(req: request.Request, where: rows.Values, limit: int) -> list[rows.Row]:
    since, before = _moment(req, 'changes-since'), _moment(req, 'changes-before')
    if since is not None and before is not None and before < since:
        raise exception.Invalid(
            'The value of changes-since must be less than or equal to changes-before.'
        )
    span = {'since': since, 'before': before}
    marker = _marker(req)
    # Two cells may have a record of the same move, so more rows are read than the page needs.
    wanted = limit
    while True:
        found = _gather(req, migration_lists.page, where, limit=wanted, marker=marker, **span)
        newest = _newest(req, found)
        if len(newest) >= limit or len(found) < wanted:
            return newest[:limit]
        wanted *= 2


def _marker(req: request.Request) -> rows.Row | None:
    """Return the row that the page follows. Raise MarkerNotFound."""
    uuid = req.param('marker')
    if not uuid:
        return None
    found = [row for _cell, row in _gather(req, migration_lists.records, [uuid])]
    if not found:
        raise exception.MarkerNotFound(marker=uuid)
    return max(found, key=_changed)


def _newest(req: request.Request, found: Found) -> list[rows.Row]:
    """Return rows in order, without those of which another cell has a newer record.

    A record that has changed since it was found, or is gone, is shown as it was then.

    found: as of `_gather`
    """
    crossing = {row.uuid for _cell, row in found if row.cross_cell_move}
    newest: dict[str, tuple[str, rows.Row]] = {}
    if crossing:
        for cell, row in _gather(req, migration_lists.records, crossing):
            if row.uuid not in newest or _changed(row) > _changed(newest[row.uuid][1]):
                newest[row.uuid] = cell, row
    kept = [row for cell, row in found if newest.get(row.uuid, (cell, row))[0] == cell]
    return sorted(kept, key=lambda row: (row.created_at, row.id), reverse=True)


def _changed(row: rows.Row) -> datetime.datetime:
    moment: datetime.datetime = row.updated_at or row.created_at
    return moment


def _moment(req: request.Request, name: str) -> datetime.datetime | None:
    text = req.param(name)
    if text is None:
        return None
    return timeutils.normalize_time(timeutils.parse_isotime(text))


def _view(req: request.Request, row: rows.Row, *, places: bool) -> operation.Body:
    shown = {
        **{name: getattr(row, name) for name in FIELDS},
        **{name: getattr(row, name) if places else None for name in PLACES},
        'created_at': times.naive(row.created_at),
        'updated_at': times.naive(row.updated_at),
    }
    if req.minor >= 23:
        shown['migration_type'] = row.migration_type
        live = row.migration_type == states.MigrationType.LIVE_MIGRATION
        if live and row.status in states.MIGRATION_LIVE:
            path = f'{row.instance_uuid}/migrations/{row.id}'
            shown['links'] = links.resource(req, 'servers', path)
    if req.minor >= PAGES:
        shown['uuid'] = row.uuid
    if req.minor >= OWNED:
        shown['user_id'], shown['project_id'] = row.user_id, row.project_id
    return shown
