"""Tables of the image service; defaults are those of the API."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database

images = sa.Table(
    'image_images',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=runtime.new_uuid),
    # '' stands for null, so that lists can be sorted by name.
    sa.Column('name', database.Name, nullable=False, default=''),
    sa.Column('status', sa.String(32), nullable=False, default='queued'),
    sa.Column('visibility', sa.String(16), nullable=False, default='shared'),
    sa.Column('owner', database.Id, nullable=False, index=True),
    sa.Column('disk_format', sa.String(32)),
    sa.Column('container_format', sa.String(32)),
    sa.Column('min_disk', sa.Integer, nullable=False, default=0),
    sa.Column('min_ram', sa.Integer, nullable=False, default=0),
    sa.Column('protected', sa.Boolean, nullable=False, default=False),
    sa.Column('os_hidden', sa.Boolean, nullable=False, default=False),
    sa.Column('size', sa.BigInteger),
    sa.Column('virtual_size', sa.BigInteger),
    sa.Column('checksum', sa.String(32)),
    sa.Column('os_hash_value', sa.String(128)),
    sa.Column('upload_id', database.Id),
    sa.Column('tags', sa.JSON, nullable=False, default=list),
    sa.Column('properties', sa.JSON, nullable=False, default=dict),
    sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('updated_at', database.Time, nullable=False),
)

# Ids of deleted images. A user who could reuse such an id could make others boot another image.
deleted = sa.Table(
    'image_deleted',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
)

chunks = sa.Table(
    'image_chunks',
    database.METADATA,
    sa.Column('upload_id', database.Id, primary_key=True),
    sa.Column('position', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('data', database.Blob, nullable=False),
)

members = sa.Table(
    'image_members',
    database.METADATA,
    sa.Column('image_id', database.Id, primary_key=True),
    sa.Column('member_id', database.Id, primary_key=True),
    sa.Column('status', sa.String(16), nullable=False, default='pending'),
    sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('updated_at', database.Time, nullable=False),
)

metadef_namespaces = sa.Table(
    'image_metadef_namespaces',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=runtime.new_uuid),
    sa.Column('namespace', sa.String(80), nullable=False, unique=True),
    sa.Column('display_name', sa.String(80)),
    sa.Column('description', database.Text),
    sa.Column('visibility', sa.String(16), nullable=False),
    sa.Column('protected', sa.Boolean, nullable=False),
    sa.Column('owner', database.Id, nullable=False, index=True),
    sa.Column('tags', sa.JSON, nullable=False, default=list),
    sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('updated_at', database.Time, nullable=False),
)

metadef_contents = sa.Table(
    'image_metadef_contents',
    database.METADATA,
    sa.Column('namespace_id', database.Id, primary_key=True),
    sa.Column('kind', sa.String(32), primary_key=True),
    sa.Column('name', database.Name, primary_key=True),
    sa.Column('content', sa.JSON, nullable=False),
    sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('updated_at', database.Time, nullable=False),
)
