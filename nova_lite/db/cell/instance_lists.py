"""Lists of servers: conditions, order, pages. The same for every cell.

A list is read in two steps: from each cell the sort keys of as many servers as a page may need,
then the full rows of the servers in the page. Text sorts by code point on every database, as in
Python, because pages of several cells are merged by that order.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import functools
import typing

import sqlalchemy as sa
from sqlalchemy.ext import compiler
from sqlalchemy.sql import functions

from nova_lite.db import paging
from nova_lite.db import patterns
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.dialects import execute

TABLE = models.Instance.__table__
TAGS = models.Tag.__table__
_WITH_SERVICES = TABLE.outerjoin(
    services.TABLE,
    sa.and_(services.TABLE.c.host == TABLE.c.host, services.TABLE.c.binary == services.COMPUTE),
)


class Details(typing.TypedDict):
    """Data of servers by uuid. host_statuses: '' for a server without a host"""

    rows: dict[str, rows.Row]
    devices: dict[str, list[children.Volume]]
    faults: dict[str, rows.Row]
    tags: dict[str, list[str]]
    host_statuses: dict[str, str]


class ByCodePoint(functions.FunctionElement[typing.Any]):
    """Compares a text column by code point, independently of the collation."""

    name = 'by_code_point'
    inherit_cache = True

    def __init__(self, column: sa.Column[typing.Any]) -> None:
        super().__init__(column)
        self.type = column.type
        self.nullable = column.nullable
        self.key = column.key


@compiler.compiles(ByCodePoint)
def _plain(
    element: ByCodePoint, compiling: sa.sql.compiler.SQLCompiler, **kwargs: typing.Any
) -> str:
    return compiling.process(element.clauses, **kwargs)


@compiler.compiles(ByCodePoint, 'postgresql')
def _postgresql(
    element: ByCodePoint, compiling: sa.sql.compiler.SQLCompiler, **kwargs: typing.Any
) -> str:
    return f'{compiling.process(element.clauses, **kwargs)} COLLATE "C"'


@compiler.compiles(ByCodePoint, 'mysql')
@compiler.compiles(ByCodePoint, 'mariadb')
def _mysql(
    element: ByCodePoint, compiling: sa.sql.compiler.SQLCompiler, **kwargs: typing.Any
) -> str:
    return f'CAST({compiling.process(element.clauses, **kwargs)} AS BINARY)'


def sort_column(name: str) -> rows.Expression:
    """Return the column to sort by. Raise KeyError."""
    column = TABLE.c[name]
    return ByCodePoint(column) if isinstance(column.type, sa.String) else column


# ---- conditions ----


def equals(name: str, value: object) -> rows.Condition:
    """Return the condition that a column equals a value; None: NULL; list: any of its values."""
    if isinstance(value, list | tuple | set | frozenset):
        return _any_of(name, tuple(value))
    return _equals(name, value)


# Lists are polled: the conditions of the same filters are the same objects, and so are the queries
# with these conditions. To build a query would take as long as to execute it.
_once = functools.lru_cache(maxsize=500, typed=True)


@_once
def _equals(name: str, value: object) -> rows.Condition:
    column = TABLE.c[name]
    return column.is_(None) if value is None else column == value


@_once
def _any_of(name: str, values: tuple[object, ...]) -> rows.Condition:
    return TABLE.c[name].in_(values)


@_once
def differs(name: str, value: object) -> rows.Condition:
    """Return the condition that a column, which is never NULL, differs from a value."""
    return TABLE.c[name] != value


@_once
def either(*conditions: rows.Condition) -> rows.Condition:
    """Return the condition that at least one of the conditions is met."""
    return sa.or_(*conditions)


def between(name: str, start: object, end: object) -> rows.Condition:
    """Return the condition that a column is at or after `start`, and before `end`."""
    return sa.and_(TABLE.c[name] >= start, TABLE.c[name] < end)


def matches(name: str, pattern: str) -> rows.Condition:
    """Return the condition that a column matches a regular expression of the database's dialect."""
    return TABLE.c[name].regexp_match(pattern)


def named(lowered: Iterable[str]) -> rows.Condition:
    """Return the condition that the display name in lower case is one of `lowered`."""
    return sa.func.lower(TABLE.c.display_name).in_(list(lowered))


SECOND = datetime.timedelta(seconds=1)


def changed(
    since: datetime.datetime | None = None, before: datetime.datetime | None = None
) -> rows.Condition:
    """Return the condition of a last change in a time range, both ends included, in seconds."""
    moment = sa.func.coalesce(TABLE.c.updated_at, TABLE.c.created_at)
    found = []
    if since is not None:
        found.append(moment >= since)
    if before is not None:
        found.append(moment < before.replace(microsecond=0) + SECOND)
    return sa.and_(*found)


