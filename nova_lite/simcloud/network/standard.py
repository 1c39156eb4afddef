"""Common parts of all Neutron resources: attributes, quotas, lists."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import conversions
from nova_lite.simcloud.network import quotas
from nova_lite.simcloud.network import tables

PROPERTIES = {
    'name': bodies.STRING,
    'description': {'type': 'string', 'maxLength': 255},
    'project_id': bodies.ID,
    'tenant_id': bodies.ID,
}
COLUMNS = ('id', 'project_id', 'name', 'description', 'revision_number')
SORTABLE = frozenset(('id', 'name', 'project_id', 'tenant_id', 'created_at', 'updated_at'))


def owner_of(conn, caller, table, wanted):
    """Return the project of a new row, which may have one more by its quota."""
    project_id = caller.owner_for(wanted.get('project_id') or wanted.get('tenant_id'))
    quotas.require(conn, table, project_id)
    return project_id


def columns(table, wanted):
    """Return the columns that a request may change; see database.columns."""
    return database.columns(table, {k: v for k, v in wanted.items() if k != 'project_id'})


def insert(conn, caller, table, wanted, **values):
    """Insert a row with the columns that a request names and `values`. Return it."""
    project_id = owner_of(conn, caller, table, wanted)
    return database.insert(conn, table, **columns(table, wanted) | values, project_id=project_id)


def view(row, *names, without=()):
    """Return the standard attributes of a row, and those called as the columns `names`."""
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


def save(conn, table, row, **values):
    """Write columns of a row as its next revision. Return the new row."""
    return database.save(conn, table, row, revision_number=row['revision_number'] + 1, **values)


def not_found(table, row_id):
    """Return the answer for a resource that does not exist for this caller."""
    title, kind = tables.TITLES[table.name]
    return faults.NotFound(f'{title} {row_id[:255]} could not be found.', f'{kind}NotFound')


def invalid(message, kind='InvalidInput'):
    """Return the answer to values that contradict each other or the network."""
    return faults.BadRequest(f'Invalid input for operation: {message}.', kind)


def getter(table, visible=None):
    """Return a `get` of a resource: one row that is the caller's to see, as of `lists`."""

    def get_one(conn, caller, row_id):
        condition = visible(caller) if visible else own(caller, table)
        row = database.find(conn, table, condition, id=row_id)
        if row is None:
            raise not_found(table, row_id)
        return row

    return get_one


def get(conn, caller, table, row_id):
    """Return one row that the caller's project owns. Raise NotFound."""
    return getter(table)(conn, caller, row_id)


def guarded(req, table, path, change):
    """Return `change`, refused with 412 unless the row is at the revision of If-Match.

    Without that header, and without a table of revisions, it is `change` as it is.
    """
    wanted = req.get_header('If-Match')
    if not wanted or table is None:
        return change
    (row_id,) = path.values()

    def checked(conn, *args, **kwargs):
        row = database.find(conn, table, id=row_id)
        if row and wanted.strip('"') != f'revision_number={row["revision_number"]}':
            raise faults.PreconditionFailed(
                f'Constrained to {wanted[:64]}, but current revision is {row["revision_number"]}',
                'RevisionNumberConstraintFailed',
            )
        return change(conn, *args, **kwargs)

    return checked


def own(caller, table):
    """Return the condition that the caller's project owns a row."""
    return sa.true() if caller.is_privileged else table.c.project_id == caller.project_id


def _values(column, name, texts):
    """Return query parameters as values of the column's type."""
    if isinstance(column.type, sa.Boolean):
        return [paging.boolean(text, name) for text in texts]
    if isinstance(column.type, sa.Integer):
        numbers = [text for text in texts if text.isascii() and text.isdigit()]
        return [int(text) for text in numbers if int(text) <= bodies.INT_LIMIT]
    return texts


def _filtered(statement, req, table, filters):
    """Return `statement` narrowed by the query; a repeated parameter means any of its values."""
    known = {name: name for name in COLUMNS} | {'tenant_id': 'project_id'}
    filters = filters(req) if callable(filters) else filters
    known |= filters if isinstance(filters, dict) else {name: name for name in filters}
    for name, target in known.items():
        texts = req.get_param_as_list(name)
        if not texts:
            continue
        if callable(target):
            statement = statement.where(target(texts))
            continue
        column = table.c[target]
        values = _values(column, name, texts)
        condition = column.in_(values)
        if '' in texts and column.nullable:
            condition = sa.or_(condition, column.is_(None))
        statement = statement.where(condition)
    return _by_tags(statement, req, table)


def _by_tags(statement, req, table):
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


def whole(req, key, items):
    """Return the answer to a list request without paging."""
    return {key: [only_fields(req, item) for item in items]}


def lists(table, *, visible=None, filters, sortable=()):
    """Return a `listed` of a resource: the page of visible rows that a request asks for.

    visible: (caller) -> condition; without it, what the caller's project owns
    filters: columns, or {parameter: column name or function(values) -> condition}, or a
    function of the request that returns the latter
    """

    def listed(conn, req):
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


def only_fields(req, item):
    """Return the attributes of the view that `fields` names."""
    wanted = req.get_param_as_list('fields')
    if not wanted:
        return item
    return {name: value for name, value in item.items() if name in wanted}


def collection(req, key, items):
    """Return the answer to a list request, with a link to the next page when there is one."""
    return {**whole(req, key, items), **paging.next_link(req, key, items, paging.limit_of(req))}


STYLE = resources.Style(
    collection=collection,
    narrowed=only_fields,
    guarded=guarded,
    converted=conversions.converted,
    only_writers=True,
    bulk=True,
)
