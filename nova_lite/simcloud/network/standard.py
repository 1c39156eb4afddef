"""Common parts of all Neutron resources: attributes, quotas, lists."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import conversions
from nova_lite.simcloud.network import quotas
from nova_lite.simcloud.network import tables

PROPERTIES = {
    'name': bodies.STRING,
    'description': {'type': 'string', 'maxLength': 255},
    'project_id': bodies.ID,
    'tenant_id': bodies.ID,
}
# The condition of the rows that a caller may see.
Visible: typing.TypeAlias = Callable[[callers.Caller], shapes.Condition]
# {query parameter: name of its column, or a function of its values that returns a condition}
Filters: typing.TypeAlias = dict[str, str | Callable[[list[str]], shapes.Condition]]

COLUMNS = ('id', 'project_id', 'name', 'description', 'revision_number')
SORTABLE = frozenset(('id', 'name', 'project_id', 'tenant_id', 'created_at', 'updated_at'))


def owner_of(
    conn: sa.Connection, caller: callers.Caller, table: sa.Table, wanted: bodies.Json
) -> str:
    """Return the project of a new row. Raise Conflict if its quota allows no further row."""
    project_id = caller.owner_for(wanted.get('project_id') or wanted.get('tenant_id'))
    quotas.require(conn, table, project_id)
    return project_id


def columns(table: sa.Table, wanted: bodies.Json) -> database.Row:
    """Return those values of a request that are columns, without the project."""
    return database.columns(table, {k: v for k, v in wanted.items() if k != 'project_id'})


def insert(
    conn: sa.Connection,
    caller: callers.Caller,
    table: sa.Table,
    wanted: bodies.Json,
    **values: typing.Any,
) -> database.Row:
    """Insert a row with the columns of a request and with `values`. Return the row."""
    project_id = owner_of(conn, caller, table, wanted)
    return database.insert(conn, table, **columns(table, wanted) | values, project_id=project_id)


def view(row: database.Row, *names: str, without: Iterable[str] = ()) -> bodies.Json:
    """Return the standard attributes of a row, and the columns `names`."""
    shown = {
        'id': row['id'],
        'project_id': row['project_id'],
        'tenant_id': row['project_id'],
        'name': row['name'],
        'description': row['description'],
        'tags': row['tags'],
        'revision_number': row['revision_number'],
        'created_at': paging.stamp(row['created_at']),
        'updated_at': paging.stamp(row['updated_at']),
        **{name: row[name] for name in names},
    }
    return {name: value for name, value in shown.items() if name not in without}


def save(
    conn: sa.Connection, table: sa.Table, row: database.Row, **values: typing.Any
) -> database.Row:
    """Write columns of a row as its next revision. Return the new row."""
    return database.save(conn, table, row, revision_number=row['revision_number'] + 1, **values)


def not_found(table: sa.Table, row_id: str) -> faults.NotFound:
    """Return the fault for a resource that does not exist or that the caller may not see."""
    title, kind = tables.TITLES[table.name]
    return faults.NotFound(f'{title} {row_id[:255]} could not be found.', f'{kind}NotFound')


def invalid(message: str, kind: str = 'InvalidInput') -> faults.BadRequest:
    """Return the fault for values that contradict each other or the network."""
    return faults.BadRequest(f'Invalid input for operation: {message}.', kind)


def getter(table: sa.Table, visible: Visible | None = None) -> resources.GetById:
    """Return `get` of a resource: one row that the caller may see (`visible` as in `lists`)."""

    def get_one(conn: sa.Connection, caller: callers.Caller, row_id: str) -> database.Row:
        condition = visible(caller) if visible else own(caller, table)
        row = database.find(conn, table, condition, id=row_id)
        if row is None:
            raise not_found(table, row_id)
        return row

    return get_one


def get(conn: sa.Connection, caller: callers.Caller, table: sa.Table, row_id: str) -> database.Row:
    """Return one row that the caller's project owns. Raise NotFound."""
    return getter(table)(conn, caller, row_id)


