"""Roles of users on projects and domains, with implied roles."""

from nova_lite.simcloud import database
from nova_lite.simcloud.identity import tables


def implications(conn):
    """Return {role id: {ids of the roles it implies directly}}."""
    implied = {}
    for row in database.find_all(conn, tables.implied_roles):
        implied.setdefault(row['prior_role_id'], set()).add(row['implied_role_id'])
    return implied


def expanded(conn, role_ids):
    """Return the role ids and those that they imply."""
    implied = implications(conn)
    found, todo = set(), list(role_ids)
    while todo:
        role_id = todo.pop()
        if role_id not in found:
            found.add(role_id)
            todo.extend(implied.get(role_id, ()))
    return found


def granted(conn, user_id, kind, target_id):
    """Return ids of the roles assigned directly."""
    held = {'user_id': user_id, 'target_kind': kind, 'target_id': target_id}
    return [row['role_id'] for row in database.find_all(conn, tables.assignments, **held)]


def _inherited(conn, user_id, project_id):
    """Return ids of the roles that a project's domain passes on to it."""
    project = database.find(conn, tables.projects, id=project_id)
    return granted(conn, user_id, tables.INHERITED, project['domain_id']) if project else []


def effective(conn, user_id, kind, target_id):
    """Return [{id, name}] of all roles the user has on the target, by name."""
    direct = granted(conn, user_id, kind, target_id)
    if kind == tables.PROJECT:
        direct += _inherited(conn, user_id, target_id)
    found = tables.among(conn, tables.roles, expanded(conn, direct))
    return [{'id': row['id'], 'name': row['name']} for row in found]


def targets(conn, user_id, kind):
    """Return ids of the projects or domains on which the user has any role."""
    held = {'user_id': user_id, 'target_kind': kind}
    return {row['target_id'] for row in database.find_all(conn, tables.assignments, **held)}


def enabled_targets(conn, user_id, table):
    """Return the enabled projects or domains on which the user has any role, by name."""
    ids = targets(conn, user_id, tables.kind_of(table))
    return tables.among(conn, table, ids, enabled=True)


def grant(conn, user_id, role_id, *, kind, target_id):
    """Give the role; nothing happens when the user has it."""
    if role_id not in granted(conn, user_id, kind, target_id):
        values = {'user_id': user_id, 'target_kind': kind, 'target_id': target_id}
        database.insert(conn, tables.assignments, **values, role_id=role_id)
        tables.touch(conn)


def revoke(conn, **matching):
    """Remove the assignments that match the given columns; how many there were."""
    gone = database.delete(conn, tables.assignments, **matching)
    if gone:
        tables.touch(conn)
    return gone
