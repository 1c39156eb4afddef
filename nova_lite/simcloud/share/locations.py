"""/v2/shares/{id}/export_locations: where hosts mount a share. There is one for each share."""

from nova_lite.simcloud import faults
from nova_lite.simcloud import storage
from nova_lite.simcloud.share import shares

SERVER = '10.254.0.5'
PATHS = {
    'NFS': SERVER + ':/shares/{}',
    'CEPHFS': SERVER + ':6789:/volumes/_nogroup/{}',
    'CIFS': '\\\\' + SERVER + '\\{}',
}
OTHER = SERVER + ':/{}'


def of(row, caller):
    """Return the export location of a share."""
    shown = {
        # A share has no other one.
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

    def __init__(self, db):
        self._db = db

    def _location(self, req, share_id):
        caller = req.context.caller
        with self._db.read() as conn:
            return of(shares.get(conn, caller, share_id), caller)

    def on_get(self, req, resp, share_id):
        resp.media = {'export_locations': [self._location(req, share_id)]}

    def on_get_one(self, req, resp, share_id, location_id):
        found = self._location(req, share_id)
        if found['id'] != location_id:
            raise faults.NotFound(f'Export location {location_id[:64]} could not be found.')
        resp.media = {'export_location': found}