def guarded(
    req: web.Request, table: sa.Table | None, path: resources.Path, change: resources.Change
) -> resources.Change:
    """Return `change` with a check that the row has the revision of the If-Match header, else 412.

    Return `change` unchanged if the request has no such header or the table no revisions.
    """
    wanted = req.get_header('If-Match')
    if not wanted or table is None:
        return change
    (row_id,) = path.values()

    def checked(conn: sa.Connection, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        row = database.find(conn, table, id=row_id)
        if row and wanted.strip('"') != f'revision_number={row["revision_number"]}':
            raise faults.PreconditionFailed(
                f'Constrained to {wanted[:64]}, but current revision is {row["revision_number"]}',
                'RevisionNumberConstraintFailed',
            )
        return change(conn, *args, **kwargs)

    return checked


def own(caller: callers.Caller, table: sa.Table) -> shapes.Condition:
    """Return the condition that the caller's project owns a row."""
    return sa.true() if caller.is_privileged else table.c.project_id == caller.project_id


def _values(
    column: sa.Column[typing.Any], name: str, texts: list[str]
) -> Sequence[bool | int | str]:
    """Return query parameters as values of the column's type."""
    if isinstance(column.type, sa.Boolean):
        return [paging.boolean(text, name) for text in texts]
    if isinstance(column.type, sa.Integer):
        numbers = [text for text in texts if text.isascii() and text.isdigit()]
        return [int(text) for text in numbers if int(text) <= bodies.INT_LIMIT]
    return texts


def _filtered(
    statement: shapes.Select,
    req: web.Request,
    table: sa.Table,
    filters: Filters | Iterable[str] | Callable[[web.Request], Filters],
) -> shapes.Select:
    """Return `statement` narrowed by the query; a repeated parameter means any of its values."""
    known: Filters = {**{name: name for name in COLUMNS}, 'tenant_id': 'project_id'}
    chosen = filters(req) if callable(filters) else filters
    known |= chosen if isinstance(chosen, dict) else {name: name for name in chosen}
    for name, target in known.items():
        texts = req.get_param_as_list(name)
        if not texts:
            continue
        if callable(target):
            statement = statement.where(target(texts))
            continue
        column = table.c[target]
        values = _values(column, name, texts)
        condition: shapes.Condition = column.in_(values)
        if '' in texts and column.nullable:
            condition = sa.or_(condition, column.is_(None))
        statement = statement.where(condition)
    return _by_tags(statement, req, table)


def _by_tags(statement: shapes.Select, req: web.Request, table: sa.Table) -> shapes.Select:
    joins = {
        'tags': sa.and_,
        'tags-any': sa.or_,
        'not-tags': lambda *c: sa.not_(sa.and_(*c)),
        'not-tags-any': lambda *c: sa.not_(sa.or_(*c)),
    }
    for name, join in joins.items():
        tags = [tag for text in req.get_param_as_list(name) or () for tag in text.split(',')]
        if tags:
            statement = statement.where(join(*(paging.has_tag(table.c.tags, tag) for tag in tags)))
    return statement


def whole(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return the body of a list without paging."""
    return {key: [only_fields(req, item) for item in items]}


def lists(
    table: sa.Table,
    *,
    visible: Visible | None = None,
    filters: Filters | Iterable[str] | Callable[[web.Request], Filters],
    sortable: Iterable[str] = (),
) -> resources.Listed:
    """Return `listed` of a resource: the requested page of the rows that the caller may see.

    visible: None: rows that the caller's project owns
    filters: names of columns, Filters, or a function of the request that returns Filters
    """

    def listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
        caller = req.context.caller
        order = paging.sort_of(req, SORTABLE.union(sortable), (('created_at', False),))
        page = paging.Page(
            sort=tuple(
                ('project_id' if name == 'tenant_id' else name, down) for name, down in order
            ),
            limit=paging.limit_of(req) or None,
            marker=req.get_param('marker'),
            reverse=paging.flag_of(req, 'page_reverse'),
        )
        condition = visible(caller) if visible else own(caller, table)
        statement = _filtered(sa.select(table).where(condition), req, table, filters)
        found = database.rows(conn, paging.paged(conn, statement, table, page))
        return found[::-1] if page.reverse else found

    return listed


def only_fields(req: web.Request, item: bodies.Json) -> bodies.Json:
    """Return the attributes of an item that the parameter `fields` names; by default all."""
    wanted = req.get_param_as_list('fields')
    if not wanted:
        return item
    return {name: value for name, value in item.items() if name in wanted}


def collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return the body of a list, with a link to the next page if there may be one."""
    return {**whole(req, key, items), **paging.next_link(req, key, items, paging.limit_of(req))}


STYLE = resources.Style(
    collection=collection,
    narrowed=only_fields,
    guarded=guarded,
    converted=conversions.converted,
    only_writers=True,
    bulk=True,
)
