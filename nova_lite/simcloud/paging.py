"""Paging and sorting of the lists of all services.

A page starts after a marker in the order of the sort keys and the id. So rows that are created
or deleted between two pages cause neither duplicates nor gaps.
"""

from collections.abc import Collection
import dataclasses
import datetime
import json
import typing
from urllib import parse

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import web

LIMIT = 2**31 - 1
TRUE = frozenset(('1', 't', 'true', 'y', 'yes', 'on'))
FALSE = frozenset(('0', 'f', 'false', 'n', 'no', 'off', ''))


# Keys of an order: ((column name, whether descending), …)
Sort: typing.TypeAlias = tuple[tuple[str, bool], ...]


@dataclasses.dataclass(frozen=True)
class Page:
    """One page of a list. limit: None for all rows"""

    sort: Sort
    limit: int | None = None
    marker: str | None = None
    reverse: bool = False


def boolean(text: str, name: str) -> bool:
    """Return the boolean value of a query parameter. Raise BadRequest."""
    lowered = text.strip().lower()
    if lowered in TRUE:
        return True
    if lowered in FALSE:
        return False
    raise faults.BadRequest(f"Invalid input for {name}: '{text}' is not a boolean.")


def flag_of(req: web.Request, name: str) -> bool:
    """Return the boolean value of a query parameter; False if the request does not have it."""
    return boolean(req.get_param(name) or 'false', name)


def limit_of(
    req: web.Request, *, default: int | None = None, most: int | None = None
) -> int | None:
    """Return the `limit` parameter within bounds, or the default."""
    text = req.get_param('limit')
    if text is None:
        return default
    try:
        limit = int(text)
    except ValueError as error:
        raise faults.BadRequest(f"limit must be an integer, not '{text}'.") from error
    if limit < 0:
        raise faults.BadRequest('limit must not be negative.')
    return min(limit, most or LIMIT)


def sort_of(
    req: web.Request,
    sortable: Collection[str],
    default: Sort,
) -> Sort:
    """Return ((column, descending), …) from sort=k:dir,… or from sort_key and sort_dir."""
    given = req.get_param_as_list('sort') or []
    keys = [item.partition(':') for part in given for item in part.split(',')]
    pairs = [(key, direction) for key, _, direction in keys]
    if not pairs:
        names = req.get_param_as_list('sort_key') or []
        directions = req.get_param_as_list('sort_dir') or []
        fill = directions[-1] if directions else ''
        directions += [fill] * (len(names) - len(directions))
        pairs = list(zip(names, directions, strict=False))
    if not pairs:
        return default
    for key, direction in pairs:
        if key not in sortable:
            raise faults.BadRequest(
                f"'{key[:255]}' is not a sort key; use one of: {', '.join(sorted(sortable))}."
            )
        if direction not in ('', 'asc', 'desc'):
            raise faults.BadRequest(f"Sort direction '{direction[:255]}' is not asc or desc.")
    fallback = any(descending for _, descending in default)
    return tuple((key, direction == 'desc' if direction else fallback) for key, direction in pairs)


def _after(
    table: sa.Table, order: list[tuple[sa.Column[typing.Any], bool]], marker: database.Row
) -> shapes.Condition:
    """Return the condition that a row follows the marker's row in `order`."""
    branches: list[shapes.Condition] = []
    equal: list[shapes.Condition] = []
    for column, descending in order:
        value = marker[column.name]
        branches.append(sa.and_(*equal, column < value if descending else column > value))
        equal.append(column == value)
    return sa.or_(*branches)


def paged(
    conn: sa.Connection, statement: shapes.Select, table: sa.Table, page: Page
) -> shapes.Select:
    """Return `statement` with order, start and length of `page`. Raise BadRequest."""
    sort = page.sort
    if 'id' not in [name for name, _ in sort]:
        sort = (*sort, ('id', sort[-1][1] if sort else False))
    order = [(table.c[name], descending != page.reverse) for name, descending in sort]
    if page.marker is not None:
        marker = database.find(conn, table, id=page.marker)
        if marker is None:
            raise faults.BadRequest(f"marker '{page.marker[:255]}' was not found.")
        statement = statement.where(_after(table, order, marker))
    statement = statement.order_by(
        *(column.desc() if descending else column.asc() for column, descending in order)
    )
    if page.limit is not None:
        statement = statement.limit(page.limit)
    return statement


def query_of(req: web.Request) -> str:
    """Return the query string without the parameters of paging."""
    return parse.urlencode(_params(req))


def next_query(req: web.Request, marker: str) -> str:
    """Return the query string of the following page."""
    return parse.urlencode([*_params(req), ('marker', marker)])


def next_link(
    req: web.Request, key: str, items: list[bodies.Json], limit: int | None
) -> bodies.Json:
    """Return {key_links: …} with the address of the next page, or {} at the end of the list."""
    if not limit or len(items) != limit:
        return {}
    url = f'{req.context.public_url}{req.path}?{next_query(req, items[-1]["id"])}'
    return {f'{key}_links': [{'rel': 'next', 'href': url}]}


def _params(req: web.Request) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name in req.params
        if name not in ('marker', 'page_reverse')
        for value in req.get_param_as_list(name) or ()
    ]


def stamp(moment: datetime.datetime, *, zone: str = 'Z') -> str | None:
    """Return a stored time as ISO 8601 in whole seconds, or None."""
    if moment is None:
        return None
    return moment.replace(microsecond=0).isoformat() + zone


def parse_time(text: str, name: str) -> datetime.datetime:
    """Return a naive UTC time from ISO 8601. Raise BadRequest, with `name`, for other texts."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise faults.BadRequest(f"Invalid time for {name}: '{text[:64]}'.") from error
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return moment


def has_tag(column: sa.Column[typing.Any], tag: str) -> shapes.Condition:
    """Return the condition that the JSON list in `column` contains `tag`."""
    return sa.cast(column, sa.Text).contains(json.dumps(tag), autoescape=True)
