"""An index by which the conductors of a cell are found among many computes."""

from alembic import op
import sqlalchemy as sa

revision = '0003'
down_revision = '0002'

TABLE, INDEX = 'services', 'ix_services_binary'


def upgrade() -> None:
    """Create the index, unless it exists."""
    known = {each['name'] for each in sa.inspect(op.get_bind()).get_indexes(TABLE)}
    if INDEX not in known:
        op.create_index(INDEX, TABLE, ['binary'])
