"""/v2/shares/{id}/export_locations: the path at which hosts mount a share, one for each share."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.share import shares

SERVER = '10.254.0.5'
PATHS = {
    'NFS': SERVER + ':/shares/{}',
    'CEPHFS': SERVER + ':6789:/volumes/_nogroup/{}',
    'CIFS': '\\\\' + SERVER + '\\{}',
}
OTHER = SERVER + ':/{}'


def of(row: database.Row, caller: callers.Caller) -> bodies.Json:
    """Return the export location of a share."""
    shown = {
        # A share has only this export location.
        'id': row['id'],
        'path': PATHS.get(row['share_proto'], OTHER).format(row['id']),
        'preferred': True,
        'created_at': storage.stamp(row['created_at']),
        'updated_at': storage.stamp(row['created_at']),
        'metadata': {},
    }
    if caller.is_privileged:
        shown |= {'is_admin_only': False, 'share_instance_id': row['id']}
    return shown


class LocationResource:
    """Answers requests for the export locations of a share."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _location(self, req: web.Request, share_id: str) -> bodies.Json:
        caller = req.context.caller
        with self._db.read() as conn:
            return of(shares.get(conn, caller, share_id), caller)

    def on_get(self, req: web.Request, resp: falcon.Response, share_id: str) -> None:
        resp.media = {'export_locations': [self._location(req, share_id)]}

    def on_get_one(
        self, req: web.Request, resp: falcon.Response, share_id: str, location_id: str
    ) -> None:
        found = self._location(req, share_id)
        if found['id'] != location_id:
            raise faults.NotFound(f'Export location {location_id[:64]} could not be found.')
        resp.media = {'export_location': found}
