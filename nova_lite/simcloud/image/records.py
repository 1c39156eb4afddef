"""Reading and changing image rows."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import tables

IMAGES = tables.images
COLUMNS = tuple(name for name in fields.SETTABLE if name != 'tags')


def view(row):
    """One image as the API shows it."""
    path = f'/v2/images/{row["id"]}'
    return {
        **row['properties'],
        'id': row['id'],
        'name': row['name'] or None,
        'status': row['status'],
        'visibility': row['visibility'],
        'owner': row['owner'] or None,
        'protected': row['protected'],
        'os_hidden': row['os_hidden'],
        'tags': row['tags'],
        'disk_format': row['disk_format'],
        'container_format': row['container_format'],
        'min_disk': row['min_disk'],
        'min_ram': row['min_ram'],
        'size': row['size'],
        'virtual_size': row['virtual_size'],
        'checksum': row['checksum'],
        'os_hash_algo': 'sha512' if row['os_hash_value'] else None,
        'os_hash_value': row['os_hash_value'],
        'created_at': listing.stamp(row['created_at']),
        'updated_at': listing.stamp(row['updated_at']),
        'file': f'{path}/file',
        'self': path,
        'schema': '/v2/schemas/image',
    }


def not_found(image_id):
    """The answer for an image that does not exist for this caller."""
    return faults.NotFound(f'No image found with ID {image_id[:255]}')


def _member_of(project_id, statuses=None):
    members = tables.members
    condition = sa.and_(members.c.image_id == IMAGES.c.id, members.c.member_id == project_id)
    if statuses:
        condition = sa.and_(condition, members.c.status.in_(statuses))
    return sa.exists().where(condition)


def get(conn, caller, image_id):
    """One row that the caller may see; NotFound otherwise."""
    row = database.one(conn, sa.select(IMAGES).where(IMAGES.c.id == image_id))
    if row is None:
        raise not_found(image_id)
    if row['visibility'] in ('public', 'community') or caller.sees(row['owner']):
        return row
    shared = (
        row['visibility'] == 'shared'
        and caller.project_id
        and conn.execute(
            sa.select(tables.members.c.member_id).where(
                tables.members.c.image_id == image_id,
                tables.members.c.member_id == caller.project_id,
            )
        ).first()
    )
    if not shared:
        raise not_found(image_id)
    return row


def get_own(conn, caller, image_id):
    """One row that the caller may change; Forbidden when only others may."""
    row = get(conn, caller, image_id)
    if not caller.sees(row['owner']):
        raise faults.Forbidden('You are not permitted to change this image.')
    caller.require_writer()
    return row


def visible(caller, *, visibility=None, member_status='accepted'):
    """The condition for what a list shows to the caller."""
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


def require_may_publish(caller, visibility):
    """Only administrators make images public."""
    if visibility == 'public':
        caller.require_admin('making an image public')


def require_quota(properties, tags):
    """Refuse more properties or tags than an image may have."""
    if len(properties) > fields.PROPERTY_QUOTA or len(tags) > fields.PROPERTY_QUOTA:
        raise faults.TooLarge(
            f'An image may have at most {fields.PROPERTY_QUOTA} properties and as many tags.'
        )


def create(conn, caller, wanted):
    """Insert an image from a request's values and return its row."""
    wanted = dict(wanted)
    image_id = (wanted.pop('id', None) or runtime.new_uuid()).lower()
    require_may_publish(caller, wanted.get('visibility'))
    known = {name: wanted.pop(name) for name in fields.SETTABLE if name in wanted}
    read_only = sorted(set(wanted) & set(fields.READ_ONLY))
    if read_only:
        raise faults.Forbidden(f"Attribute '{read_only[0]}' is read-only.")
    tags = list(dict.fromkeys(known.get('tags', [])))
    require_quota(wanted, tags)
    if database.one(conn, sa.select(IMAGES.c.id).where(IMAGES.c.id == image_id)):
        raise faults.Conflict(f'Image ID {image_id} already exists!')
    now = runtime.naive_now()
    row = {
        'id': image_id,
        'name': known.get('name') or '',
        'status': 'queued',
        'visibility': known.get('visibility', 'shared'),
        'owner': caller.owner_for(known.get('owner')),
        'disk_format': known.get('disk_format'),
        'container_format': known.get('container_format'),
        'min_disk': known.get('min_disk', 0),
        'min_ram': known.get('min_ram', 0),
        'protected': known.get('protected', False),
        'os_hidden': known.get('os_hidden', False),
        'size': None,
        'virtual_size': None,
        'checksum': None,
        'os_hash_value': None,
        'upload_id': None,
        'tags': tags,
        'properties': wanted,
        'created_at': now,
        'updated_at': now,
    }
    conn.execute(IMAGES.insert().values(**row))
    return row


def save(conn, row, **values):
    """Write columns of an image; the time of change is ours. Returns the new row."""
    values['updated_at'] = runtime.naive_now()
    conn.execute(IMAGES.update().where(IMAGES.c.id == row['id']).values(**values))
    return {**row, **values}


def delete(conn, caller, image_id):
    """Remove an image with its data and members."""
    row = get_own(conn, caller, image_id)
    if row['protected']:
        raise faults.Forbidden(f'Image {image_id} is protected and cannot be deleted.')
    if row['upload_id']:
        conn.execute(tables.chunks.delete().where(tables.chunks.c.upload_id == row['upload_id']))
    conn.execute(tables.members.delete().where(tables.members.c.image_id == image_id))
    conn.execute(IMAGES.delete().where(IMAGES.c.id == image_id))
