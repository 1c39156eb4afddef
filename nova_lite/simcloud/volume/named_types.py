"""Types of volumes and types of groups: their unique names and their visibility."""

import dataclasses

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import storage

SHOWN = ('id', 'name', 'description', 'is_public')


def style(created):
    """Return how a service answers that lists all types at once. created: status of a creation"""
    return dataclasses.replace(
        storage.STYLE, collection=lambda _req, key, items: {key: items}, created=created
    )


def visible(table, caller):
    """Return the condition that the caller may use a type."""
    return sa.true() if caller.is_privileged else table.c.is_public


def listed(conn, table, *conditions):
    """Return the rows that meet the conditions, the oldest first."""
    query = sa.select(table).where(*conditions)
    return database.rows(conn, query.order_by(table.c.created_at, table.c.name))


def require_free_name(conn, table, name, *, kind, type_id=''):
    """Raise Conflict if another type than `type_id` has the name. kind: for the message"""
    if database.exists(conn, table, table.c.id != type_id, name=name):
        raise faults.Conflict(f'{kind} Type {name} already exists.')
