"""Paging and sorting of lists, the same for every service.

A page starts after a marker in the order of the sort keys and the id. So rows that are created
or deleted between two pages cause neither duplicates nor gaps.
"""

import dataclasses
import datetime
import json
from urllib import parse

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import faults

LIMIT = 2**31 - 1
TRUE = frozenset(('1', 't', 'true', 'y', 'yes', 'on'))
FALSE = frozenset(('0', 'f', 'false', 'n', 'no', 'off', ''))


@dataclasses.dataclass(frozen=True)
class Page:
    """One page of a list. sort: ((column name, descending), …); limit: None for all"""

    sort: tuple
    limit: int | None = None
    marker: str | None = None
    reverse: bool = False


def boolean(text, name):
    """Return the boolean value of a query parameter. Raise BadRequest."""
    lowered = text.strip().lower()
    if lowered in TRUE:
        return True
    if lowered in FALSE:
        return False
    raise faults.BadRequest(f"Invalid input for {name}: '{text}' is not a boolean.")


def flag_of(req, name):
    """Return the boolean value of a query parameter, by default False."""
    return boolean(req.get_param(name) or 'false', name)


def limit_of(req, *, default=None, most=None):
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


def sort_of(req, sortable, default):
    """Return ((column, descending), …) from sort=k:dir,… or from sort_key and sort_dir."""
    given = req.get_param_as_list('sort') or []
    pairs = [tuple(item.partition(':')[::2]) for part in given for item in part.split(',')]
    if not pairs:
        keys = req.get_param_as_list('sort_key') or []
        directions = req.get_param_as_list('sort_dir') or []
        fill = directions[-1] if directions else ''
        directions += [fill] * (len(keys) - len(directions))
        pairs = list(zip(keys, directions, strict=False))
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


def _after(table, order, marker):
    """Return the rows that follow the marker row in `order`."""
    branches, equal = [], []
    for column, descending in order:
        value = marker[column.name]
        branches.append(sa.and_(*equal, column < value if descending else column > value))
        equal.append(column == value)
    return sa.or_(*branches)


def paged(conn, statement, table, page):
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


def query_of(req):
    """Return the query string without the parameters of paging."""
    return parse.urlencode(_params(req))


def next_query(req, marker):
    """Return the query string of the following page."""
    return parse.urlencode([*_params(req), ('marker', marker)])


def next_link(req, key, items, limit):
    """Return {key_links: …} with the address of the next page, or {} at the end of the list."""
    if not limit or len(items) != limit:
        return {}
    url = f'{req.context.public_url}{req.path}?{next_query(req, items[-1]["id"])}'
    return {f'{key}_links': [{'rel': 'next', 'href': url}]}


def _params(req):
    return [
        (name, value)
        for name in req.params
        if name not in ('marker', 'page_reverse')
        for value in req.get_param_as_list(name)
    ]


def stamp(moment, *, zone='Z'):
    """Return a stored time in the form of an API, or None."""
    if moment is None:
        return None
    return moment.replace(microsecond=0).isoformat() + zone


def parse_time(text, name):
    """Return a naive UTC time from ISO 8601."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise faults.BadRequest(f"Invalid time for {name}: '{text[:64]}'.") from error
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return moment


def has_tag(column, tag):
    """Return the condition that the JSON list in `column` holds `tag`."""
    return sa.cast(column, sa.Text).contains(json.dumps(tag), autoescape=True)
