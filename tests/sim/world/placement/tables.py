"""Placement's tables, as the double reads and writes them."""

import contextlib

from nova_lite import runtime

PROVIDERS = """
    SELECT p.id, p.uuid, p.name, p.generation, parent.uuid, root.uuid FROM resource_providers p
    JOIN resource_providers root ON root.id = p.root_provider_id
    LEFT JOIN resource_providers parent ON parent.id = p.parent_provider_id
"""


class LeftToReal(Exception):
    """The real placement has to answer a request."""


class Tables:
    """connection: of the simulated disk; names: a names.Names"""

    def __init__(self, connection, names):
        self.connection, self.names = connection, names

    def rows(self, statement, *given):
        """Return all rows of a query."""
        return self.connection.execute(statement, given).fetchall()

    def provider(self, uuid):
        """Return (id, generation) of a provider. Raise LeftToReal if there is none."""
        for row in self.rows('SELECT id, generation FROM resource_providers WHERE uuid = ?', uuid):
            return row
        raise LeftToReal

    @contextlib.contextmanager
    def writing(self):
        """Make one transaction of the block."""
        self.connection.execute('BEGIN IMMEDIATE')
        try:
            yield
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise

    def execute(self, statement, *given):
        """Execute a statement that writes."""
        self.connection.execute(statement, given)


def marks(values):
    """Return placeholders for a list of values."""
    return ','.join('?' * len(values))


def now():
    """Return the time of day as placement stores it."""
    return runtime.naive_now().isoformat(' ', 'microseconds')
