"""Console tokens: the consoles that they open, and their expiry. Only digests are stored.

A token opens a port of the host on which the server was. When the server has left that host,
the port may be of the console of another server, and the token opens nothing.
"""

import hashlib

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.ConsoleToken.__table__
INSTANCES = models.Instance.__table__
_EXPIRED = TABLE.c.expires < sa.bindparam('now')


def create(connection: sa.Connection, token: str, values: rows.Values) -> None:
    """Store a token's digest with `values`, and forget tokens that have expired."""
    rows.delete(connection, TABLE, _EXPIRED, given={'now': runtime.naive_now()})
    rows.insert(connection, TABLE, {'token_hash': digest(token), **values})


def find(connection: sa.Connection, token: str) -> rows.Row | None:
    """Return the row of a token that opens a console, or None."""
    row = rows.find(connection, TABLE, token_hash=digest(token))
    if row is None or row.expires <= runtime.naive_now():
        return None
    place = {'uuid': row.instance_uuid, 'host': row.host, 'hidden': False, 'deleted': False}
    return row if rows.find(connection, INSTANCES, **place) is not None else None


def digest(token: str) -> str:
    """Return the digest of a token, which is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
