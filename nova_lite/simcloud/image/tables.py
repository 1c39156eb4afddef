"""Tables of the image service."""

import sqlalchemy as sa

from nova_lite.simcloud import database

images = sa.Table(
    'image_images',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    # '' stands for null, so that lists can be sorted by name.
    sa.Column('name', database.Name, nullable=False),
    sa.Column('status', sa.String(32), nullable=False),
    sa.Column('visibility', sa.String(16), nullable=False),
    sa.Column('owner', database.Id, nullable=False, index=True),
    sa.Column('disk_format', sa.String(32)),
    sa.Column('container_format', sa.String(32)),
    sa.Column('min_disk', sa.Integer, nullable=False),
    sa.Column('min_ram', sa.Integer, nullable=False),
    sa.Column('protected', sa.Boolean, nullable=False),
    sa.Column('os_hidden', sa.Boolean, nullable=False),
    sa.Column('size', sa.BigInteger),
    sa.Column('virtual_size', sa.BigInteger),
    sa.Column('checksum', sa.String(32)),
    sa.Column('os_hash_value', sa.String(128)),
    sa.Column('upload_id', database.Id),
    sa.Column('tags', sa.JSON, nullable=False),
    sa.Column('properties', sa.JSON, nullable=False),
    sa.Column('created_at', database.Time, nullable=False),
    sa.Column('updated_at', database.Time, nullable=False),
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
    sa.Column('status', sa.String(16), nullable=False),
    sa.Column('created_at', database.Time, nullable=False),
    sa.Column('updated_at', database.Time, nullable=False),
)
