"""A column of block devices for what their servers have read and written."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0005'
down_revision = '0004'

TABLE, COLUMN = 'block_device_mapping', 'usage'


def upgrade() -> None:
    """Add the column, unless it exists."""
    known = {each['name'] for each in sa.inspect(op.get_bind()).get_columns(TABLE)}
    if COLUMN not in known:
        op.add_column(TABLE, sa.Column(COLUMN, types.Json()))
