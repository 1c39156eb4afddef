"""/v2/images/{id}/members: projects with which an image is shared."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables

MEMBERS = tables.members

CREATE = bodies.compiled(
    {'type': 'object', 'required': ['member'], 'properties': {'member': bodies.ID}}
)
UPDATE = bodies.compiled(
    {
        'type': 'object',
        'required': ['status'],
        'properties': {'status': {'enum': ['pending', 'accepted', 'rejected']}},
    }
)


def view(row):
    """One member."""
    return {
        'image_id': row['image_id'],
        'member_id': row['member_id'],
        'status': row['status'],
        'schema': '/v2/schemas/member',
        'created_at': listing.stamp(row['created_at']),
        'updated_at': listing.stamp(row['updated_at']),
    }


def _require_shared(image):
    if image['visibility'] != 'shared':
        raise faults.Forbidden('Only shared images have members.')


def _find(conn, image_id, member_id):
    return database.one(
        conn,
        sa.select(MEMBERS).where(MEMBERS.c.image_id == image_id, MEMBERS.c.member_id == member_id),
    )


def _get(conn, caller, image_id, member_id):
    image = records.get(conn, caller, image_id)
    row = _find(conn, image_id, member_id)
    if row is None or not (caller.sees(image['owner']) or caller.project_id == member_id):
        raise faults.NotFound(f'{member_id[:64]} is not a member of image {image_id}.')
    return image, row


def add(conn, caller, image_id, member_id):
    """Share an image with a project; it is pending until the project accepts."""
    image = records.get_own(conn, caller, image_id)
    _require_shared(image)
    if _find(conn, image_id, member_id):
        raise faults.Conflict(f'{member_id} is a member of image {image_id} already.')
    now = runtime.naive_now()
    row = {
        'image_id': image_id,
        'member_id': member_id,
        'status': 'pending',
        'created_at': now,
        'updated_at': now,
    }
    conn.execute(MEMBERS.insert().values(**row))
    return row


def answer(conn, caller, image_id, member_id, *, status):
    """Accept or reject; that is the member's to decide."""
    _, row = _get(conn, caller, image_id, member_id)
    if not caller.is_admin and caller.project_id != member_id:
        raise faults.Forbidden('Only the member itself may accept or reject an image.')
    changes = {'status': status, 'updated_at': runtime.naive_now()}
    conn.execute(
        MEMBERS.update()
        .where(MEMBERS.c.image_id == image_id, MEMBERS.c.member_id == member_id)
        .values(**changes)
    )
    return {**row, **changes}


def remove(conn, caller, image_id, member_id):
    """Stop sharing with a project."""
    records.get_own(conn, caller, image_id)
    _get(conn, caller, image_id, member_id)
    conn.execute(
        MEMBERS.delete().where(MEMBERS.c.image_id == image_id, MEMBERS.c.member_id == member_id)
    )


class MemberResource:
    """Owners share, members answer."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp, image_id):
        caller = req.context.caller
        with self._db.read() as conn:
            image = records.get(conn, caller, image_id)
            _require_shared(image)
            query = sa.select(MEMBERS).where(MEMBERS.c.image_id == image_id)
            if not caller.sees(image['owner']):
                query = query.where(MEMBERS.c.member_id == caller.project_id)
            found = database.rows(conn, query.order_by(MEMBERS.c.member_id))
        resp.media = {'members': [view(row) for row in found], 'schema': '/v2/schemas/members'}

    def on_post(self, req, resp, image_id):
        wanted = bodies.read(req, CREATE)
        resp.media = view(self._db.change(add, req.context.caller, image_id, wanted['member']))

    def on_get_one(self, req, resp, image_id, member_id):
        with self._db.read() as conn:
            resp.media = view(_get(conn, req.context.caller, image_id, member_id)[1])

    def on_put_one(self, req, resp, image_id, member_id):
        wanted = bodies.read(req, UPDATE)
        resp.media = view(
            self._db.change(
                answer, req.context.caller, image_id, member_id, status=wanted['status']
            )
        )

    def on_delete_one(self, req, resp, image_id, member_id):
        self._db.change(remove, req.context.caller, image_id, member_id)
        resp.status = falcon.HTTP_204
