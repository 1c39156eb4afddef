"""A table of usage audits of hosts."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0006'
down_revision = '0005'

METADATA = sa.MetaData()

sa.Table(
    'task_log',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('task_name', sa.String(32), nullable=False),
    sa.Column('state', sa.String(16), nullable=False),
    sa.Column('host', sa.String(255), nullable=False),
    sa.Column('period_beginning', types.Time(), nullable=False),
    sa.Column('period_ending', types.Time(), nullable=False),
    sa.Column('message', sa.String(255), nullable=False),
    sa.Column('task_items', sa.Integer(), nullable=False),
    sa.Column('errors', sa.Integer(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    sa.UniqueConstraint(
        'task_name', 'host', 'period_beginning', 'period_ending', name='task_log_period_uc'
    ),
    sa.Index('task_log_period_idx', 'period_beginning', 'period_ending'),
    mysql_charset='utf8mb4',
)


def upgrade() -> None:
    """Create the table, unless it exists."""
    METADATA.create_all(op.get_bind())
