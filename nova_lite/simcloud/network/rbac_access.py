"""Access to objects of other projects by RBAC policies. `rbac` has the policies."""

from collections.abc import Callable
from collections.abc import Iterable

import sqlalchemy as sa

from nova_lite.dialects import execute
from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POLICIES = tables.rbac_policies
EVERYONE = '*'
SHARED, EXTERNAL = 'access_as_shared', 'access_as_external'
# The attribute of an object that shows a grant, by the action of the grant.
ATTRIBUTES = {SHARED: 'shared', EXTERNAL: 'external'}
_OF_OBJECTS = sa.select(POLICIES.c.object_id, POLICIES.c.action).where(
    POLICIES.c.target_project.in_(sa.bindparam('targets', expanding=True)),
    POLICIES.c.action.in_(tuple(ATTRIBUTES)),
    POLICIES.c.object_id.in_(sa.bindparam('some', expanding=True)),
)


def _targets(caller: callers.Caller) -> list[str]:
    """Return the targets of policies for the caller's project."""
    return [EVERYONE, *([caller.project_id] if caller.project_id else ())]


def _granted(caller: callers.Caller, *actions: str) -> shapes.Condition:
    """Return the condition that a policy grants one of the actions to the caller's project."""
    chosen = POLICIES.c.target_project.in_(_targets(caller))
    return sa.and_(chosen, POLICIES.c.action.in_(actions))


def granted(caller: callers.Caller, table: sa.Table, *actions: str) -> shapes.Condition:
    """Return the condition that policies let the caller use a row of a table."""
    found = sa.select(POLICIES.c.object_id).where(_granted(caller, *(actions or (SHARED,))))
    return table.c.id.in_(found)


def seen(
    conn: sa.Connection, caller: callers.Caller, rows: list[database.Row]
) -> list[database.Row]:
    """Return `rows` as the caller sees them: shared or external also by policies."""
    known = {row['id']: row for row in rows}
    for some in database.in_chunks(known):
        given = {'targets': _targets(caller), 'some': execute.filled(some)}
        for object_id, action in execute.every(conn, _OF_OBJECTS, given):
            known[object_id] = known[object_id] | {ATTRIBUTES[action]: True}
    return list(known.values())


def views(view: Callable[[database.Row], bodies.Json]) -> resources.Views:
    """Return `views` of a Resource that apply view(row) to each row as the caller sees it."""
    return lambda conn, req, found: [view(row) for row in seen(conn, req.context.caller, found)]


def filters(
    table: sa.Table,
    known: standard.Filters | Iterable[str],
    actions: dict[str, str] | None = None,
) -> Callable[[web.Request], standard.Filters]:
    """Return `filters` of standard.lists for attributes that are also true by policies.

    known: the other filters
    actions: {parameter: action of the policies that make it true}; None: only `shared`
    """
    others = known if isinstance(known, dict) else {name: name for name in known}
    granting = actions or {ATTRIBUTES[SHARED]: SHARED}

    def by(
        caller: callers.Caller, parameter: str, action: str
    ) -> Callable[[list[str]], shapes.Condition]:
        def chosen(values: list[str]) -> shapes.Condition:
            column = table.c.get(ATTRIBUTES[action], sa.false())
            condition = sa.or_(column, granted(caller, table, action))
            wanted = {paging.boolean(value, parameter) for value in values}
            return sa.or_(*(condition if each else sa.not_(condition) for each in wanted))

        return chosen

    return lambda req: (
        others
        | {
            parameter: by(req.context.caller, parameter, action)
            for parameter, action in granting.items()
        }
    )


def forget(conn: sa.Connection, object_id: str) -> None:
    """Delete the policies of an object that is being deleted."""
    database.delete(conn, POLICIES, object_id=object_id)
