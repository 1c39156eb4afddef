"""Unique names and visibility of volume types and of group types."""

import dataclasses

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage

SHOWN = ('id', 'name', 'description', 'is_public')


def style(created: str) -> resources.Style:
    """Return the Style of types, whose lists have no pages. created: status of a creation"""
    return dataclasses.replace(
        storage.STYLE, collection=lambda _req, key, items: {key: items}, created=created
    )


def visible(table: sa.Table, caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may use a type."""
    return sa.true() if caller.is_privileged else table.c.is_public


def listed(
    conn: sa.Connection, table: sa.Table, *conditions: shapes.Condition
) -> list[database.Row]:
    """Return the rows that meet the conditions, oldest first."""
    query = sa.select(table).where(*conditions)
    return database.rows(conn, query.order_by(table.c.created_at, table.c.name))


def require_free_name(
    conn: sa.Connection, table: sa.Table, name: str, *, kind: str, type_id: str = ''
) -> None:
    """Raise Conflict if a type other than `type_id` has the name. kind: word for the message"""
    if database.exists(conn, table, table.c.id != type_id, name=name):
        raise faults.Conflict(f'{kind} Type {name} already exists.')
