"""Limits of projects, {resource: limit}, for the quotas of the network and volume services."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database

UNLIMITED = -1
SCHEMA = {
    'type': ['integer', 'string'],
    'minimum': UNLIMITED,
    'maximum': bodies.INT_LIMIT,
    'pattern': '^-1$|^[0-9]{1,9}$',
}


class Limits:
    """Limits that are stored in `table`. builtin: limits of a project without stored limits"""

    def __init__(self, table: sa.Table, builtin: dict[str, int]) -> None:
        self._table = table
        self._builtin = builtin

    def of(self, conn: sa.Connection, *project_ids: str) -> dict[str, int]:
        """Return the limits of the last of these projects; earlier projects supply its defaults."""
        found = dict(self._builtin)
        for project_id in project_ids:
            for row in database.find_all(conn, self._table, project_id=project_id):
                found[row['resource']] = row['limit']
        return found

    def change(self, conn: sa.Connection, project_id: str, wanted: bodies.Json) -> None:
        """Store the limits in `wanted` for a project."""
        for resource in self._builtin:
            if resource in wanted:
                key = {'project_id': project_id, 'resource': resource}
                database.delete(conn, self._table, **key)
                database.insert(conn, self._table, **key, limit=int(wanted[resource]))

    def reset(self, conn: sa.Connection, project_id: str) -> None:
        """Delete the stored limits of a project."""
        database.delete(conn, self._table, project_id=project_id)
