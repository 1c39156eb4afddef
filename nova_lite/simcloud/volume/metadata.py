"""/v3/{volumes|snapshots}/{id}/metadata: short notes that users keep."""

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults

METADATA = {
    'type': 'object',
    'additionalProperties': bodies.STRING,
    'propertyNames': {'minLength': 1, 'maxLength': 255},
}
WRITE_ALL = bodies.compiled(
    {'type': 'object', 'required': ['metadata'], 'properties': {'metadata': METADATA}}
)
WRITE_ONE = bodies.compiled(
    {
        'type': 'object',
        'required': ['meta'],
        'properties': {'meta': {**METADATA, 'minProperties': 1, 'maxProperties': 1}},
    }
)


def _require_key(metadata, key):
    if key not in metadata:
        raise faults.NotFound(f'There is no metadata with key {key[:255]}.')


class MetadataResource:
    """The notes of one kind of resource; `target` is its id under the route's name.

    get(conn, caller, id) returns the row or raises NotFound.
    """

    def __init__(self, db, table, get):
        self._db = db
        self._table = table
        self._get = get

    def _metadata(self, conn, req, target):
        (row_id,) = target.values()
        return self._get(conn, req.context.caller, row_id)['metadata']

    def _change(self, req, target, changed):
        """Replace the metadata by changed(metadata) and return it."""
        req.context.caller.require_writer()
        (row_id,) = target.values()

        def change(conn):
            metadata = changed(dict(self._metadata(conn, req, target)))
            conn.execute(
                self._table.update()
                .where(self._table.c.id == row_id)
                .values(metadata=metadata, updated_at=runtime.naive_now())
            )
            return metadata

        return self._db.change(change)

    def on_get(self, req, resp, **target):
        with self._db.read() as conn:
            resp.media = {'metadata': self._metadata(conn, req, target)}

    def on_post(self, req, resp, **target):
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = {'metadata': self._change(req, target, lambda known: known | wanted)}

    def on_put(self, req, resp, **target):
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = {'metadata': self._change(req, target, lambda _: wanted)}

    def on_get_one(self, req, resp, key, **target):
        with self._db.read() as conn:
            metadata = self._metadata(conn, req, target)
        _require_key(metadata, key)
        resp.media = {'meta': {key: metadata[key]}}

    def on_put_one(self, req, resp, key, **target):
        wanted = bodies.read(req, WRITE_ONE, 'meta')
        if key not in wanted:
            raise faults.BadRequest('Request body and URI mismatch')
        self._change(req, target, lambda known: known | wanted)
        resp.media = {'meta': wanted}

    def on_delete_one(self, req, resp, key, **target):
        def without(metadata):
            _require_key(metadata, key)
            return {name: value for name, value in metadata.items() if name != key}

        self._change(req, target, without)
