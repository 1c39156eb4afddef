"""Tables of the volume service, with the API's defaults."""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud import storage

# Keys of admin_metadata: the status of a migration, the pool of a back end, and whether quotas
# do not count the volume.
MIGRATION, HOST, UNCOUNTED = 'migration_status', 'host', 'uncounted'
# Two pools, between which volumes can be migrated. New volumes are in the first pool.
HOSTS = ('simcloud@sim#sim', 'simcloud@other#other')
# The availability zone of volumes whose request names none.
ZONE = 'nova'
# The project id in `quotas` of the default limits of all projects.
DEFAULTS = 'default'


def _stored() -> tuple[sa.Column[typing.Any], ...]:
    """Return the columns that volumes and snapshots have in common."""
    return (
        *storage.identified(),
        sa.Column('updated_at', database.Time, nullable=False),
        sa.Column('project_id', database.Id, nullable=False, index=True),
        sa.Column('user_id', database.Id, nullable=False),
        sa.Column('name', database.Name, nullable=False),
        sa.Column('description', database.Text),
        sa.Column('size', sa.Integer, nullable=False),
        sa.Column('status', sa.String(32), nullable=False, default='creating'),
        sa.Column('metadata', sa.JSON, nullable=False),
    )


volumes = sa.Table(
    'volume_volumes',
    database.METADATA,
    *_stored(),
    sa.Column('bootable', sa.Boolean, nullable=False, default=False),
    sa.Column('readonly', sa.Boolean, nullable=False, default=False),
    sa.Column('multiattach', sa.Boolean, nullable=False),
    sa.Column('volume_type_id', database.Id, nullable=False),
    sa.Column('availability_zone', database.Name, nullable=False, default=ZONE),
    sa.Column('snapshot_id', database.Id),
    sa.Column('source_volid', database.Id),
    sa.Column('admin_metadata', sa.JSON, nullable=False, default=dict),
    sa.Column('image_metadata', sa.JSON, nullable=False, default=dict),
)

attachments = sa.Table(
    'volume_attachments',
    database.METADATA,
    *storage.identified(),
    sa.Column('project_id', database.Id, nullable=False, index=True),
    sa.Column('volume_id', database.Id, nullable=False, index=True),
    sa.Column('instance_uuid', database.Id, index=True),
    sa.Column('attach_status', sa.String(16), nullable=False, default='reserved'),
    sa.Column('attach_mode', sa.String(8), nullable=False),
    sa.Column('attached_host', database.Name),
    sa.Column('mountpoint', database.Name),
    sa.Column('connector', sa.JSON, nullable=False, default=dict),
    sa.Column('connection_info', sa.JSON, nullable=False, default=dict),
    sa.Column('attach_time', database.Time),
)

snapshots = sa.Table(
    'volume_snapshots',
    database.METADATA,
    *_stored(),
    sa.Column('volume_id', database.Id, nullable=False, index=True),
)

transfers = sa.Table(
    'volume_transfers',
    database.METADATA,
    *storage.identified(),
    sa.Column('project_id', database.Id, nullable=False, index=True),
    sa.Column('volume_id', database.Id, nullable=False, index=True),
    sa.Column('name', database.Name),
    sa.Column('no_snapshots', sa.Boolean, nullable=False),
    sa.Column('key_digest', sa.String(64), nullable=False),
)

backups = sa.Table(
    'volume_backups',
    database.METADATA,
    *_stored(),
    sa.Column('volume_id', database.Id, nullable=False, index=True),
    sa.Column('snapshot_id', database.Id),
    sa.Column('parent_id', database.Id, index=True),
    sa.Column('container', database.Name, nullable=False),
    sa.Column('availability_zone', database.Name, nullable=False),
    sa.Column('object_count', sa.Integer, nullable=False, default=0),
    sa.Column('data_timestamp', database.Time),
    sa.Column('bootable', sa.Boolean, nullable=False),
    sa.Column('image_metadata', sa.JSON, nullable=False),
)


def _named() -> tuple[sa.Column[typing.Any], ...]:
    """Return the common columns of volume types and group types, which have unique names."""
    return (
        *storage.identified(),
        sa.Column('name', database.Name, nullable=False, unique=True),
        sa.Column('description', database.Text),
        sa.Column('is_public', sa.Boolean, nullable=False, default=True),
    )


types = sa.Table(
    'volume_types',
    database.METADATA,
    *_named(),
    sa.Column('extra_specs', sa.JSON, nullable=False, default=dict),
)

group_types = sa.Table(
    'volume_group_types',
    database.METADATA,
    *_named(),
    sa.Column('group_specs', sa.JSON, nullable=False, default=dict),
)

qos_specs = sa.Table(
    'volume_qos_specs',
    database.METADATA,
    *storage.identified(),
    sa.Column('name', database.Name, nullable=False, unique=True),
    sa.Column('consumer', sa.String(16), nullable=False),
    sa.Column('specs', sa.JSON, nullable=False),
)

type_access = sa.Table(
    'volume_type_access',
    database.METADATA,
    sa.Column('volume_type_id', database.Id, primary_key=True),
    sa.Column('project_id', database.Id, primary_key=True),
)

# Not a column of the types: databases of earlier versions would lack it.
qos_associations = sa.Table(
    'volume_qos_associations',
    database.METADATA,
    sa.Column('volume_type_id', database.Id, primary_key=True),
    sa.Column('qos_specs_id', database.Id, nullable=False, index=True),
)

encryptions = sa.Table(
    'volume_encryptions',
    database.METADATA,
    sa.Column('volume_type_id', database.Id, primary_key=True),
    sa.Column('encryption_id', database.Id, nullable=False, default=runtime.new_uuid),
    sa.Column('provider', database.Name, nullable=False),
    sa.Column('control_location', sa.String(16), nullable=False),
    sa.Column('cipher', database.Name),
    sa.Column('key_size', sa.Integer),
    sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('updated_at', database.Time, nullable=False),
)

quotas = sa.Table(
    'volume_quotas',
    database.METADATA,
    sa.Column('project_id', database.Id, primary_key=True),
    sa.Column('resource', sa.String(64), primary_key=True),
    sa.Column('limit', sa.Integer, nullable=False),
)
