"""Which roles a user holds where, implied roles included."""

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud.identity import tables


def implications(conn):
    """{role id: {ids of the roles it implies directly}}."""
    implied = {}
    for row in conn.execute(sa.select(tables.implied_roles)).mappings():
        implied.setdefault(row['prior_role_id'], set()).add(row['implied_role_id'])
    return implied


def expanded(conn, role_ids):
    """The given role ids and all that they imply."""
    implied = implications(conn)
    found, todo = set(), list(role_ids)
    while todo:
        role_id = todo.pop()
        if role_id not in found:
            found.add(role_id)
            todo.extend(implied.get(role_id, ()))
    return found


def granted(conn, user_id, kind, target_id):
    """Ids of the roles assigned directly."""
    table = tables.assignments
    return [
        row.role_id
        for row in conn.execute(
            sa.select(table.c.role_id).where(
                table.c.user_id == user_id,
                table.c.target_kind == kind,
                table.c.target_id == target_id,
            )
        )
    ]


def _inherited(conn, user_id, project_id):
    """Ids of the roles that a project's domain passes on to it."""
    project = tables.find(conn, tables.projects, id=project_id)
    return granted(conn, user_id, tables.INHERITED, project['domain_id']) if project else []


def effective(conn, user_id, kind, target_id):
    """[{id, name}] of all roles the user has on the target, by name."""
    direct = granted(conn, user_id, kind, target_id)
    if kind == tables.PROJECT:
        direct += _inherited(conn, user_id, target_id)
    ids = expanded(conn, direct)
    roles = tables.roles
    return database.rows(
        conn, sa.select(roles.c.id, roles.c.name).where(roles.c.id.in_(ids)).order_by(roles.c.name)
    )


def targets(conn, user_id, kind):
    """Ids of the projects or domains on which the user has any role."""
    table = tables.assignments
    return {
        row.target_id
        for row in conn.execute(
            sa.select(table.c.target_id)
            .where(table.c.user_id == user_id, table.c.target_kind == kind)
            .distinct()
        )
    }


def grant(conn, user_id, role_id, *, kind, target_id):
    """Give the role; nothing happens when the user has it."""
    if role_id not in granted(conn, user_id, kind, target_id):
        conn.execute(
            tables.assignments.insert().values(
                user_id=user_id, target_kind=kind, target_id=target_id, role_id=role_id
            )
        )
        tables.touch(conn)


def revoke(conn, **matching):
    """Remove the assignments that match the given columns; how many there were."""
    table = tables.assignments
    gone = conn.execute(
        table.delete().where(*(table.c[name] == value for name, value in matching.items()))
    )
    if gone.rowcount:
        tables.touch(conn)
    return gone.rowcount
