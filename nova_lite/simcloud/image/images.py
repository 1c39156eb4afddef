"""/v2/images: the collection, one image, its data and its tags."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.image import content
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import filters
from nova_lite.simcloud.image import patches
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    page = filters.page(req)
    return database.rows(conn, paging.paged(conn, filters.query(req), tables.images, page))


def _collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    first = paging.query_of(req)
    answer = {
        key: items,
        'schema': '/v2/schemas/images',
        'first': '/v2/images' + (f'?{first}' if first else ''),
    }
    if items and len(items) == filters.page(req).limit:
        answer['next'] = '/v2/images?' + paging.next_query(req, items[-1]['id'])
    return answer


RESOURCE = resources.Resource(
    name='image',
    style=resources.Style(collection=_collection, wrapped=False, update_method='patch'),
    listed=_listed,
    get=records.get,
    views=resources.each(records.view),
    create=(records.create, fields.CREATE),
    update=(patches.apply, fields.PATCH),
    delete=records.delete,
    read=patches.read,
    location=lambda req, row: f'{req.context.public_url}/image/v2/images/{row["id"]}',
)


class ContentResource:
    """Data of an image, and the actions that deactivate and reactivate it."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _get(self, req: web.Request, image_id: str) -> database.Row:
        with self._db.read() as conn:
            return records.get(conn, req.context.caller, image_id)

    def on_get_tasks(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        self._get(req, image_id)
        resp.media = {'tasks': []}

    def on_get_locations(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        self._get(req, image_id)
        raise faults.Forbidden('Locations of images are not shown.')

    def on_put(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        if (req.content_type or '').split(';')[0] != 'application/octet-stream':
            raise faults.UnsupportedMediaType('Image data is application/octet-stream.')
        content.upload(
            self._db,
            req.context.caller,
            image_id,
            bodies.chunks(req, content.CHUNK_BYTES),
            expected_bytes=req.content_length,
        )
        resp.status = falcon.HTTP_204

    def on_get(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        row = self._get(req, image_id)
        if row['status'] == 'deactivated':
            req.context.caller.require_admin('downloading a deactivated image')
        if row['size'] is None or row['status'] == 'saving':
            resp.status = falcon.HTTP_204
            return
        resp.content_type = 'application/octet-stream'
        resp.set_header('Content-MD5', row['checksum'])
        resp.set_stream(content.download(self._db, row['upload_id']), row['size'])

    def _switch(
        self, req: web.Request, resp: falcon.Response, image_id: str, before: str, after: str
    ) -> None:
        def change(conn: sa.Connection) -> None:
            row = records.get_own(conn, req.context.caller, image_id)
            if row['owner'] != req.context.caller.project_id:
                req.context.caller.require_admin(f'making an image {after}')
            if row['status'] not in (before, after):
                raise faults.Forbidden(
                    f'Not allowed to make an image {after} in status {row["status"]}.'
                )
            records.save(conn, row, status=after)

        self._db.change(change)
        resp.status = falcon.HTTP_204

    def on_post_deactivate(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        self._switch(req, resp, image_id, 'active', 'deactivated')

    def on_post_reactivate(self, req: web.Request, resp: falcon.Response, image_id: str) -> None:
        self._switch(req, resp, image_id, 'deactivated', 'active')


class TagResource:
    """Tags of an image: /v2/images/{id}/tags/{tag}."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    @staticmethod
    def _tag(
        conn: sa.Connection, caller: callers.Caller, image_id: str, tag: str, *, held: bool
    ) -> None:
        row = records.get_own(conn, caller, image_id)
        others = [one for one in row['tags'] if one != tag]
        if held and others == row['tags']:
            records.require_quota({}, [*others, tag])
            records.save(conn, row, tags=[*others, tag])
        if not held:
            if others == row['tags']:
                raise faults.NotFound('Tag not found.')
            records.save(conn, row, tags=others)

    def _change(
        self, req: web.Request, resp: falcon.Response, image_id: str, tag: str, *, held: bool
    ) -> None:
        self._db.change(self._tag, req.context.caller, image_id, tag, held=held)
        resp.status = falcon.HTTP_204

    def on_put(self, req: web.Request, resp: falcon.Response, image_id: str, tag: str) -> None:
        if len(tag) > 255:
            raise faults.BadRequest('A tag has at most 255 characters.')
        self._change(req, resp, image_id, tag, held=True)

    def on_delete(self, req: web.Request, resp: falcon.Response, image_id: str, tag: str) -> None:
        self._change(req, resp, image_id, tag, held=False)
