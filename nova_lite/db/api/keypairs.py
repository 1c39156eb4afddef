"""Key pairs. They belong to a user, in all projects."""

from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import notes
from nova_lite.db import paging
from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.KeyPair.__table__


def create(connection: sa.Connection, values: rows.Values, *, imported: bool = False) -> rows.Row:
    """Add a key pair and return its row; raises AlreadyExists.

    imported: whether its user made it elsewhere
    """
    error = exception.AlreadyExists(what='Key pair', key=values['name'])
    if rows.find(connection, TABLE, user_id=values['user_id'], name=values['name']):
        raise error
    key = rows.insert_new(connection, TABLE, values, error)
    what = 'keypair.import' if imported else 'keypair.create'
    notes.add(connection, what, values=values)
    return rows.one(connection, TABLE, id=key)


def get(connection: sa.Connection, user_id: str, name: str) -> rows.Row:
    """Return one key pair of a user. Raise KeypairNotFound."""
    return rows.get(
        connection,
        TABLE,
        exception.KeypairNotFound(name=name, user_id=user_id),
        user_id=user_id,
        name=name,
    )


def page(
    connection: sa.Connection, user_id: str, *, limit: int | None = None, marker: str | None = None
) -> Sequence[rows.Row]:
    """Key pairs of a user by name.

    marker: name of the last one of the page before; raises MarkerNotFound
    """
    keys = [(TABLE.c.name, 'asc')]
    query = paging.ordered(sa.select(TABLE).where(TABLE.c.user_id == user_id), keys)
    if marker is not None:
        last = rows.get(
            connection,
            TABLE,
            exception.MarkerNotFound(marker=marker),
            user_id=user_id,
            name=marker,
        )
        query = query.where(paging.after(keys, last))
    return connection.execute(query.limit(limit)).all()


def count(connection: sa.Connection, user_id: str) -> int:
    """Return how many key pairs a user has."""
    return connection.execute(
        sa.select(sa.func.count()).select_from(TABLE).where(TABLE.c.user_id == user_id)
    ).scalar_one()


def destroy(connection: sa.Connection, user_id: str, name: str) -> None:
    """Remove a key pair; raises KeypairNotFound."""
    row = get(connection, user_id, name)
    rows.delete(connection, TABLE, id=row.id)
    notes.add(connection, 'keypair.delete', values=dict(row._mapping))
