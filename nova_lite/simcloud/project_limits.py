"""Limits of projects, {resource: limit}, as the quotas of network and volume keep them."""

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
    """The limits in `table`; `builtin` are those of a project without any of its own."""

    def __init__(self, table, builtin):
        self._table = table
        self._builtin = builtin

    def of(self, conn, *project_ids):
        """The limits of the last of these projects; what it does not set, those before it do."""
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
