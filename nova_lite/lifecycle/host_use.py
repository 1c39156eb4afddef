"""Deletion of a host's mapping, which nothing that uses the host may survive.

A build or a move writes its record to the cell before it holds the mapping (`host_mappings.hold`).
A program that deletes the mapping locks it before it looks for records in the cell. So one of them
notices the other.
"""

import enum

import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite.db import rows
from nova_lite.db.api import host_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import migrations


class Use(enum.StrEnum):
    """The use of a host, in words that the name of the host can follow."""

    SERVERS = 'instances on'
    MOVES = 'migrations in progress from or to'


def unmap(
    connection: sa.Connection, host: str, cells: deployment.Cells, cell: deployment.Cell
) -> Use | None:
    """Delete the mapping of a host to a cell, unless the host is used. Return its use, or None.

    The mapping of a host that is in another cell by now stays.
    """
    if rows.lock(connection, host_mappings.TABLE, host=host, cell_id=cell.id) is None:
        return None
    use = find(cells, cell, host)
    if use is None:
        host_mappings.destroy(connection, host)
        stamps.bump(connection, stamps.HOSTS)
    return use


def find(cells: deployment.Cells, cell: deployment.Cell, host: str) -> Use | None:
    """Return what uses a host, or None. Raise the error of a cell that does not answer in time.

    The caller may hold a lock, for which builds and moves wait.
    """
    answer = cells.scatter(_find, host, cells=[cell])[cell]
    if isinstance(answer, deployment.Unreachable):
        raise answer.error
    return answer


def _find(connection: sa.Connection, host: str) -> Use | None:
    if host_usage.count_on(connection, [host]):
        return Use.SERVERS
    return Use.MOVES if migrations.in_progress(connection, host) else None
