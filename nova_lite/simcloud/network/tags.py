"""/v2.0/{resources}/{id}/tags."""

from collections.abc import Callable

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import standard

_TAG = bodies.STRING
_TAGS = {**bodies.array(_TAG, most=50), 'uniqueItems': True}
TAGS = bodies.compiled(bodies.record({'tags': _TAGS}, ['tags']))


def _checked(body: bodies.Json) -> list[str]:
    """Return the tags of a request's body. Raise BadRequest."""
    if not TAGS.is_valid(body):
        raise standard.invalid(f'tags must be at most 50 different strings: {str(body)[:255]}')
    found: list[str] = body['tags']
    return found


class TagResource:
    """Answers requests for the tags of a resource's rows.

    permit: called before a change, as in resources.Resource
    """

    def __init__(
        self,
        db: database.Database,
        table: sa.Table,
        permit: resources.Permit = resources.permit_all,
    ) -> None:
        self._db = db
        self._table = table
        self._permit = permit

    def _row(self, conn: sa.Connection, req: web.Request, target: resources.Path) -> database.Row:
        (row_id,) = target.values()
        return standard.get(conn, req.context.caller, self._table, row_id)

    def _change(
        self,
        req: web.Request,
        target: resources.Path,
        changed: Callable[[list[str]], list[str] | None],
    ) -> database.Row:
        """Replace the tags of a row by changed(tags). Raise NotFound if that is None."""
        req.context.caller.require_writer()
        self._permit(req.context.caller, resources.UPDATE, target)

        def change(conn: sa.Connection) -> database.Row:
            row = self._row(conn, req, target)
            tags = changed(row['tags'])
            if tags is None:
                raise faults.NotFound('Tag could not be found.', 'TagNotFound')
            return standard.save(conn, self._table, row, tags=tags)

        return self._db.change(change)

    def on_get(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        with self._db.read() as conn:
            resp.media = {'tags': self._row(conn, req, target)['tags']}

    def on_put(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        tags = _checked(bodies.parsed(req))
        resp.media = {'tags': self._change(req, target, lambda _: tags)['tags']}

    def on_delete(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        self._change(req, target, lambda _: [])
        resp.status = falcon.HTTP_204

    def on_get_one(self, req: web.Request, resp: falcon.Response, tag: str, **target: str) -> None:
        with self._db.read() as conn:
            if tag not in self._row(conn, req, target)['tags']:
                raise faults.NotFound(f'Tag {tag[:255]} could not be found.', 'TagNotFound')
        resp.status = falcon.HTTP_204

    def on_put_one(self, req: web.Request, resp: falcon.Response, tag: str, **target: str) -> None:
        _checked({'tags': [tag]})
        self._change(
            req, target, lambda tags: _checked({'tags': list(dict.fromkeys([*tags, tag]))})
        )
        resp.status = falcon.HTTP_201
        resp.text = 'null'

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, tag: str, **target: str
    ) -> None:
        self._change(
            req, target, lambda tags: [one for one in tags if one != tag] if tag in tags else None
        )
        resp.status = falcon.HTTP_204
