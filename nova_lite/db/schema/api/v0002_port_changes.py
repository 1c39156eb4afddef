"""Changes of ports that the records of their servers do not follow yet."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0002'
down_revision = '0001'

METADATA = sa.MetaData()

sa.Table(
    'port_changes',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('instance_uuid', sa.String(36), nullable=False),
    sa.Column('port_id', sa.String(255)),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)


def upgrade() -> None:
    """Create the table."""
    METADATA.create_all(op.get_bind())
