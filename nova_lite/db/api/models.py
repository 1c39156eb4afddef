"""Tables of the API database.

Source: reference/nova/cells-and-rpc 1; `sagas` is ours (the journal of moves).
"""

import datetime
import typing

import sqlalchemy as sa
from sqlalchemy import orm

from nova_lite.db import types
from nova_lite.saga import journal

Mapped = orm.Mapped
column = orm.mapped_column
Str = sa.String(255)
Uuid = sa.String(36)


class Base(orm.DeclarativeBase):
    """Every table here; a table is in this database or in the cells', never in both."""

    __table__: typing.ClassVar[sa.Table]


class CellMapping(types.Timestamps, Base):
    __tablename__ = 'cell_mappings'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    name: Mapped[str | None] = column(Str)
    transport_url: Mapped[str] = column(sa.Text)
    database_connection: Mapped[str] = column(sa.Text)
    disabled: Mapped[bool] = column(sa.Boolean, default=False)


class HostMapping(types.Timestamps, Base):
    __tablename__ = 'host_mappings'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    host: Mapped[str] = column(Str, unique=True)
    cell_id: Mapped[int] = column(sa.ForeignKey('cell_mappings.id'), index=True)


class InstanceMapping(types.Timestamps, Base):
    """The cell of a server. vcpus and memory_mb make quota one query."""

    __tablename__ = 'instance_mappings'
    __table_args__ = (sa.Index('instance_mappings_project_idx', 'project_id', 'queued_for_delete'),)
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    instance_uuid: Mapped[str] = column(Uuid, unique=True)
    cell_id: Mapped[int | None] = column(sa.ForeignKey('cell_mappings.id'), index=True)
    project_id: Mapped[str] = column(Str)
    user_id: Mapped[str | None] = column(Str)
    queued_for_delete: Mapped[bool] = column(sa.Boolean, default=False)
    vcpus: Mapped[int] = column(sa.Integer, default=0)
    memory_mb: Mapped[int] = column(sa.Integer, default=0)


class BuildRequest(types.Timestamps, Base):
    """A server that is accepted and not yet in a cell: the journal of its build.

    instance: the columns of the future record; arguments: the further arguments of the build
    epoch, lease_until: the owner of the build
    failures: how often the build failed for a reason of its own, and not of a service
    withdrawn: the user deleted the server, or it is not accepted yet; its remains are cleaned up
    withdrawn_at: when it was withdrawn, by the clock of the database
    """

    __tablename__ = 'build_requests'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    instance_uuid: Mapped[str] = column(Uuid, unique=True)
    project_id: Mapped[str] = column(Str, index=True)
    reservation_id: Mapped[str] = column(Str, index=True)
    request_id: Mapped[str] = column(Str)
    instance: Mapped[dict[str, typing.Any]] = column(types.Json)
    block_devices: Mapped[list[typing.Any]] = column(types.Json)
    tags: Mapped[list[typing.Any]] = column(types.Json)
    arguments: Mapped[dict[str, typing.Any]] = column(types.Json)
    epoch: Mapped[int] = column(sa.Integer, default=0)
    failures: Mapped[int] = column(sa.Integer, default=0)
    withdrawn: Mapped[bool] = column(sa.Boolean, default=False)
    withdrawn_at: Mapped[datetime.datetime | None] = column(types.Time)
    lease_until: Mapped[datetime.datetime] = column(types.Time, index=True)


class RequestSpec(types.Timestamps, Base):
    __tablename__ = 'request_specs'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    instance_uuid: Mapped[str] = column(Uuid, unique=True)
    spec: Mapped[dict[str, typing.Any]] = column(types.Json)


class Flavor(types.Timestamps, Base):
    __tablename__ = 'flavors'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    flavorid: Mapped[str] = column(Str, unique=True)
    name: Mapped[str] = column(Str, unique=True)
    vcpus: Mapped[int] = column(sa.Integer)
    memory_mb: Mapped[int] = column(sa.Integer)
    root_gb: Mapped[int] = column(sa.Integer)
    ephemeral_gb: Mapped[int] = column(sa.Integer, default=0)
    swap: Mapped[int] = column(sa.Integer, default=0)
    rxtx_factor: Mapped[float] = column(sa.Float, default=1.0)
    disabled: Mapped[bool] = column(sa.Boolean, default=False)
    is_public: Mapped[bool] = column(sa.Boolean, default=True)
    description: Mapped[str | None] = column(types.LongText)
    extra_specs: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)


class FlavorProject(Base):
    """Projects that may use a flavor that is not public."""

    __tablename__ = 'flavor_projects'
    flavor_id: Mapped[int] = column(
        sa.ForeignKey('flavors.id', ondelete='CASCADE'), primary_key=True
    )
    project_id: Mapped[str] = column(Str, primary_key=True)


class Aggregate(types.Timestamps, Base):
    __tablename__ = 'aggregates'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    name: Mapped[str] = column(Str, unique=True)
    meta: Mapped[dict[str, typing.Any]] = column('metadata', types.Json, default=dict)


class AggregateHost(Base):
    __tablename__ = 'aggregate_hosts'
    aggregate_id: Mapped[int] = column(
        sa.ForeignKey('aggregates.id', ondelete='CASCADE'), primary_key=True
    )
    host: Mapped[str] = column(Str, primary_key=True, index=True)


class DeletedAggregate(Base):
    """The uuid of a deleted aggregate, of which placement may still have members."""

    __tablename__ = 'deleted_aggregates'
    uuid: Mapped[str] = column(Uuid, primary_key=True)
    deleted_at: Mapped[datetime.datetime] = column(types.Time)


