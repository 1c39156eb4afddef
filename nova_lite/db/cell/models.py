"""Tables of a cell's database, and of cell0.

Source: reference/nova/cells-and-rpc 1, reference/nova/moves 1.2. What nova spreads over
side tables and never searches lies in JSON columns of the server's own row.
"""

import datetime
import typing

import sqlalchemy as sa
from sqlalchemy import orm

from nova_lite.db import types

Mapped = orm.Mapped
column = orm.mapped_column
Str = sa.String(255)
Uuid = sa.String(36)
State = sa.String(40)


class Base(orm.DeclarativeBase):
    """Every table here; a table is in the cells' databases or in the API's, never in both."""

    __table__: typing.ClassVar[sa.Table]


class Instance(types.Timestamps, Base):
    """A server. flavor, old_flavor, new_flavor: whole flavors as JSON.

    hidden: the visible record of the server is in another cell
    sealed: the record of another cell is about to replace this one, so users cannot change it
    group_uuid: the server group of the create request, which may be deleted
    host: service host; node: hypervisor node; both NULL if the server is on no host
    build: during a build its arguments, so that a lost message can be repeated: see
        ComputeAPI.build_instance; else NULL
    """

    __tablename__ = 'instances'
    __table_args__ = (
        sa.Index('instances_project_idx', 'project_id', 'deleted', 'created_at'),
        sa.Index('instances_group_idx', 'group_uuid'),
        sa.Index('instances_host_idx', 'host', 'node', 'deleted'),
        sa.Index('instances_list_idx', 'deleted', 'created_at', 'id'),
        sa.Index('instances_task_idx', 'task_state', 'updated_at'),
        sa.Index('instances_deleted_idx', 'deleted_at'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    project_id: Mapped[str] = column(Str)
    user_id: Mapped[str] = column(Str)
    display_name: Mapped[str] = column(Str)
    display_description: Mapped[str | None] = column(Str)
    hostname: Mapped[str | None] = column(Str)
    group_uuid: Mapped[str | None] = column(Uuid)
    host: Mapped[str | None] = column(Str)
    node: Mapped[str | None] = column(Str)
    vm_state: Mapped[str] = column(State)
    task_state: Mapped[str | None] = column(State)
    power_state: Mapped[int] = column(sa.Integer, default=0)
    progress: Mapped[int] = column(sa.Integer, default=0)
    image_ref: Mapped[str | None] = column(Str)
    kernel_id: Mapped[str | None] = column(Str)
    ramdisk_id: Mapped[str | None] = column(Str)
    image_properties: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)
    key_name: Mapped[str | None] = column(Str)
    key_data: Mapped[str | None] = column(types.LongText)
    launch_index: Mapped[int] = column(sa.Integer, default=0)
    reservation_id: Mapped[str | None] = column(Str, index=True)
    user_data: Mapped[str | None] = column(types.LongText)
    availability_zone: Mapped[str | None] = column(Str)
    vcpus: Mapped[int] = column(sa.Integer)
    memory_mb: Mapped[int] = column(sa.Integer)
    root_gb: Mapped[int] = column(sa.Integer)
    ephemeral_gb: Mapped[int] = column(sa.Integer)
    flavor: Mapped[dict[str, typing.Any]] = column(types.Json)
    old_flavor: Mapped[dict[str, typing.Any] | None] = column(types.Json)
    new_flavor: Mapped[dict[str, typing.Any] | None] = column(types.Json)
    flavor_id: Mapped[int | None] = column(sa.Integer)
    meta: Mapped[dict[str, typing.Any]] = column('metadata', types.Json, default=dict)
    system_metadata: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)
    network_info: Mapped[list[typing.Any]] = column(types.Json, default=list)
    security_groups: Mapped[list[typing.Any]] = column(types.Json, default=list)
    trusted_certs: Mapped[list[typing.Any] | None] = column(types.Json)
    access_ip_v4: Mapped[str | None] = column(sa.String(39))
    access_ip_v6: Mapped[str | None] = column(sa.String(39))
    auto_disk_config: Mapped[bool] = column(sa.Boolean, default=False)
    config_drive: Mapped[str | None] = column(Str)
    root_device_name: Mapped[str | None] = column(Str)
    os_type: Mapped[str | None] = column(Str)
    architecture: Mapped[str | None] = column(Str)
    locked: Mapped[bool] = column(sa.Boolean, default=False)
    locked_by: Mapped[str | None] = column(Str)
    locked_reason: Mapped[str | None] = column(Str)
    launched_at: Mapped[datetime.datetime | None] = column(types.Time)
    launched_on: Mapped[str | None] = column(Str)
    terminated_at: Mapped[datetime.datetime | None] = column(types.Time)
    deleted_at: Mapped[datetime.datetime | None] = column(types.Time)
    deleted: Mapped[bool] = column(sa.Boolean, default=False)
    hidden: Mapped[bool] = column(sa.Boolean, default=False)
    sealed: Mapped[bool] = column(sa.Boolean, default=False)
    shutdown_terminate: Mapped[bool] = column(sa.Boolean, default=False)
    build: Mapped[dict[str, typing.Any] | None] = column(types.Json)


