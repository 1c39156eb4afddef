"""Queries that only commands need: the events of several sagas, and a saga by part of its uuid."""

from collections.abc import Collection
from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import sagas


def events_of(connection: sa.Connection, uuids: Collection[str]) -> dict[str, list[rows.Row]]:
    """Return {uuid: events in order} of sagas."""
    found: dict[str, list[rows.Row]] = {}
    wanted = sagas.EVENTS.c.saga_uuid.in_(uuids)
    for row in rows.every(connection, sagas.EVENTS, wanted, order_by=sagas.EVENTS.c.id):
        found.setdefault(row.saga_uuid, []).append(row)
    return found


def beginning_with(connection: sa.Connection, text: str) -> Sequence[str]:
    """Return the uuids of sagas that begin with a text."""
    beginning = sagas.TABLE.c.uuid.startswith(text, autoescape=True)
    return connection.scalars(sa.select(sagas.TABLE.c.uuid).where(beginning)).all()
