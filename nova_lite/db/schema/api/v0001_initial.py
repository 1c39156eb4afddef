"""The first tables."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0001'
down_revision = None

METADATA = sa.MetaData()

sa.Table(
    'aggregates',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('name', sa.String(255), nullable=False, unique=True),
    sa.Column('metadata', types.Json(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'deleted_aggregates',
    METADATA,
    sa.Column('uuid', sa.String(36), primary_key=True),
    sa.Column('deleted_at', types.Time(), nullable=False),
    mysql_charset='utf8mb4',
)
sa.Table(
    'build_requests',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('instance_uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('project_id', sa.String(255), nullable=False, index=True),
    sa.Column('reservation_id', sa.String(255), nullable=False, index=True),
    sa.Column('request_id', sa.String(255), nullable=False),
    sa.Column('instance', types.Json(), nullable=False),
    sa.Column('block_devices', types.Json(), nullable=False),
    sa.Column('tags', types.Json(), nullable=False),
    sa.Column('arguments', types.Json(), nullable=False),
    sa.Column('epoch', sa.Integer(), nullable=False),
    sa.Column('failures', sa.Integer(), nullable=False),
    sa.Column('withdrawn', sa.Boolean(), nullable=False),
    sa.Column('withdrawn_at', types.Time()),
    sa.Column('lease_until', types.Time(), nullable=False, index=True),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'cell_mappings',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('name', sa.String(255)),
    sa.Column('transport_url', sa.Text(), nullable=False),
    sa.Column('database_connection', sa.Text(), nullable=False),
    sa.Column('disabled', sa.Boolean(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'flavors',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('flavorid', sa.String(255), nullable=False, unique=True),
    sa.Column('name', sa.String(255), nullable=False, unique=True),
    sa.Column('vcpus', sa.Integer(), nullable=False),
    sa.Column('memory_mb', sa.Integer(), nullable=False),
    sa.Column('root_gb', sa.Integer(), nullable=False),
    sa.Column('ephemeral_gb', sa.Integer(), nullable=False),
    sa.Column('swap', sa.Integer(), nullable=False),
    sa.Column('rxtx_factor', sa.Float(), nullable=False),
    sa.Column('disabled', sa.Boolean(), nullable=False),
    sa.Column('is_public', sa.Boolean(), nullable=False),
    sa.Column('description', types.LongText),
    sa.Column('extra_specs', types.Json(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'instance_groups',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('user_id', sa.String(255)),
    sa.Column('project_id', sa.String(255), index=True),
    sa.Column('name', sa.String(255), nullable=False),
    sa.Column('policy', sa.String(255), nullable=False),
    sa.Column('rules', types.Json(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'key_pairs',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('user_id', sa.String(255), nullable=False),
    sa.Column('name', sa.String(255), nullable=False),
    sa.Column('type', sa.String(255), nullable=False),
    sa.Column('fingerprint', sa.String(255)),
    sa.Column('public_key', sa.Text(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    sa.UniqueConstraint('user_id', 'name', name='key_pairs_user_name_uc'),
    mysql_charset='utf8mb4',
)
sa.Table(
    'quota_classes',
    METADATA,
    sa.Column('class_name', sa.String(255), primary_key=True),
    sa.Column('resource', sa.String(64), primary_key=True),
    sa.Column('hard_limit', sa.Integer(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'quota_locks',
    METADATA,
    sa.Column('project_id', sa.String(255), primary_key=True),
    mysql_charset='utf8mb4',
)
sa.Table(
    'quotas',
    METADATA,
    sa.Column('project_id', sa.String(255), primary_key=True),
    sa.Column('user_id', sa.String(64), primary_key=True),
    sa.Column('resource', sa.String(64), primary_key=True),
    sa.Column('hard_limit', sa.Integer(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'request_specs',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('instance_uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('spec', types.Json(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'sagas',
    METADATA,
    sa.Column('uuid', sa.String(36), primary_key=True),
    sa.Column('kind', sa.String(64), nullable=False),
    sa.Column('instance_uuid', sa.String(36), nullable=False, index=True),
    sa.Column('active_for', sa.String(36), unique=True),
    sa.Column('vcpus', sa.Integer()),
    sa.Column('memory_mb', sa.Integer()),
    sa.Column('project_id', sa.String(255)),
    sa.Column('context', types.Json(), nullable=False),
    sa.Column('arguments', types.Json(), nullable=False),
    sa.Column('state', sa.String(16), nullable=False),
    sa.Column('direction', sa.String(16), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('step', sa.String(255)),
    sa.Column('waits_on', sa.String(255)),
    sa.Column('data', types.Json(), nullable=False),
    sa.Column('error', types.Json()),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('epoch', sa.Integer(), nullable=False),
    sa.Column('owner', sa.String(255)),
    sa.Column('lease_until', types.Time()),
    sa.Column('wake_at', types.Time(), nullable=False),
    sa.Column('finished_at', types.Time()),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    sa.Index('sagas_due_idx', 'state', 'wake_at', 'lease_until'),
    mysql_charset='utf8mb4',
)
sa.Table(
    'stamps',
    METADATA,
    sa.Column('name', sa.String(64), primary_key=True),
    sa.Column('value', sa.Integer(), nullable=False),
    mysql_charset='utf8mb4',
)
sa.Table(
    'aggregate_hosts',
    METADATA,
    sa.Column(
        'aggregate_id',
        sa.Integer(),
        sa.ForeignKey('aggregates.id', ondelete='CASCADE'),
        primary_key=True,
    ),
    sa.Column('host', sa.String(255), primary_key=True, index=True),
    mysql_charset='utf8mb4',
)
sa.Table(
    'flavor_projects',
    METADATA,
    sa.Column(
        'flavor_id', sa.Integer(), sa.ForeignKey('flavors.id', ondelete='CASCADE'), primary_key=True
    ),
    sa.Column('project_id', sa.String(255), primary_key=True),
    mysql_charset='utf8mb4',
)
sa.Table(
    'host_mappings',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('host', sa.String(255), nullable=False, unique=True),
    sa.Column(
        'cell_id', sa.Integer(), sa.ForeignKey('cell_mappings.id'), nullable=False, index=True
    ),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    mysql_charset='utf8mb4',
)
sa.Table(
    'instance_group_members',
    METADATA,
    sa.Column(
        'group_id',
        sa.Integer(),
        sa.ForeignKey('instance_groups.id', ondelete='CASCADE'),
        primary_key=True,
    ),
    sa.Column('instance_uuid', sa.String(36), primary_key=True, index=True),
    mysql_charset='utf8mb4',
)
sa.Table(
    'instance_mappings',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('instance_uuid', sa.String(36), nullable=False, unique=True),
    sa.Column('cell_id', sa.Integer(), sa.ForeignKey('cell_mappings.id'), index=True),
    sa.Column('project_id', sa.String(255), nullable=False),
    sa.Column('user_id', sa.String(255)),
    sa.Column('queued_for_delete', sa.Boolean(), nullable=False),
    sa.Column('vcpus', sa.Integer(), nullable=False),
    sa.Column('memory_mb', sa.Integer(), nullable=False),
    sa.Column('created_at', types.Time(), nullable=False),
    sa.Column('updated_at', types.Time()),
    sa.Index('instance_mappings_project_idx', 'project_id', 'queued_for_delete'),
    mysql_charset='utf8mb4',
)
sa.Table(
    'saga_events',
    METADATA,
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column(
        'saga_uuid',
        sa.String(36),
        sa.ForeignKey('sagas.uuid', ondelete='CASCADE'),
        nullable=False,
        index=True,
    ),
    sa.Column('at', types.Time(), nullable=False),
    sa.Column('owner', sa.String(255), nullable=False),
    sa.Column('epoch', sa.Integer(), nullable=False),
    sa.Column('step', sa.String(255)),
    sa.Column('what', sa.String(32), nullable=False),
    sa.Column('detail', types.LongText),
    mysql_charset='utf8mb4',
)


def upgrade() -> None:
    """Create the tables."""
    METADATA.create_all(op.get_bind())