@functools.lru_cache
def in_states(
    pairs: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...],
) -> rows.Condition:
    """Return the condition of any of (vm_state, task states, or excluded task states)."""
    found = []
    for vm_state, tasks, without in pairs:
        part = TABLE.c.vm_state == vm_state
        if tasks:
            part = sa.and_(part, TABLE.c.task_state.in_(list(tasks)))
        elif without:
            part = sa.and_(
                part,
                sa.or_(TABLE.c.task_state.is_(None), TABLE.c.task_state.not_in(list(without))),
            )
        found.append(part)
    return sa.or_(sa.false(), *found)


def tagged(tags: Iterable[str], *, every: bool, negate: bool = False) -> rows.Condition:
    """Return the condition of all tags (every) or any; negate: the opposite."""
    # One condition for any number of tags: SQLite refuses a thousand of them.
    wanted = set(tags)
    held = sa.and_(TAGS.c.instance_uuid == TABLE.c.uuid, TAGS.c.tag.in_(sorted(wanted)))
    number = sa.select(sa.func.count()).select_from(TAGS).where(held).scalar_subquery()
    condition = number == len(wanted) if every else sa.exists().where(held)
    return sa.not_(condition) if negate else condition


# ---- reading ----


def keys(
    connection: sa.Connection,
    conditions: Sequence[rows.Condition],
    sort: Sequence[tuple[str, str]],
    *,
    limit: int | None = None,
    marker: rows.Row | None = None,
    more: Iterable[str] = (),
) -> Sequence[rows.Row]:
    """Return rows of uuid, the sort columns and `more` columns, in order.

    sort: pairs (column name, 'asc' or 'desc'), the last column unique
    marker: the row (with `_mapping`) before the page
    """
    query = _keys(tuple(conditions), tuple(sort), tuple(more), limit)
    if marker is not None:
        query = query.where(paging.after(_order(sort), marker))
    with patterns.bounded(connection, conditions):
        return connection.execute(query).all()


@functools.lru_cache
def _keys(
    conditions: tuple[rows.Condition, ...],
    sort: tuple[tuple[str, str], ...],
    more: tuple[str, ...],
    limit: int | None,
) -> rows.Select:
    """Return the query of `keys` without a marker."""
    names = dict.fromkeys(['uuid', *(name for name, _direction in sort), *more])
    query = sa.select(*(TABLE.c[name] for name in names)).where(
        TABLE.c.hidden.is_(False), *conditions
    )
    return paging.ordered(query, _order(sort)).limit(limit)


def _order(sort: Sequence[tuple[str, str]]) -> list[tuple[rows.Expression, str]]:
    return [(sort_column(name), direction) for name, direction in sort]


def find(
    connection: sa.Connection, uuid: str, conditions: Sequence[rows.Condition]
) -> rows.Row | None:
    """Return the row of a marker if it meets the conditions, else None."""
    query = sa.select(TABLE).where(TABLE.c.uuid == uuid, TABLE.c.hidden.is_(False), *conditions)
    with patterns.bounded(connection, conditions):
        return connection.execute(query).first()


@functools.lru_cache
def _shown(columns: tuple[str, ...], many: bool, with_hosts: bool) -> rows.Select:
    """Return the query of columns (names) of the servers `uuids`; see `rows.among`.

    with_hosts: with the column `host_status`, which needs the parameter `not_before`
    """
    query = sa.select(*(TABLE.c[name] for name in columns)).where(
        rows.among(TABLE.c.uuid, 'uuids', many=many), TABLE.c.hidden.is_(False)
    )
    if not with_hosts:
        return query
    return query.add_columns(services.STATUS.label('host_status')).select_from(_WITH_SERVICES)


def details(
    connection: sa.Connection,
    uuids: Iterable[str],
    columns: Iterable[str],
    *,
    tags: bool = False,
    down_after_s: float | None = None,
) -> Details:
    """Return all data that a view shows of several servers of a cell, in two or three statements.

    columns: names of columns of the rows
    down_after_s: seconds after which a host without heartbeats counts as down; None: no statuses
    """
    uuids = list(uuids)
    many, parameter = rows.one_or_many(uuids)
    given: dict[str, typing.Any] = {'uuids': parameter}
    if down_after_s is not None:
        given['not_before'] = -services.longest_silence_s(down_after_s)
    query = _shown(tuple(columns), many, down_after_s is not None)
    found = execute.every(connection, query, given)
    failed = [row.uuid for row in found if row.vm_state in ('error', 'deleted')]
    devices, tagged = children.volumes_and_tags(connection, uuids, tags=tags)
    return {
        'rows': {row.uuid: row for row in found},
        'devices': devices,
        'faults': instances.faults(connection, failed) if failed else {},
        'tags': tagged,
        'host_statuses': {}
        if down_after_s is None
        else {row.uuid: row.host_status or '' for row in found},
    }


def count(connection: sa.Connection, conditions: Iterable[rows.Condition]) -> int:
    """Return how many servers fulfil the conditions."""
    return connection.execute(
        sa.select(sa.func.count()).select_from(TABLE).where(*conditions)
    ).scalar_one()