class BlockDevice(types.Timestamps, Base):
    """A disk of a server. usage: what the server has read and written, see `volume_usage`."""

    __tablename__ = 'block_device_mapping'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    instance_uuid: Mapped[str] = column(Uuid, index=True)
    source_type: Mapped[str] = column(sa.String(16))
    destination_type: Mapped[str] = column(sa.String(16))
    guest_format: Mapped[str | None] = column(Str)
    device_type: Mapped[str | None] = column(Str)
    disk_bus: Mapped[str | None] = column(Str)
    device_name: Mapped[str | None] = column(Str)
    boot_index: Mapped[int | None] = column(sa.Integer)
    delete_on_termination: Mapped[bool] = column(sa.Boolean, default=False)
    volume_id: Mapped[str | None] = column(Uuid, index=True)
    snapshot_id: Mapped[str | None] = column(Uuid)
    image_id: Mapped[str | None] = column(Uuid)
    volume_size: Mapped[int | None] = column(sa.Integer)
    volume_type: Mapped[str | None] = column(Str)
    attachment_id: Mapped[str | None] = column(Uuid)
    tag: Mapped[str | None] = column(Str)
    connection_info: Mapped[dict[str, typing.Any] | None] = column(types.Json)
    usage: Mapped[dict[str, typing.Any] | None] = column(types.Json)


