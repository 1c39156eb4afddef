"""GET /servers and /servers/detail."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import itertools
import typing

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import cross_cell_lists
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import list_filters
from nova_lite.api.servers import list_merge
from nova_lite.api.servers import list_schema
from nova_lite.api.servers import partial
from nova_lite.api.servers import view
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instance_lists

T = typing.TypeVar('T')
# Functions that represent the servers of a page, or a server whose cell is down.
Show: typing.TypeAlias = Callable[[request.Request, list_merge.Page], session.Jsons]
ShowPartial: typing.TypeAlias = Callable[[request.Request, rows.Row], session.Json]

ALIASES = {'instance_type_id': 'flavor_id'}
OF_HOSTS = ('host', 'node')


@operation.operation(
    'GET', '/servers', policy=rules.LIST, query=list_schema.QUERY, faults=(400, 403)
)
def index(req: request.Request) -> operation.Result:
    """List the ids and names of servers."""
    return _answer(req, rules.LIST_ALL, _names, partial.short, more=('display_name',))


@operation.operation(
    'GET', '/servers/detail', policy=rules.DETAIL, query=list_schema.QUERY, faults=(400, 403)
)
def detail(req: request.Request) -> operation.Result:
    """List servers with all their fields."""
    return _answer(req, rules.DETAIL_ALL, details, partial.detail)


def _answer(
    req: request.Request,
    all_rule: str,
    show: Show,
    show_partial: ShowPartial,
    *,
    more: Iterable[str] = (),
) -> operation.Body:
    """Return a page of servers. more: columns that `show` needs besides those of the order"""
    try:
        criteria = list_filters.parse(req, all_rule)
    except list_filters.Nothing:
        return {'servers': []}
    sort = _sort(req)
    limit = paging.limit_of(req)

    def read() -> tuple[list_merge.Page, session.Jsons]:
        page = list_merge.read(req, criteria, sort, limit, more=more)
        return page, show(req, page)

    page, servers = cross_cell_lists.steadily(req, read)
    marker = page.uuids[-1] if page.uuids and _has_next(req, page, limit) else None
    if page.down:
        servers = [*_missing(req, page, criteria, show_partial), *servers]
    answer = {'servers': servers}
    if marker is not None:
        answer['servers_links'] = links.next_page(req, marker)
    return answer


def _has_next(req: request.Request, page: list_merge.Page, limit: int) -> bool:
    return paging.is_full(req, page.uuids, limit)


def _sort(req: request.Request) -> list[tuple[str, str]]:
    """Return [(column, direction)], the last column unique.

    A key without a direction has the first direction of the request.
    """
    keys = req.params.get('sort_key') or ['created_at']
    directions = req.params.get('sort_dir', [])
    if not req.allows(rules.ALL_FILTERS) and set(keys) & set(OF_HOSTS):
        raise exception.Forbidden('Only administrators can sort servers by host or node.')
    if len(directions) > len(keys):
        raise exception.Invalid('Sort direction size exceeds sort key size')
    if not set(directions) <= {'asc', 'desc'}:
        raise exception.Invalid("Unknown sort direction in sort_dir, must be 'desc' or 'asc'")
    given = [
        (ALIASES.get(key, key), direction)
        for key, direction in itertools.zip_longest(keys, directions)
        if not _is_ignored(req, key)
    ]
    default = next((direction for _name, direction in given if direction), 'desc')
    found = [(name, direction or default) for name, direction in given]
    names = [name for name, _direction in found]
    return found + [(name, default) for name in ('created_at', 'uuid') if name not in names]


def _is_ignored(req: request.Request, key: str) -> bool:
    return req.minor < 75 and key in list_schema.IGNORED_SORT_KEYS and not _is_new(req, key)


def _is_new(req: request.Request, key: str) -> bool:
    return key == 'locked' and req.minor >= 73


def _names(req: request.Request, page: list_merge.Page) -> session.Jsons:
    found = (page.row(uuid) for uuid in page.uuids)
    return [view.basic(req, row) for row in found if row is not None]


def _from_cells(
    req: request.Request,
    page: list_merge.Page,
    function: Callable[..., T],
    *args: typing.Any,
    **kwargs: typing.Any,
) -> Iterable[tuple[cells.Cell, T]]:
    """Return [(cell, answer)] of the cells with servers of the page."""
    wanted = list(dict.fromkeys(page.where.values()))
    if not wanted:
        return []
    answers, _silent = cells.split(
        req.app.cells.scatter(function, list(page.where), *args, cells=wanted, **kwargs)
    )
    return answers.items()


def _own(
    page: list_merge.Page, cell: cells.Cell, found: Mapping[str, rows.Row]
) -> dict[str, rows.Row]:
    """Return the part of {uuid: ...} for servers in a cell; another cell may know them as well."""
    return {uuid: each for uuid, each in found.items() if page.where[uuid] is cell}


def details(req: request.Request, page: list_merge.Page) -> session.Jsons:
    """Return the full representations of the servers of a page, in its order."""
    viewer = view.Viewer(req)
    shown = {}
    for uuid, each in page.pending.items():
        shown[uuid] = each.row
        viewer.tags[uuid] = sorted(each.tags)
    for cell, found in _from_cells(
        req,
        page,
        instance_lists.details,
        viewer.columns(),
        tags=viewer.wants_tags,
        down_after_s=viewer.down_after_s,
    ):
        viewer.take(found)
        shown.update(_own(page, cell, found['rows']))
    if viewer.wants_specs and page.uuids:
        viewer.specs = req.app.api_db.read(request_specs.stored, page.uuids)
    viewer.name_groups(shown.values())
    return [view.detail(viewer, shown[uuid]) for uuid in page.uuids if uuid in shown]


def _missing(
    req: request.Request,
    page: list_merge.Page,
    criteria: list_filters.Criteria,
    show_partial: ShowPartial,
) -> session.Jsons:
    """Return entries for the servers of cells that do not answer, if the list has any.

    These entries cannot be filtered, sorted or paged, and do not exist below 2.69.
    """
    if req.minor >= 69 and criteria.plain and not list_filters.PAGING & set(req.params):
        room = req.conf.api.max_limit - len(page.uuids)
        mappings = partial.mappings(req, page.down, criteria.project_id, room)
        return [show_partial(req, mapping) for mapping in mappings]
    if not req.conf.api.list_records_by_skipping_down_cells:
        raise exception.NovaLiteError('A cell is not responding.')
    return []
