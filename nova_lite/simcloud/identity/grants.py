"""Roles of users and groups on projects and domains, with implied roles."""

from nova_lite.simcloud import database
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import blobs
from nova_lite.simcloud.identity import tables

TABLES = {tables.USER: tables.assignments, tables.GROUP: tables.group_assignments}


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


def granted(conn, actor_id, kind, target_id, *, actor=tables.USER):
    """Return ids of the roles assigned to a user or a group itself."""
    held = {f'{actor}_id': actor_id, 'target_kind': kind, 'target_id': target_id}
    return [row['role_id'] for row in database.find_all(conn, TABLES[actor], **held)]


def groups_of(conn, user_id):
    """Return ids of the groups of a user."""
    found = database.find_all(conn, tables.group_members, user_id=user_id)
    return [row['group_id'] for row in found]


def _assigned(conn, user_id, kind, target_id):
    """Return ids of the roles assigned to a user or to groups of the user."""
    found = granted(conn, user_id, kind, target_id)
    for group_id in groups_of(conn, user_id):
        found += granted(conn, group_id, kind, target_id, actor=tables.GROUP)
    return found


def _inherited(conn, user_id, project_id):
    """Return ids of the roles that a project's domain passes on to it."""
    project = database.find(conn, tables.projects, id=project_id)
    return _assigned(conn, user_id, tables.INHERITED, project['domain_id']) if project else []


def effective(conn, user_id, kind, target_id):
    """Return [{id, name}] of all roles the user has on the target, by name."""
    direct = _assigned(conn, user_id, kind, target_id)
    if kind == tables.PROJECT:
        direct += _inherited(conn, user_id, target_id)
    found = tables.among(conn, tables.roles, expanded(conn, direct))
    return [{'id': row['id'], 'name': row['name']} for row in found]


def targets(conn, user_id, kind):
    """Return ids of the projects or domains on which the user has any role."""
    found = database.find_all(conn, tables.assignments, user_id=user_id, target_kind=kind)
    for group_id in groups_of(conn, user_id):
        held = {'group_id': group_id, 'target_kind': kind}
        found += database.find_all(conn, tables.group_assignments, **held)
    return {row['target_id'] for row in found}


def enabled_targets(conn, user_id, table):
    """Return the enabled projects or domains on which the user has any role, by name."""
    ids = targets(conn, user_id, tables.kind_of(table))
    return tables.among(conn, table, ids, enabled=True)


def grant(conn, actor_id, role_id, *, kind, target_id, actor=tables.USER):
    """Give the role to a user or a group; nothing happens when they have it."""
    if role_id not in granted(conn, actor_id, kind, target_id, actor=actor):
        values = {f'{actor}_id': actor_id, 'target_kind': kind, 'target_id': target_id}
        database.insert(conn, TABLES[actor], **values, role_id=role_id)
        tables.touch(conn)


def revoke(conn, **matching):
    """Remove the assignments that match the given columns; return how many there were.

    Without `user_id` or `group_id` those of users and of groups are removed.
    """
    concerned = [table for table in TABLES.values() if matching.keys() <= set(table.c.keys())]
    gone = sum(database.delete(conn, table, **matching) for table in concerned)
    if gone:
        tables.touch(conn)
    return gone


def forget_user(conn, user_id):
    """Remove what a user who is deleted has.

    These are roles, memberships in groups, trusts, access rules and credentials.
    """
    for end in ('trustor_user_id', 'trustee_user_id'):
        database.delete(conn, tables.trusts, **{end: user_id})
    revoke(conn, user_id=user_id)
    access_rules.forget(conn, user_id)
    blobs.forget(conn, user_id)
    database.delete(conn, tables.group_members, user_id=user_id)


def forget_project(conn, project_id):
    """Remove the roles and trusts on a project that is deleted."""
    revoke(conn, target_kind=tables.PROJECT, target_id=project_id)
    database.delete(conn, tables.trusts, project_id=project_id)


def forget_group(conn, group_id):
    """Remove what a group that is deleted has: roles and members."""
    revoke(conn, group_id=group_id)
    database.delete(conn, tables.group_members, group_id=group_id)
