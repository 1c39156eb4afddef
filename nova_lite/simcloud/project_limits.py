"""Limits of projects, {resource: limit}, for the quotas of network and volume."""

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
    """The limits in `table`. builtin: those of a project without limits of its own"""

    def __init__(self, table, builtin):
        self._table = table
        self._builtin = builtin

    def of(self, conn, *project_ids):
        """Return the limits of the last of these projects, with defaults of those before it."""
        found = dict(self._builtin)
        for project_id in project_ids:
            for row in database.find_all(conn, self._table, project_id=project_id):
                found[row['resource']] = row['limit']
        return found

    def change(self, conn, project_id, wanted):
        """Set the limits that a request names."""
        for resource in self._builtin:
            if resource in wanted:
                key = {'project_id': project_id, 'resource': resource}
                database.delete(conn, self._table, **key)
                database.insert(conn, self._table, **key, limit=int(wanted[resource]))

    def reset(self, conn, project_id):
        """Drop the limits of a project."""
        database.delete(conn, self._table, project_id=project_id)
