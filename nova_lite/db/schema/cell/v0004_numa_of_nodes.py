"""A column of compute nodes for their NUMA nodes and the parts that guests hold."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0004'
down_revision = '0003'

TABLE, COLUMN = 'compute_nodes', 'numa'


def upgrade() -> None:
    """Add the column, unless it exists."""
    known = {each['name'] for each in sa.inspect(op.get_bind()).get_columns(TABLE)}
    if COLUMN not in known:
        op.add_column(TABLE, sa.Column(COLUMN, types.Json()))
