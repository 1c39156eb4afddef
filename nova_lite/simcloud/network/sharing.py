"""Who may use what another project owns, by RBAC policies; `rbac` has the policies."""

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import listing
from nova_lite.simcloud.network import tables

POLICIES = tables.rbac_policies
EVERYONE = '*'
SHARED, EXTERNAL = 'access_as_shared', 'access_as_external'
# What a grant looks like in the attributes of an object.
ATTRIBUTES = {SHARED: 'shared', EXTERNAL: 'external'}


def _granted(caller, *actions):
    """Return the condition that a policy grants one of the actions to the caller's project."""
    targets = [EVERYONE, *([caller.project_id] if caller.project_id else ())]
    return sa.and_(POLICIES.c.target_project.in_(targets), POLICIES.c.action.in_(actions))


def granted(caller, table, *actions):
    """Return the condition that policies let the caller use a row of a table."""
    found = sa.select(POLICIES.c.object_id).where(_granted(caller, *(actions or (SHARED,))))
    return table.c.id.in_(found)


def seen(conn, caller, rows):
    """Return rows as they look to the caller: shared or external also by policies."""
    known = {row['id']: row for row in rows}
    for some in database.in_chunks(known):
        condition = sa.and_(_granted(caller, *ATTRIBUTES), POLICIES.c.object_id.in_(some))
        for policy in database.find_all(conn, POLICIES, condition):
            attribute = {ATTRIBUTES[policy['action']]: True}
            known[policy['object_id']] = known[policy['object_id']] | attribute
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
        column = table.c.get(ATTRIBUTES[action], sa.false())
        condition = sa.or_(column, granted(caller, table, action))

        def chosen(values):
            wanted = {listing.boolean(value, parameter) for value in values}
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
