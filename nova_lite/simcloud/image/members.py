"""/v2/images/{id}/members: projects with which an image is shared."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables

MEMBERS = tables.members

CREATE = bodies.compiled(bodies.record({'member': bodies.ID}, ['member']))
_STATUS = {'enum': ['pending', 'accepted', 'rejected']}
UPDATE = bodies.compiled(bodies.record({'status': _STATUS}, ['status']))


def view(row: database.Row) -> bodies.Json:
    """Return one member."""
    return {
        **{name: row[name] for name in ('image_id', 'member_id', 'status')},
        'schema': '/v2/schemas/member',
        'created_at': paging.stamp(row['created_at']),
        'updated_at': paging.stamp(row['updated_at']),
    }


def _require_shared(image: database.Row) -> None:
    if image['visibility'] != 'shared':
        raise faults.Forbidden('Only shared images have members.')


def listed(conn: sa.Connection, req: web.Request, image_id: str) -> list[database.Row]:
    """Return the members of an image: all of them to the owner, else only the caller's project."""
    caller = req.context.caller
    image = records.get(conn, caller, image_id)
    _require_shared(image)
    seen = {} if caller.sees(image['owner']) else {'member_id': caller.project_id}
    return database.find_all(conn, MEMBERS, image_id=image_id, **seen, order=['member_id'])


def get(conn: sa.Connection, caller: callers.Caller, image_id: str, member_id: str) -> database.Row:
    """Return one member. Raise NotFound unless the caller is the owner or the member."""
    image = records.get(conn, caller, image_id)
    row = database.find(conn, MEMBERS, image_id=image_id, member_id=member_id)
    if row is None or not (caller.sees(image['owner']) or caller.project_id == member_id):
        raise faults.NotFound(f'{member_id[:64]} is not a member of image {image_id}.')
    return row


def add(
    conn: sa.Connection, caller: callers.Caller, image_id: str, wanted: bodies.Json
) -> database.Row:
    """Share an image with a project. The membership is pending until the project accepts."""
    image = records.get_own(conn, caller, image_id)
    _require_shared(image)
    key = {'image_id': image_id, 'member_id': wanted['member']}
    if database.exists(conn, MEMBERS, **key):
        raise faults.Conflict(f'{wanted["member"]} is a member of image {image_id} already.')
    return database.insert(conn, MEMBERS, **key)


def answer(
    conn: sa.Connection,
    caller: callers.Caller,
    image_id: str,
    member_id: str,
    *,
    wanted: bodies.Json,
) -> database.Row:
    """Accept or reject an image that is shared with a project. Only that project may decide."""
    row = get(conn, caller, image_id, member_id)
    if not caller.is_admin and caller.project_id != member_id:
        raise faults.Forbidden('Only the member itself may accept or reject an image.')
    return database.save(conn, MEMBERS, row, status=wanted['status'])


def remove(conn: sa.Connection, caller: callers.Caller, image_id: str, member_id: str) -> None:
    """Stop sharing an image with a project."""
    records.get_own(conn, caller, image_id)
    get(conn, caller, image_id, member_id)
    database.delete(conn, MEMBERS, image_id=image_id, member_id=member_id)


def _collection(_req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    return {key: items, 'schema': '/v2/schemas/members'}


RESOURCE = resources.Resource(
    name='member',
    style=resources.Style(collection=_collection, wrapped=False, created=falcon.HTTP_200),
    listed=listed,
    get=get,
    views=resources.each(view),
    create=(add, CREATE),
    update=(answer, UPDATE),
    delete=remove,
)
