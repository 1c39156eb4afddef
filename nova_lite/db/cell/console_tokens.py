"""Console tokens: who may open which console, until when. Only digests are stored."""

import hashlib

from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.ConsoleToken.__table__


def create(connection, token, values):
    """Store a token's digest with `values`, and forget tokens that have expired."""
    connection.execute(TABLE.delete().where(TABLE.c.expires < runtime.naive_now()))
    rows.insert(connection, TABLE, {'token_hash': digest(token), **values})


def find(connection, token):
    """What a token that has not expired is good for, or None."""
    row = rows.find(connection, TABLE, token_hash=digest(token))
    return row if row is not None and row.expires > runtime.naive_now() else None


def digest(token):
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