class ShareMapping(types.Timestamps, Base):
    """A share that is attached to a server.

    access_type, access_to: the host, or the user for all hosts, that may mount the share
    granted: whether the access was granted
    """

    __tablename__ = 'share_mapping'
    __table_args__ = (
        sa.UniqueConstraint('instance_uuid', 'share_id', name='share_mapping_share_uc'),
        sa.UniqueConstraint('instance_uuid', 'tag', name='share_mapping_tag_uc'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    instance_uuid: Mapped[str] = column(Uuid)
    share_id: Mapped[str] = column(Uuid)
    status: Mapped[str] = column(sa.String(16))
    tag: Mapped[str] = column(sa.String(64))
    export_location: Mapped[str] = column(types.LongText)
    share_proto: Mapped[str] = column(sa.String(16))
    access_type: Mapped[str] = column(sa.String(16))
    access_to: Mapped[str] = column(Str)
    granted: Mapped[bool] = column(sa.Boolean, default=False)


class Tag(Base):
    __tablename__ = 'tags'
    instance_uuid: Mapped[str] = column(Uuid, primary_key=True)
    tag: Mapped[str] = column(sa.String(80), primary_key=True, index=True)


class InstanceFault(types.Timestamps, Base):
    __tablename__ = 'instance_faults'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    instance_uuid: Mapped[str] = column(Uuid, index=True)
    code: Mapped[int] = column(sa.Integer)
    message: Mapped[str] = column(Str)
    details: Mapped[str | None] = column(types.LongText)
    host: Mapped[str | None] = column(Str)


class InstanceAction(types.Timestamps, Base):
    __tablename__ = 'instance_actions'
    __table_args__ = (
        sa.Index('instance_actions_request_idx', 'instance_uuid', 'request_id'),
        sa.Index('instance_actions_list_idx', 'instance_uuid', 'created_at'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    action: Mapped[str] = column(Str)
    instance_uuid: Mapped[str] = column(Uuid)
    request_id: Mapped[str] = column(sa.String(64))
    user_id: Mapped[str | None] = column(Str)
    project_id: Mapped[str | None] = column(Str)
    start_time: Mapped[datetime.datetime] = column(types.Time)
    finish_time: Mapped[datetime.datetime | None] = column(types.Time)
    message: Mapped[str | None] = column(Str)


class InstanceActionEvent(types.Timestamps, Base):
    __tablename__ = 'instance_actions_events'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    action_id: Mapped[int] = column(sa.Integer, index=True)
    event: Mapped[str] = column(Str)
    start_time: Mapped[datetime.datetime] = column(types.Time)
    finish_time: Mapped[datetime.datetime | None] = column(types.Time)
    result: Mapped[str | None] = column(sa.String(20))
    traceback: Mapped[str | None] = column(types.LongText)
    details: Mapped[str | None] = column(types.LongText)
    host: Mapped[str | None] = column(Str)


class Migration(types.Timestamps, Base):
    """One move. memory_* and disk_* in bytes; epoch: the newest known epoch of its saga"""

    __tablename__ = 'migrations'
    __table_args__ = (
        sa.Index('migrations_instance_idx', 'instance_uuid', 'status'),
        sa.Index('migrations_source_idx', 'source_compute', 'source_node', 'status'),
        sa.Index('migrations_dest_idx', 'dest_compute', 'dest_node', 'status'),
        sa.Index('migrations_list_idx', 'created_at', 'id'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    instance_uuid: Mapped[str] = column(Uuid)
    migration_type: Mapped[str] = column(sa.String(24))
    status: Mapped[str] = column(sa.String(24))
    source_compute: Mapped[str | None] = column(Str)
    source_node: Mapped[str | None] = column(Str)
    dest_compute: Mapped[str | None] = column(Str)
    dest_node: Mapped[str | None] = column(Str)
    dest_host: Mapped[str | None] = column(Str)
    old_instance_type_id: Mapped[int | None] = column(sa.Integer)
    new_instance_type_id: Mapped[int | None] = column(sa.Integer)
    old_vm_state: Mapped[str | None] = column(State)
    hidden: Mapped[bool] = column(sa.Boolean, default=False)
    cross_cell_move: Mapped[bool] = column(sa.Boolean, default=False)
    forced: Mapped[bool] = column(sa.Boolean, default=False)
    epoch: Mapped[int] = column(sa.Integer, default=0)
    user_id: Mapped[str | None] = column(Str)
    project_id: Mapped[str | None] = column(Str)
    memory_total: Mapped[int | None] = column(sa.BigInteger)
    memory_processed: Mapped[int | None] = column(sa.BigInteger)
    memory_remaining: Mapped[int | None] = column(sa.BigInteger)
    disk_total: Mapped[int | None] = column(sa.BigInteger)
    disk_processed: Mapped[int | None] = column(sa.BigInteger)
    disk_remaining: Mapped[int | None] = column(sa.BigInteger)
    data: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)


class Service(types.Timestamps, Base):
    __tablename__ = 'services'
    __table_args__ = (sa.UniqueConstraint('host', 'binary', name='services_host_binary_uc'),)
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    host: Mapped[str] = column(Str)
    binary: Mapped[str] = column(sa.String(64), index=True)
    topic: Mapped[str] = column(sa.String(64))
    version: Mapped[int] = column(sa.Integer)
    report_count: Mapped[int] = column(sa.Integer, default=0)
    last_seen_up: Mapped[datetime.datetime | None] = column(types.Time)
    disabled: Mapped[bool] = column(sa.Boolean, default=False)
    disabled_reason: Mapped[str | None] = column(Str)
    forced_down: Mapped[bool] = column(sa.Boolean, default=False)


class ComputeNode(types.Timestamps, Base):
    """A hypervisor's capacity. Its usage is computed from the servers by a query.

    mapped: whether its host is in the API database's host mappings
    numa: the NUMA nodes and the parts of them that guests hold; None: only their number is known
    memory_mb in MiB, local_gb in GiB
    """

    __tablename__ = 'compute_nodes'
    __table_args__ = (
        sa.UniqueConstraint('host', 'hypervisor_hostname', name='compute_nodes_host_node_uc'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    host: Mapped[str] = column(Str)
    hypervisor_hostname: Mapped[str] = column(Str, index=True)
    hypervisor_type: Mapped[str] = column(Str)
    hypervisor_version: Mapped[int] = column(sa.Integer)
    host_ip: Mapped[str | None] = column(sa.String(39))
    vcpus: Mapped[int] = column(sa.Integer)
    memory_mb: Mapped[int] = column(sa.Integer)
    local_gb: Mapped[int] = column(sa.Integer)
    cpu_allocation_ratio: Mapped[float] = column(sa.Float, default=4.0)
    ram_allocation_ratio: Mapped[float] = column(sa.Float, default=1.0)
    disk_allocation_ratio: Mapped[float] = column(sa.Float, default=1.0)
    reserved_memory_mb: Mapped[int] = column(sa.Integer, default=0)
    cpu_info: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)
    supported_instances: Mapped[list[typing.Any]] = column(types.Json, default=list)
    stats: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)
    metrics: Mapped[list[typing.Any]] = column(types.Json, default=list)
    numa: Mapped[dict[str, typing.Any] | None] = column(types.Json)
    failed_builds: Mapped[int] = column(sa.Integer, default=0)
    mapped: Mapped[bool] = column(sa.Boolean, default=False)


class ConsoleToken(types.Timestamps, Base):
    __tablename__ = 'console_auth_tokens'
    token_hash: Mapped[str] = column(sa.String(64), primary_key=True)
    console_type: Mapped[str] = column(sa.String(32))
    host: Mapped[str] = column(Str)
    port: Mapped[int] = column(sa.Integer)
    instance_uuid: Mapped[str] = column(Uuid, index=True)
    expires: Mapped[datetime.datetime] = column(types.Time)
    access_url_base: Mapped[str | None] = column(Str)


class SagaEpoch(Base):
    """The newest epoch this cell has seen of each saga: older calls are refused.

    A second row of a saga, see `epochs.end`, says that its end is recorded here.
    """

    __tablename__ = 'saga_epochs'
    saga_uuid: Mapped[str] = column(Uuid, primary_key=True)
    epoch: Mapped[int] = column(sa.Integer)
    seen_at: Mapped[datetime.datetime] = column(types.Time)


class TaskLog(types.Timestamps, Base):
    """A usage audit of a host: of the servers that were on it in a period."""

    __tablename__ = 'task_log'
    __table_args__ = (
        sa.UniqueConstraint(
            'task_name', 'host', 'period_beginning', 'period_ending', name='task_log_period_uc'
        ),
        sa.Index('task_log_period_idx', 'period_beginning', 'period_ending'),
    )
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    task_name: Mapped[str] = column(sa.String(32))
    state: Mapped[str] = column(sa.String(16))
    host: Mapped[str] = column(Str)
    period_beginning: Mapped[datetime.datetime] = column(types.Time)
    period_ending: Mapped[datetime.datetime] = column(types.Time)
    message: Mapped[str] = column(Str)
    task_items: Mapped[int] = column(sa.Integer)
    errors: Mapped[int] = column(sa.Integer)


class ArchivedRow(Base):
    """A row of a deleted server, moved here by an operator until it is purged."""

    __tablename__ = 'archived_rows'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    table_name: Mapped[str] = column(sa.String(64))
    instance_uuid: Mapped[str] = column(Uuid, index=True)
    deleted_at: Mapped[datetime.datetime | None] = column(types.Time, index=True)
    row: Mapped[dict[str, typing.Any]] = column(types.Json)
