"""Flavors, their extra specs, and which projects may use those that are not public."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import notes
from nova_lite.db import paging
from nova_lite.db import patterns
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.dialects import execute

TABLE = models.Flavor.__table__
PROJECTS = models.FlavorProject.__table__


def _usable(project_id: str | sa.BindParameter[typing.Any]) -> rows.Condition:
    """Return the condition that a flavor is public, or a project (id or parameter) has access."""
    granted = sa.select(PROJECTS.c.flavor_id).where(PROJECTS.c.project_id == project_id)
    return sa.or_(TABLE.c.is_public.is_(True), TABLE.c.id.in_(granted))


_BY_FLAVORID = sa.select(TABLE).where(TABLE.c.flavorid == sa.bindparam('flavorid'))
_USABLE_BY_FLAVORID = _BY_FLAVORID.where(_usable(sa.bindparam('project')))


def create(connection: sa.Connection, values: rows.Values) -> rows.Row:
    """Add a flavor and return its row; raises AlreadyExists for its name or flavorid."""
    for column, what in (('flavorid', 'Flavor with ID'), ('name', 'Flavor with name')):
        if rows.find(connection, TABLE, **{column: values[column]}):
            raise exception.AlreadyExists(what=what, key=values[column])
    key = rows.insert_new(
        connection,
        TABLE,
        values,
        exception.AlreadyExists(what='Flavor with name', key=values['name']),
    )
    row = rows.one(connection, TABLE, id=key)
    _note(connection, 'flavor.create', row)
    return row


def get(connection: sa.Connection, flavorid: str, project_id: str | None = None) -> rows.Row:
    """Return one flavor. With project_id, only if the project may use it. Raise FlavorNotFound."""
    query, parameters = _BY_FLAVORID, {'flavorid': flavorid}
    if project_id is not None:
        query, parameters['project'] = _USABLE_BY_FLAVORID, project_id
    row = execute.first(connection, query, parameters)
    if row is None:
        raise exception.FlavorNotFound(flavor_id=flavorid)
    return row


def page(
    connection: sa.Connection,
    conditions: Sequence[rows.Condition],
    *,
    sort: tuple[str, str] = ('flavorid', 'asc'),
    limit: int | None = None,
    marker: str | None = None,
) -> Sequence[rows.Row]:
    """Return flavors that meet the conditions (see `matching`), sorted.

    marker: flavorid of the last flavor of the page before; raises MarkerNotFound
    """
    key, direction = sort
    keys = [(TABLE.c[key], direction), (TABLE.c.id, direction)]
    query = paging.ordered(sa.select(TABLE).where(*conditions), keys)
    if marker is not None:
        last = rows.get(connection, TABLE, exception.MarkerNotFound(marker=marker), flavorid=marker)
        query = query.where(paging.after(keys, last))
    with patterns.bounded(connection, conditions):
        return connection.execute(query.limit(limit)).all()


def matching(
    *,
    project_id: str | None = None,
    is_public: bool | None = None,
    disabled: bool | None = None,
    min_memory_mb: int | None = None,
    min_root_gb: int | None = None,
) -> list[rows.Condition]:
    """Return conditions for `page`. None leaves a condition out.

    is_public: True also finds flavors to which `project_id` has access
    """
    found = []
    if is_public and project_id is not None:
        found.append(_usable(project_id))
    elif is_public is not None:
        found.append(TABLE.c.is_public.is_(is_public))
    if disabled is not None:
        found.append(TABLE.c.disabled.is_(disabled))
    if min_memory_mb is not None:
        found.append(TABLE.c.memory_mb >= min_memory_mb)
    if min_root_gb is not None:
        found.append(TABLE.c.root_gb >= min_root_gb)
    return found


def named(pattern: str) -> rows.Condition:
    """Return the condition for `page` that the name matches a regular expression."""
    return TABLE.c.name.regexp_match(pattern)


def describe(connection: sa.Connection, flavorid: str, description: str | None) -> rows.Row:
    """Change the description and return the row; raises FlavorNotFound."""
    return _change(connection, flavorid, lambda row: {'description': description})


def set_extra_specs(connection: sa.Connection, flavorid: str, specs: Mapping[str, str]) -> rows.Row:
    """Add or replace extra specs and return the row; raises FlavorNotFound."""
    return _change(connection, flavorid, lambda row: {'extra_specs': {**row.extra_specs, **specs}})


def drop_extra_spec(connection: sa.Connection, flavorid: str, key: str) -> rows.Row:
    """Remove one extra spec; raises FlavorNotFound, FlavorExtraSpecNotFound."""

    def without(row: rows.Row) -> dict[str, typing.Any]:
        if key not in row.extra_specs:
            raise exception.FlavorExtraSpecNotFound(flavor_id=flavorid, key=key)
        return {'extra_specs': {k: v for k, v in row.extra_specs.items() if k != key}}

    return _change(connection, flavorid, without)


def destroy(connection: sa.Connection, flavorid: str) -> None:
    """Remove a flavor; raises FlavorNotFound."""
    row = get(connection, flavorid)
    _note(connection, 'flavor.delete', row)
    rows.delete(connection, PROJECTS, flavor_id=row.id)
    rows.delete(connection, TABLE, id=row.id)


def projects(connection: sa.Connection, row: rows.Row) -> list[str]:
    """Return the projects with access to the flavor, sorted by id."""
    found = rows.every(connection, PROJECTS, order_by=PROJECTS.c.project_id, flavor_id=row.id)
    return [access.project_id for access in found]


def allow(connection: sa.Connection, row: rows.Row, project_id: str) -> None:
    """Give a project access to the flavor; raises AlreadyExists, FlavorNotFound."""
    if rows.lock(connection, TABLE, id=row.id) is None:
        raise exception.FlavorNotFound(flavor_id=row.flavorid)
    error = exception.AlreadyExists(
        what='Flavor access', key=f'for flavor {row.flavorid} and project {project_id}'
    )
    values = {'flavor_id': row.id, 'project_id': project_id}
    if rows.find(connection, PROJECTS, **values):
        raise error
    rows.insert_new(connection, PROJECTS, values, error)
    _note(connection, 'flavor.update', row)


def disallow(connection: sa.Connection, row: rows.Row, project_id: str) -> None:
    """Remove a project's access to the flavor. Raise FlavorAccessNotFound."""
    if not rows.delete(connection, PROJECTS, flavor_id=row.id, project_id=project_id):
        raise exception.FlavorAccessNotFound(flavor_id=row.flavorid, project_id=project_id)
    _note(connection, 'flavor.update', row)


def _change(
    connection: sa.Connection, flavorid: str, change: Callable[[rows.Row], rows.Values]
) -> rows.Row:
    row = rows.lock(connection, TABLE, flavorid=flavorid)
    if row is None:
        raise exception.FlavorNotFound(flavor_id=flavorid)
    rows.change(connection, TABLE, change(row), id=row.id)
    row = rows.one(connection, TABLE, id=row.id)
    _note(connection, 'flavor.update', row)
    return row


def _note(connection: sa.Connection, what: str, row: rows.Row) -> None:
    if notes.is_kept(connection):
        notes.add(connection, what, values=dict(row._mapping), projects=projects(connection, row))
