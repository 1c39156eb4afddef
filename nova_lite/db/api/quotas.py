"""Limits that administrators have set: of projects, of users in projects, of quota classes."""

from collections.abc import Mapping
import typing

from oslo_db import exception as db_exception
from oslo_log import log
import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.dialects import execute

LOG = log.getLogger(__name__)
LIMITS = models.Quota.__table__
CLASSES = models.QuotaClass.__table__
DEFAULT_CLASS = 'default'
_OF_USER = LIMITS.c.user_id != ''
# The limits of a project, of a user in it, and of the default class, whose user is NULL.
_EFFECTIVE = sa.union_all(
    sa.select(LIMITS.c.user_id, LIMITS.c.resource, LIMITS.c.hard_limit).where(
        LIMITS.c.project_id == sa.bindparam('project'),
        sa.or_(LIMITS.c.user_id == '', LIMITS.c.user_id == sa.bindparam('user')),
    ),
    sa.select(sa.null(), CLASSES.c.resource, CLASSES.c.hard_limit).where(
        CLASSES.c.class_name == DEFAULT_CLASS
    ),
)


def of_project(connection: sa.Connection, project_id: str, user_id: str = '') -> dict[str, int]:
    """Return {resource: limit} set for a project, or for a user in it."""
    found = rows.every(connection, LIMITS, project_id=project_id, user_id=user_id)
    return {row.resource: row.hard_limit for row in found}


def of_class_project_and_user(
    connection: sa.Connection, project_id: str, user_id: str
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Return {resource: limit} set for the default class, for a project, and for a user in it."""
    of_class: dict[str, int] = {}
    of_project: dict[str, int] = {}
    of_user: dict[str, int] = {}
    given = {'project': project_id, 'user': user_id}
    for user, resource, limit in execute.every(connection, _EFFECTIVE, given):
        found = of_class if user is None else of_user if user else of_project
        found[resource] = limit
    return of_class, of_project, of_user


def of_users(connection: sa.Connection, project_id: str) -> dict[str, dict[str, int]]:
    """Return {user id: {resource: limit}} of the users of a project that have their own."""
    grouped: dict[str, dict[str, int]] = {}
    for row in rows.every(connection, LIMITS, _OF_USER, project_id=project_id):
        grouped.setdefault(row.user_id, {})[row.resource] = row.hard_limit
    return grouped


def set_limits(
    connection: sa.Connection, project_id: str, limits: Mapping[str, int], user_id: str = ''
) -> None:
    """Set limits ({resource: number}) of a project, or of a user in it."""
    for resource, limit in limits.items():
        key = {'project_id': project_id, 'user_id': user_id, 'resource': resource}
        _put(connection, LIMITS, key, limit)


def clear(connection: sa.Connection, project_id: str, user_id: str | None = None) -> None:
    """Delete the limits of a user in a project, or of the project and all its users."""
    where: dict[str, typing.Any] = {} if user_id is None else {'user_id': user_id}
    rows.delete(connection, LIMITS, project_id=project_id, **where)


def projects(connection: sa.Connection) -> list[str]:
    """Return the ids of projects that have limits of their own, sorted."""
    query = sa.select(LIMITS.c.project_id).where(LIMITS.c.user_id == '').distinct()
    return sorted(connection.execute(query).scalars())


def of_class(connection: sa.Connection, class_name: str) -> dict[str, int]:
    """Return {resource: limit} of a quota class."""
    found = rows.every(connection, CLASSES, class_name=class_name)
    return {row.resource: row.hard_limit for row in found}


def set_class(connection: sa.Connection, class_name: str, limits: Mapping[str, int]) -> None:
    """Set limits ({resource: number}) of a quota class."""
    for resource, limit in limits.items():
        _put(connection, CLASSES, {'class_name': class_name, 'resource': resource}, limit)


def _put(
    connection: sa.Connection, table: sa.Table, key: dict[str, typing.Any], limit: int
) -> None:
    conditions = [table.c[name] == value for name, value in key.items()]
    change = table.update().where(*conditions).values(hard_limit=limit)
    if rows.find(connection, table, **key) is None:
        try:
            with connection.begin_nested():
                rows.insert(connection, table, {**key, 'hard_limit': limit})
            return
        except db_exception.DBDuplicateEntry:
            LOG.debug('Another request has just set %s', key)
    connection.execute(change)
