"""Queries and changes of images."""

import typing

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import tables

IMAGES = tables.images
# Attributes with the same name as their columns.
SHOWN = (*fields.SETTABLE, 'id', 'status', 'size', 'virtual_size', 'checksum', 'os_hash_value')


def view(row: database.Row) -> bodies.Json:
    """Return one image as the API shows it."""
    path = f'/v2/images/{row["id"]}'
    return {
        **row['properties'],
        **{name: row[name] for name in SHOWN},
        'name': row['name'] or None,
        'owner': row['owner'] or None,
        'os_hash_algo': 'sha512' if row['os_hash_value'] else None,
        'created_at': paging.stamp(row['created_at']),
        'updated_at': paging.stamp(row['updated_at']),
        'file': f'{path}/file',
        'self': path,
        'schema': '/v2/schemas/image',
    }


def not_found(image_id: str) -> faults.NotFound:
    """Return the answer for an image that does not exist for this caller."""
    return faults.NotFound(f'No image found with ID {image_id[:255]}')


def _member_of(project_id: str | None, statuses: list[str] | None = None) -> shapes.Condition:
    members = tables.members
    condition = sa.and_(members.c.image_id == IMAGES.c.id, members.c.member_id == project_id)
    if statuses:
        condition = sa.and_(condition, members.c.status.in_(statuses))
    return sa.exists().where(condition)


def get(conn: sa.Connection, caller: callers.Caller, image_id: str) -> database.Row:
    """Return one row that the caller may see. Raise NotFound."""
    row = database.find(conn, IMAGES, id=image_id)
    if row is None:
        raise not_found(image_id)
    if row['visibility'] in ('public', 'community') or caller.sees(row['owner']):
        return row
    membership = {'image_id': image_id, 'member_id': caller.project_id}
    if row['visibility'] != 'shared' or not database.exists(conn, tables.members, **membership):
        raise not_found(image_id)
    return row


def get_own(conn: sa.Connection, caller: callers.Caller, image_id: str) -> database.Row:
    """Return one row that the caller may change. Raise Forbidden when only others may."""
    row = get(conn, caller, image_id)
    if not caller.sees(row['owner']):
        raise faults.Forbidden('You are not permitted to change this image.')
    caller.require_writer()
    return row


def visible(
    caller: callers.Caller, *, visibility: str | None = None, member_status: str = 'accepted'
) -> shapes.Condition:
    """Return the condition that an image appears in the caller's list of this visibility."""
    statuses = None if member_status == 'all' else [member_status]
    shared_with_me = sa.and_(
        IMAGES.c.visibility == 'shared', _member_of(caller.project_id, statuses)
    )
    mine = IMAGES.c.owner == (caller.project_id or '')
    everyones = IMAGES.c.visibility.in_(('public', 'community'))
    if visibility in (None, 'all'):
        if caller.is_privileged:
            return sa.true() if visibility else sa.or_(IMAGES.c.visibility != 'community', mine)
        public = everyones if visibility else IMAGES.c.visibility == 'public'
        return sa.or_(public, mine, shared_with_me)
    if visibility not in fields.VISIBILITIES:
        raise faults.BadRequest(f'Invalid visibility value: {visibility[:64]}')
    allowed = sa.true() if caller.is_privileged else sa.or_(everyones, mine, shared_with_me)
    return sa.and_(IMAGES.c.visibility == visibility, allowed)


def require_may_publish(caller: callers.Caller, visibility: str | None) -> None:
    """Raise Forbidden unless an administrator makes an image public."""
    if visibility == 'public':
        caller.require_admin('making an image public')


def require_quota(properties: bodies.Json, tags: list[str]) -> None:
    """Refuse more properties or tags than an image may have."""
    if len(properties) > fields.PROPERTY_QUOTA or len(tags) > fields.PROPERTY_QUOTA:
        raise faults.TooLarge(
            f'An image may have at most {fields.PROPERTY_QUOTA} properties and as many tags.'
        )


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert an image from a request's values and return its row."""
    caller.require_writer()
    require_may_publish(caller, wanted.get('visibility'))
    read_only = sorted(set(wanted) & set(fields.READ_ONLY))
    if read_only:
        raise faults.Forbidden(f"Attribute '{read_only[0]}' is read-only.")
    known = {name: value for name, value in wanted.items() if name in fields.SETTABLE}
    values: database.Row = {
        'owner': caller.owner_for(known.pop('owner', None)),
        'tags': list(dict.fromkeys(known.pop('tags', []))),
        'properties': {k: v for k, v in wanted.items() if k not in (*fields.SETTABLE, 'id')},
    }
    if 'id' in wanted:
        values['id'] = wanted['id'].lower()
        if any(database.exists(conn, each, id=values['id']) for each in (IMAGES, tables.deleted)):
            raise faults.Conflict(f'Image ID {values["id"]} already exists!')
    require_quota(values['properties'], values['tags'])
    return database.insert(conn, IMAGES, **database.columns(IMAGES, known), **values)


def save(conn: sa.Connection, row: database.Row, **values: typing.Any) -> database.Row:
    """Write columns of an image. Return the new row."""
    return database.save(conn, IMAGES, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, image_id: str) -> None:
    """Delete an image with its data and members. Raise Forbidden if it is protected."""
    row = get_own(conn, caller, image_id)
    if row['protected']:
        raise faults.Forbidden(f'Image {image_id} is protected and cannot be deleted.')
    if row['upload_id']:
        database.delete(conn, tables.chunks, upload_id=row['upload_id'])
    database.delete(conn, tables.members, image_id=image_id)
    database.delete(conn, IMAGES, id=row['id'])
    database.insert(conn, tables.deleted, id=row['id'])
