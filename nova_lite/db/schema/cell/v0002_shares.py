"""Shares of servers. Some databases of revision 0001 have the table already."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0002'
down_revision = '0001'

METADATA = sa.MetaData()

sa.Table(
    'share_mapping',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('instance_uuid', sa.String(36), nullable=False),
    sa.Column('share_id', sa.String(36), nullable=False),
    sa.Column('status', sa.String(16), nullable=False),
    sa.Column('tag', sa.String(64), nullable=False),
    sa.Column('export_location', types.LongText, nullable=False),
    sa.Column('share_proto', sa.String(16), nullable=False),
    sa.Column('access_type', sa.String(16), nullable=False),
    sa.Column('access_to', sa.String(255), nullable=False),
    sa.Column('granted', sa.Boolean(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    sa.UniqueConstraint('instance_uuid', 'share_id', name='share_mapping_share_uc'),
    sa.UniqueConstraint('instance_uuid', 'tag', name='share_mapping_tag_uc'),
    mysql_charset='utf8mb4',
)


def upgrade() -> None:
    """Create the table, unless it exists."""
    METADATA.create_all(op.get_bind())
