"""Access to objects of other projects by RBAC policies; `rbac` has the policies."""

import sqlalchemy as sa

from nova_lite.dialects import lean
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud.network import tables

POLICIES = tables.rbac_policies
EVERYONE = '*'
SHARED, EXTERNAL = 'access_as_shared', 'access_as_external'
# What a grant looks like in the attributes of an object.
ATTRIBUTES = {SHARED: 'shared', EXTERNAL: 'external'}
_OF_OBJECTS = sa.select(POLICIES.c.object_id, POLICIES.c.action).where(
    POLICIES.c.target_project.in_(sa.bindparam('targets', expanding=True)),
    POLICIES.c.action.in_(tuple(ATTRIBUTES)),
    POLICIES.c.object_id.in_(sa.bindparam('some', expanding=True)),
)


def _targets(caller):
    """Return the targets of policies for the caller's project."""
    return [EVERYONE, *([caller.project_id] if caller.project_id else ())]


def _granted(caller, *actions):
    """Return the condition that a policy grants one of the actions to the caller's project."""
    chosen = POLICIES.c.target_project.in_(_targets(caller))
    return sa.and_(chosen, POLICIES.c.action.in_(actions))


def granted(caller, table, *actions):
    """Return the condition that policies let the caller use a row of a table."""
    found = sa.select(POLICIES.c.object_id).where(_granted(caller, *(actions or (SHARED,))))
    return table.c.id.in_(found)


def seen(conn, caller, rows):
    """Return rows as they look to the caller: shared or external also by policies."""
    known = {row['id']: row for row in rows}
    for some in database.in_chunks(known):
        given = {'targets': _targets(caller), 'some': lean.filled(some)}
        for object_id, action in lean.every(conn, _OF_OBJECTS, given):
            known[object_id] = known[object_id] | {ATTRIBUTES[action]: True}
    return list(known.values())


def views(view):
    """Return a `views` that applies view(row) to each row as it looks to the caller."""
    return lambda conn, req, found: [view(row) for row in seen(conn, req.context.caller, found)]


def filters(table, known, actions=None):
    """Return `filters` of standard.lists for attributes that are also true by policies.

    known: the other filters; actions: {parameter: action that grants}, by default of `shared`
    """
    known = known if isinstance(known, dict) else {name: name for name in known}
    actions = actions or {ATTRIBUTES[SHARED]: SHARED}

    def by(caller, parameter, action):
        def chosen(values):
            column = table.c.get(ATTRIBUTES[action], sa.false())
            condition = sa.or_(column, granted(caller, table, action))
            wanted = {paging.boolean(value, parameter) for value in values}
            return sa.or_(*(condition if each else sa.not_(condition) for each in wanted))

        return chosen

    return lambda req: (
        known
        | {
            parameter: by(req.context.caller, parameter, action)
            for parameter, action in actions.items()
        }
    )


def forget(conn, object_id):
    """Delete the policies of an object that is deleted."""
    database.delete(conn, POLICIES, object_id=object_id)
