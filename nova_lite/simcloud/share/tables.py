"""Tables of the shared file system service, with the API's defaults."""

import typing

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import storage

# The availability zone of shares whose request names none.
ZONE = 'nova'


def _identified() -> tuple[sa.Column[typing.Any], sa.Column[typing.Any], sa.Column[typing.Any]]:
    return (*storage.identified(), sa.Column('updated_at', database.Time, nullable=False))


shares = sa.Table(
    'share_shares',
    database.METADATA,
    *_identified(),
    sa.Column('project_id', database.Id, nullable=False, index=True),
    sa.Column('user_id', database.Id, nullable=False),
    sa.Column('name', database.Name),
    sa.Column('description', database.Text),
    sa.Column('size', sa.Integer, nullable=False),
    sa.Column('share_proto', sa.String(16), nullable=False),
    sa.Column('status', sa.String(32), nullable=False, default='available'),
    sa.Column('is_public', sa.Boolean, nullable=False, default=False),
    sa.Column('availability_zone', database.Name, nullable=False, default=ZONE),
    sa.Column('metadata', sa.JSON, nullable=False, default=dict),
)

rules = sa.Table(
    'share_access_rules',
    database.METADATA,
    *_identified(),
    sa.Column('share_id', database.Id, nullable=False, index=True),
    sa.Column('access_type', sa.String(16), nullable=False),
    sa.Column('access_to', database.Name, nullable=False),
    sa.Column('access_level', sa.String(2), nullable=False, default='rw'),
    sa.Column('access_key', database.Name),
    sa.Column('metadata', sa.JSON, nullable=False, default=dict),
)

locks = sa.Table(
    'share_resource_locks',
    database.METADATA,
    *_identified(),
    sa.Column('project_id', database.Id, nullable=False, index=True),
    sa.Column('user_id', database.Id, nullable=False),
    sa.Column('lock_context', sa.String(16), nullable=False),
    sa.Column('resource_type', sa.String(16), nullable=False),
    sa.Column('resource_id', database.Id, nullable=False, index=True),
    sa.Column('resource_action', sa.String(16), nullable=False, default='delete'),
    sa.Column('lock_reason', database.Name),
)
