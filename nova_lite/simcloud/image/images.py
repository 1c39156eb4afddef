"""/v2/images: the collection, one image, its data and its tags."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.image import content
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import filters
from nova_lite.simcloud.image import patches
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables


class ImageResource:
    """List, create, show, patch and delete."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        page = filters.page(req)
        with self._db.read() as conn:
            found = database.rows(
                conn, listing.paged(conn, filters.query(req), tables.images, page)
            )
        answer = {
            'images': [records.view(row) for row in found],
            'schema': '/v2/schemas/images',
            'first': '/v2/images' + (f'?{first}' if (first := listing.query_of(req)) else ''),
        }
        if found and len(found) == page.limit:
            answer['next'] = '/v2/images?' + listing.next_query(req, found[-1]['id'])
        resp.media = answer

    def on_post(self, req, resp):
        req.context.caller.require_writer()
        wanted = bodies.read(req, fields.CREATE)
        row = self._db.change(records.create, req.context.caller, wanted)
        resp.status = falcon.HTTP_201
        resp.location = f'{req.context.public_url}/image/v2/images/{row["id"]}'
        resp.media = records.view(row)

    def on_get_one(self, req, resp, image_id):
        with self._db.read() as conn:
            resp.media = records.view(records.get(conn, req.context.caller, image_id))

    def on_patch_one(self, req, resp, image_id):
        media_type = (req.content_type or '').split(';')[0].strip()
        if media_type not in patches.MEDIA_TYPES:
            raise faults.UnsupportedMediaType(
                f'Unable to read the body; supported media types: {", ".join(patches.MEDIA_TYPES)}'
            )
        changes = bodies.parsed(req)
        if media_type == patches.OLD_MEDIA_TYPE:
            changes = patches.modern(changes)
        bodies.check(changes, fields.PATCH)
        row = self._db.change(patches.apply, req.context.caller, image_id, changes)
        resp.media = records.view(row)

    def on_delete_one(self, req, resp, image_id):
        self._db.change(records.delete, req.context.caller, image_id)
        resp.status = falcon.HTTP_204

    def on_get_tasks(self, req, resp, image_id):
        with self._db.read() as conn:
            records.get(conn, req.context.caller, image_id)
        resp.media = {'tasks': []}

    def on_get_locations(self, req, resp, image_id):
        with self._db.read() as conn:
            records.get(conn, req.context.caller, image_id)
        raise faults.Forbidden('Locations of images are not shown.')


class ContentResource:
    """/v2/images/{id}/file and the actions that close and open it."""

    def __init__(self, db):
        self._db = db

    def on_put(self, req, resp, image_id):
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

    def on_get(self, req, resp, image_id):
        caller = req.context.caller
        with self._db.read() as conn:
            row = records.get(conn, caller, image_id)
        if row['status'] == 'deactivated':
            caller.require_admin('downloading a deactivated image')
        if row['size'] is None or row['status'] == 'saving':
            resp.status = falcon.HTTP_204
            return
        resp.content_type = 'application/octet-stream'
        resp.set_header('Content-MD5', row['checksum'])
        resp.set_stream(content.download(self._db, row['upload_id']), row['size'])

    def _switch(self, req, resp, image_id, before, after):
        def change(conn):
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

    def on_post_deactivate(self, req, resp, image_id):
        self._switch(req, resp, image_id, 'active', 'deactivated')

    def on_post_reactivate(self, req, resp, image_id):
        self._switch(req, resp, image_id, 'deactivated', 'active')


class TagResource:
    """/v2/images/{id}/tags/{tag}."""

    def __init__(self, db):
        self._db = db

    @staticmethod
    def _add(conn, caller, image_id, tag):
        row = records.get_own(conn, caller, image_id)
        if tag not in row['tags']:
            records.require_quota({}, [*row['tags'], tag])
            records.save(conn, row, tags=[*row['tags'], tag])

    @staticmethod
    def _remove(conn, caller, image_id, tag):
        row = records.get_own(conn, caller, image_id)
        if tag not in row['tags']:
            raise faults.NotFound('Tag not found.')
        records.save(conn, row, tags=[one for one in row['tags'] if one != tag])

    def on_put(self, req, resp, image_id, tag):
        if len(tag) > 255:
            raise faults.BadRequest('A tag has at most 255 characters.')
        self._db.change(self._add, req.context.caller, image_id, tag)
        resp.status = falcon.HTTP_204

    def on_delete(self, req, resp, image_id, tag):
        self._db.change(self._remove, req.context.caller, image_id, tag)
        resp.status = falcon.HTTP_204
