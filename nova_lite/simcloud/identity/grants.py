"""Roles of users and groups on projects and domains, with implied roles."""

import typing

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import blobs
from nova_lite.simcloud.identity import tables

# The id and name of a role.
Role: typing.TypeAlias = dict[str, str]

TABLES = {tables.USER: tables.assignments, tables.GROUP: tables.group_assignments}


def implications(conn: sa.Connection) -> dict[str, set[str]]:
    """Return {role id: {ids of the roles it implies directly}}."""
    implied: dict[str, set[str]] = {}
    for row in database.find_all(conn, tables.implied_roles):
        implied.setdefault(row['prior_role_id'], set()).add(row['implied_role_id'])
    return implied


def expanded(conn: sa.Connection, role_ids: list[str]) -> set[str]:
    """Return `role_ids` and the ids of all roles that these roles imply."""
    implied = implications(conn)
    found, todo = set(), list(role_ids)
    while todo:
        role_id = todo.pop()
        if role_id not in found:
            found.add(role_id)
            todo.extend(implied.get(role_id, ()))
    return found


def granted(
    conn: sa.Connection, actor_id: str, kind: str, target_id: str, *, actor: str = tables.USER
) -> list[str]:
    """Return the ids of the roles assigned to a user, or to a group, directly."""
    held = {f'{actor}_id': actor_id, 'target_kind': kind, 'target_id': target_id}
    return [row['role_id'] for row in database.find_all(conn, TABLES[actor], **held)]


def groups_of(conn: sa.Connection, user_id: str) -> list[str]:
    """Return ids of the groups of a user."""
    found = database.find_all(conn, tables.group_members, user_id=user_id)
    return [row['group_id'] for row in found]


def _assigned(conn: sa.Connection, user_id: str, kind: str, target_id: str) -> list[str]:
    """Return ids of the roles assigned to a user or to groups of the user."""
    found = granted(conn, user_id, kind, target_id)
    for group_id in groups_of(conn, user_id):
        found += granted(conn, group_id, kind, target_id, actor=tables.GROUP)
    return found


def _inherited(conn: sa.Connection, user_id: str, project_id: str) -> list[str]:
    """Return ids of the roles that a project's domain passes on to it."""
    project = database.find(conn, tables.projects, id=project_id)
    return _assigned(conn, user_id, tables.INHERITED, project['domain_id']) if project else []


def effective(conn: sa.Connection, user_id: str, kind: str, target_id: str) -> list[Role]:
    """Return all roles that the user has on the target, sorted by name."""
    direct = _assigned(conn, user_id, kind, target_id)
    if kind == tables.PROJECT:
        direct += _inherited(conn, user_id, target_id)
    found = tables.among(conn, tables.roles, expanded(conn, direct))
    return [{'id': row['id'], 'name': row['name']} for row in found]


def targets(conn: sa.Connection, user_id: str, kind: str) -> set[str]:
    """Return ids of the projects or domains on which the user has any role."""
    found = database.find_all(conn, tables.assignments, user_id=user_id, target_kind=kind)
    for group_id in groups_of(conn, user_id):
        held = {'group_id': group_id, 'target_kind': kind}
        found += database.find_all(conn, tables.group_assignments, **held)
    return {row['target_id'] for row in found}


def enabled_targets(conn: sa.Connection, user_id: str, table: sa.Table) -> list[database.Row]:
    """Return the enabled projects or domains on which the user has a role, sorted by name."""
    ids = targets(conn, user_id, tables.kind_of(table))
    return tables.among(conn, table, ids, enabled=True)


def grant(
    conn: sa.Connection,
    actor_id: str,
    role_id: str,
    *,
    kind: str,
    target_id: str,
    actor: str = tables.USER,
) -> None:
    """Assign a role to a user or a group, unless it is already assigned."""
    if role_id not in granted(conn, actor_id, kind, target_id, actor=actor):
        values = {f'{actor}_id': actor_id, 'target_kind': kind, 'target_id': target_id}
        database.insert(conn, TABLES[actor], **values, role_id=role_id)
        tables.touch(conn)


def revoke(conn: sa.Connection, **matching: typing.Any) -> int:
    """Delete the assignments with these values of columns. Return the number of deleted rows.

    Without `user_id` and `group_id`, delete assignments of users and of groups.
    """
    concerned = [table for table in TABLES.values() if matching.keys() <= set(table.c.keys())]
    gone = sum(database.delete(conn, table, **matching) for table in concerned)
    if gone:
        tables.touch(conn)
    return gone


def forget_user(conn: sa.Connection, user_id: str) -> None:
    """Delete the roles, trusts, memberships, access rules and credentials of a deleted user."""
    for end in ('trustor_user_id', 'trustee_user_id'):
        database.delete(conn, tables.trusts, **{end: user_id})
    revoke(conn, user_id=user_id)
    access_rules.forget(conn, user_id)
    blobs.forget(conn, user_id)
    database.delete(conn, tables.group_members, user_id=user_id)


def forget_project(conn: sa.Connection, project_id: str) -> None:
    """Delete the roles, trusts and limits of a project that is being deleted."""
    revoke(conn, target_kind=tables.PROJECT, target_id=project_id)
    database.delete(conn, tables.trusts, project_id=project_id)
    database.delete(conn, tables.project_limits, project_id=project_id)


def forget_group(conn: sa.Connection, group_id: str) -> None:
    """Delete the roles and members of a group that is being deleted."""
    revoke(conn, group_id=group_id)
    database.delete(conn, tables.group_members, group_id=group_id)