class InstanceGroup(types.Timestamps, Base):
    __tablename__ = 'instance_groups'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    uuid: Mapped[str] = column(Uuid, unique=True)
    user_id: Mapped[str | None] = column(Str)
    project_id: Mapped[str | None] = column(Str, index=True)
    name: Mapped[str] = column(Str)
    policy: Mapped[str] = column(Str)
    rules: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)


class InstanceGroupMember(Base):
    __tablename__ = 'instance_group_members'
    group_id: Mapped[int] = column(
        sa.ForeignKey('instance_groups.id', ondelete='CASCADE'), primary_key=True
    )
    instance_uuid: Mapped[str] = column(Uuid, primary_key=True, index=True)


class KeyPair(types.Timestamps, Base):
    __tablename__ = 'key_pairs'
    __table_args__ = (sa.UniqueConstraint('user_id', 'name', name='key_pairs_user_name_uc'),)
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    user_id: Mapped[str] = column(Str)
    name: Mapped[str] = column(Str)
    type: Mapped[str] = column(Str, default='ssh')
    fingerprint: Mapped[str | None] = column(Str)
    public_key: Mapped[str] = column(sa.Text)


class Quota(types.Timestamps, Base):
    """A limit of a project, or of one user of it when user_id is not empty."""

    __tablename__ = 'quotas'
    project_id: Mapped[str] = column(Str, primary_key=True)
    user_id: Mapped[str] = column(sa.String(64), primary_key=True, default='')
    resource: Mapped[str] = column(sa.String(64), primary_key=True)
    hard_limit: Mapped[int] = column(sa.Integer)


class QuotaClass(types.Timestamps, Base):
    __tablename__ = 'quota_classes'
    class_name: Mapped[str] = column(Str, primary_key=True)
    resource: Mapped[str] = column(sa.String(64), primary_key=True)
    hard_limit: Mapped[int] = column(sa.Integer)


class QuotaLock(Base):
    """A row per project, locked while its use is counted and added to."""

    __tablename__ = 'quota_locks'
    project_id: Mapped[str] = column(Str, primary_key=True)


class Saga(types.Timestamps, Base):
    """The journal of one multi-step operation.

    uuid: the migration's uuid where the operation is a move
    active_for: the server while the saga runs, then NULL. It is unique: one saga per server
    position: index of the step to run (or undo) next; direction: forward or undo
    step: id of the last step that ended; waits_on: id of the last step that had to wait
    data: {step id: result} of finished steps
    wake_at: when a parked saga is run again
    vcpus, memory_mb: size (MiB) that quotas count for the server while the saga runs, if it is
        greater than that of the mapping; NULL during cleanup
    epoch, owner, lease_until: the process that may run the saga
    """

    __tablename__ = 'sagas'
    __table_args__ = (sa.Index('sagas_due_idx', 'state', 'wake_at', 'lease_until'),)
    uuid: Mapped[str] = column(Uuid, primary_key=True)
    kind: Mapped[str] = column(sa.String(64))
    instance_uuid: Mapped[str] = column(Uuid, index=True)
    active_for: Mapped[str | None] = column(Uuid, unique=True)
    vcpus: Mapped[int | None] = column(sa.Integer)
    memory_mb: Mapped[int | None] = column(sa.Integer)
    project_id: Mapped[str | None] = column(Str)
    context: Mapped[dict[str, typing.Any]] = column(types.Json)
    arguments: Mapped[dict[str, typing.Any]] = column(types.Json)
    state: Mapped[str] = column(sa.String(16))
    direction: Mapped[str] = column(sa.String(16))
    position: Mapped[int] = column(sa.Integer, default=0)
    step: Mapped[str | None] = column(Str)
    waits_on: Mapped[str | None] = column(Str)
    data: Mapped[dict[str, typing.Any]] = column(types.Json, default=dict)
    error: Mapped[journal.Failure | None] = column(types.Json)
    attempts: Mapped[int] = column(sa.Integer, default=0)
    epoch: Mapped[int] = column(sa.Integer, default=0)
    owner: Mapped[str | None] = column(Str)
    lease_until: Mapped[datetime.datetime | None] = column(types.Time)
    wake_at: Mapped[datetime.datetime] = column(types.Time)
    finished_at: Mapped[datetime.datetime | None] = column(types.Time)


class SagaEvent(Base):
    """An event of a saga, for `nova-lite saga show` and timelines."""

    __tablename__ = 'saga_events'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    saga_uuid: Mapped[str] = column(sa.ForeignKey('sagas.uuid', ondelete='CASCADE'), index=True)
    at: Mapped[datetime.datetime] = column(types.Time)
    owner: Mapped[str] = column(Str)
    epoch: Mapped[int] = column(sa.Integer)
    step: Mapped[str | None] = column(Str)
    what: Mapped[str] = column(sa.String(32))
    detail: Mapped[str | None] = column(types.LongText)


class PortChange(types.Timestamps, Base):
    """A change of a server's ports that its record and its guest do not follow yet.

    port_id: a port that the server has lost; NULL for any other change
    attempts: how often the server's host has failed to unplug the port
    """

    __tablename__ = 'port_changes'
    id: Mapped[int] = column(sa.Integer, primary_key=True)
    instance_uuid: Mapped[str] = column(Uuid)
    port_id: Mapped[str | None] = column(Str)
    attempts: Mapped[int] = column(sa.Integer, default=0)


class Stamp(Base):
    """A counter that changes with data from which daemons have cached decisions."""

    __tablename__ = 'stamps'
    name: Mapped[str] = column(sa.String(64), primary_key=True)
    value: Mapped[int] = column(sa.Integer, default=0)
