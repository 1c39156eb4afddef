"""Tables of the image service."""

import sqlalchemy as sa

from nova_lite.simcloud.database import Blob
from nova_lite.simcloud.database import Id
from nova_lite.simcloud.database import METADATA
from nova_lite.simcloud.database import Name
from nova_lite.simcloud.database import Time

images = sa.Table(
    'image_images',
    METADATA,
    sa.Column('id', Id, primary_key=True),
    # '' stands for null, so that lists can be sorted by name.
    sa.Column('name', Name, nullable=False),
    sa.Column('status', sa.String(32), nullable=False),
    sa.Column('visibility', sa.String(16), nullable=False),
    sa.Column('owner', Id, nullable=False, index=True),
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
    sa.Column('upload_id', Id),
    sa.Column('tags', sa.JSON, nullable=False),
    sa.Column('properties', sa.JSON, nullable=False),
    sa.Column('created_at', Time, nullable=False),
    sa.Column('updated_at', Time, nullable=False),
)

chunks = sa.Table(
    'image_chunks',
    METADATA,
    sa.Column('upload_id', Id, primary_key=True),
    sa.Column('position', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('data', Blob, nullable=False),
)

members = sa.Table(
    'image_members',
    METADATA,
    sa.Column('image_id', Id, primary_key=True),
    sa.Column('member_id', Id, primary_key=True),
    sa.Column('status', sa.String(16), nullable=False),
    sa.Column('created_at', Time, nullable=False),
    sa.Column('updated_at', Time, nullable=False),
)
