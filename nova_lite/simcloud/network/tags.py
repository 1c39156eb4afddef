"""/v2.0/{resources}/{id}/tags."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import standard

_TAG = {**bodies.NAME, 'maxLength': 60}
TAGS = bodies.compiled(bodies.record({'tags': bodies.array(_TAG, most=50)}, ['tags']))


class TagResource:
    """Tags of a table's rows. target: name of the id in the route"""

    def __init__(self, db, table):
        self._db = db
        self._table = table

    def _row(self, conn, req, target):
        (row_id,) = target.values()
        return standard.get(conn, req.context.caller, self._table, row_id)

    def _change(self, req, target, changed):
        """Replace the tags by changed(tags). Raise NotFound for None."""
        req.context.caller.require_writer()

        def change(conn):
            row = self._row(conn, req, target)
            tags = changed(row['tags'])
            if tags is None:
                raise faults.NotFound('Tag could not be found.', 'TagNotFound')
            return standard.save(conn, self._table, row, tags=tags)

        return self._db.change(change)

    def on_get(self, req, resp, **target):
        with self._db.read() as conn:
            resp.media = {'tags': self._row(conn, req, target)['tags']}

    def on_put(self, req, resp, **target):
        tags = list(dict.fromkeys(bodies.read(req, TAGS, 'tags')))
        resp.media = {'tags': self._change(req, target, lambda _: tags)['tags']}

    def on_delete(self, req, resp, **target):
        self._change(req, target, lambda _: [])
        resp.status = falcon.HTTP_204

    def on_get_one(self, req, resp, tag, **target):
        with self._db.read() as conn:
            if tag not in self._row(conn, req, target)['tags']:
                raise faults.NotFound(f'Tag {tag[:60]} could not be found.', 'TagNotFound')
        resp.status = falcon.HTTP_204

    def on_put_one(self, req, resp, tag, **target):
        bodies.check({'tags': [tag]}, TAGS)
        self._change(req, target, lambda tags: list(dict.fromkeys([*tags, tag])))
        resp.status = falcon.HTTP_201

    def on_delete_one(self, req, resp, tag, **target):
        self._change(
            req, target, lambda tags: [one for one in tags if one != tag] if tag in tags else None
        )
        resp.status = falcon.HTTP_204
