"""The cell conductor: writes a cell's database on behalf of its computes.

Each method reports one event, is one transaction, and may be repeated after a lost reply. `host` is
the host that reports.
"""

from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import block_device
from nova_lite.objects import instance
from nova_lite.objects import instance_group
from nova_lite.rpc.methods import conductor_usage

# Timeout of check_epoch, which a host calls first while its own caller waits for both.
EPOCH = 6
# The option with the timeout of heartbeats: a lost reply must not delay the next heartbeat.
HEARTBEAT = 'report_interval'
# Replies of `build_started` to a host that must build.
FIRST, AGAIN = 'first', 'again'
# Methods that many servers call at the same time: see `reports`, and conductor.recording.JOINED.
TOGETHER = ('build_started', 'build_finished', 'delete_started', 'instance_deleted')
# Key of a changed block device: the attachment that the record must name.
FORMER = 'former_attachment_id'

Ctxt: typing.TypeAlias = context.RequestContext
# {name: plain value}
Json: typing.TypeAlias = dict[str, typing.Any]


class Failure(typing.TypedDict):
    """Why work of a host failed. error: text for the user; details: text for the operator"""

    error: str
    details: str | None


class ActionFailure(Failure):
    """A Failure of an action. changes: {column: value} of the server's record"""

    changes: Json


class Share(typing.TypedDict):
    """A share of a server, see db.cell.models.ShareMapping. uuid: that of the attachment"""

    uuid: str
    share_id: str
    status: str
    tag: str
    share_proto: str
    export_location: str
    access_type: str
    access_to: str
    granted: bool


class HostRecord(typing.TypedDict):
    """A server of a host. updated_at: time of its last change in ISO 8601, or None"""

    uuid: str
    host: str
    node: str
    vm_state: str
    task_state: str | None
    power_state: int
    hidden: bool
    updated_at: str | None


class Unfinished(typing.TypedDict):
    """Work that a host has not finished, with the arguments of its call.

    context: argument of RequestContext.from_wire; build: that of `instances.build`
    event: transitions.POWER_UPDATE, if the API has begun it
    continues: whether it is a build that continues although os-resetState has set the state
    """

    instance: instance.Instance
    block_devices: list[block_device.BlockDevice]
    context: Json
    build: Json | None
    continues: typing.NotRequired[bool]
    event: typing.NotRequired[str]


class Evacuation(typing.TypedDict):
    """A server that was evacuated from a host, whose guest there is not removed yet.

    provider: uuid of the node's resource provider; began: seconds since 1970
    done: False while the server is being rebuilt elsewhere
    """

    migration_uuid: str
    instance_uuid: str
    host: str
    node: str
    provider: str | None
    began: float
    done: bool


class ConductorAPI(conductor_usage.Usage, rpc.Interface):
    """One or more per cell, on the cell's bus."""

    topic, version = 'conductor', '1.0'

    # ---- hosts ----

    @rpc.call(since='1.0', timeout=HEARTBEAT)
    def beat(
        self, ctxt: Ctxt, hosts: list[str], version: int, starting: list[str] | None = None
    ) -> dict[str, dict[str, bool]]:
        """Heartbeat of every host of a process: [host, ...], of this service version.

        starting: hosts whose services are added if they do not exist; None: all hosts
        Returns {host: {'disabled': bool, 'forced_down': bool}} of the hosts that are disabled or
        forced down. The heartbeat of a host with 'returned': True is not recorded: the host counts
        as down until its evacuated guests are removed. One with 'gone': True has no service.
        """

    @rpc.cast(since='1.0')
    def report_conductor(self, ctxt: Ctxt, host: str) -> None:
        """Heartbeat of a conductor of the cell, over the bus that hosts use for theirs."""

    @rpc.call(since='1.0')
    def report_nodes(self, ctxt: Ctxt, nodes: list[Json]) -> dict[str, dict[str, str]]:
        """Add or update compute nodes: [{column: value}, ...], without uuids. Notify of metrics.

        Returns {host: {hypervisor_hostname: uuid}}: the cell names its nodes, so a
        host that lost its files is the same node again. Hosts without a service are skipped.
        """

    @rpc.call(since='1.0')
    def host_records(
        self, ctxt: Ctxt, hosts: list[str], instances: list[str] | None = None
    ) -> list[HostRecord]:
        """Return the records of servers on hosts, including hidden copies.

        instances: [server uuid, ...] to read; None: all
        """

    @rpc.call(since='1.0')
    def held_guests(self, ctxt: Ctxt, host: str, guests: list[str]) -> list[str]:
        """Return the subset of guests (server uuids) that the host has a reason to keep.

        Either the server is on the host, or an unfinished migration has the host at one end.
        """

    @rpc.call(since='1.0')
    def unfinished(self, ctxt: Ctxt, hosts: list[str], idle_s: float) -> list[Unfinished]:
        """Return unfinished work of the hosts that has not changed for `idle_s` seconds.

        The work of sagas is not included. Included are failed builds that kept their host, and
        builds whose servers were deleted without the host, although these servers have no task.
        """

    @rpc.call(since='1.0', timeout=EPOCH)
    def check_epoch(self, ctxt: Ctxt) -> None:
        """Record the epoch of the context's saga. Raise StaleEpoch if a newer epoch is known."""

    @rpc.call(since='1.0')
    def reports(self, ctxt: Ctxt, kind: str, reports: list[Json]) -> list[typing.Any] | None:
        """Make calls of one method of TOGETHER in one transaction: all of them, or none.

        kind: name of the method; reports: [{'context': that of RequestContext.to_wire,
            'arguments': {name: value}}, ...]
        Returns the results in order, or None if one of the calls is refused.
        """

    # ---- building ----

    @rpc.call(since='1.0')
    def build_started(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        node: str,
        group: instance_group.Group | None,
    ) -> str | bool:
        """Record that the host takes the build: building/scheduling becomes building/spawning.

        group: {'uuid', 'policy', 'rules'} or None
        Returns FIRST; AGAIN if the host had taken this build before, so that a part of it may be
        done; or False if the server was deleted or is being deleted. A conductor of an
        earlier release returns True for the first two. Raises StateChanged if the build does not
        (or no longer) belong to this host, and GroupPolicyViolated if another member of the group
        was first.
        """

    @rpc.call(since='1.0')
    def build_finished(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        *,
        network_info: list[Json],
        block_devices: list[Json],
        power_state: int,
    ) -> bool:
        """Record that the guest runs: the server becomes active, the build's event succeeds.

        block_devices: [{'uuid': ..., changed columns}, ...]
        Returns False if the server was deleted during the build: the caller must clean up.
        Raises StateChanged if the build no longer belongs to this host.
        """

    @rpc.call(since='1.0')
    def build_failed(
        self, ctxt: Ctxt, host: str, instance_uuid: str, failure: Failure, keep_host: bool
    ) -> bool:
        """Record that the build has finally failed: the server becomes error with a fault.

        keep_host: the host could not clean up completely, so the server keeps its host, which a
            deletion calls; otherwise the server is on no host
        Returns False if the server was deleted, is being deleted, or belongs to another host. The
        event ends in any case.
        """

    @rpc.call(since='1.0')
    def build_is_over(self, ctxt: Ctxt, host: str, instance_uuid: str) -> bool:
        """Return whether the host must clean up a build.

        The build has failed, or its server was deleted without the host.
        """

    @rpc.call(since='1.0')
    def build_cleared(self, ctxt: Ctxt, host: str, instance_uuid: str) -> bool:
        """Record that the host has cleaned up a failed build: the server is no longer on a host.

        Returns False if the server is being deleted or has another state by now.
        """

    @rpc.cast(since='1.0')
    def reschedule_build(self, ctxt: Ctxt, host: str, instance_uuid: str, failure: Failure) -> None:
        """Report that the build failed on the host and may succeed on another host."""

    # ---- actions of one step ----

    @rpc.call(since='1.0')
    def action_started(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        event: str,
        *,
        task_state: str | None,
        expect_task: list[str | None],
        interrupted: Sequence[str] = (),
    ) -> list[Share] | None:
        """Record that the host begins an action's event, and optionally set the task state.

        Returns the shares of the server; None from a conductor of a release without shares.
        task_state: new task state; None: no change; expect_task: [allowed task state, ...]
        interrupted: events of other actions, which end if they are open, because this action has
            interrupted their work on the host
        Raises StateChanged if the server's task or host has changed, and InstanceNotFound.
        """

    @rpc.call(since='1.0')
    def action_finished(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        event: str,
        *,
        changes: Json,
        expect_task: list[str | None],
        remark: str | None = None,
    ) -> bool:
        """Record the success of an action's event: apply `changes` (columns) and clear the task.

        remark: text for the user about a failure after the requested effect; None
        Returns False if the task is no longer one of `expect_task`: then only the event ends.
        """

    @rpc.call(since='1.0')
    def action_failed(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        event: str,
        *,
        expect_task: list[str | None],
        failure: ActionFailure,
    ) -> bool:
        """Record the failure of an action's event: clear the task and add a fault.

        Returns False if the task is no longer one of `expect_task`: then only the event ends.
        """

    @rpc.call(since='1.0')
    def delete_started(self, ctxt: Ctxt, host: str, instance_uuid: str, event: str) -> Json:
        """Record that the host begins to remove a server that is being deleted.

        Returns the current {'block_devices': [BlockDevice, ...], 'kept_ports': [ids of ports that
        existed before the server], 'images': {'copying': whether images of the server are in
        creation, 'shelved': id of the image of a shelved server, or None}, 'shares': [Share, ...]}.
        Raises StateChanged if the server belongs to another host or is not being deleted, and
        InstanceNotFound.
        """

    @rpc.call(since='1.0')
    def instance_deleted(self, ctxt: Ctxt, host: str, instance_uuid: str, event: str) -> None:
        """Delete the record of a server whose guest, ports and volumes the host has removed.

        Raises StateChanged if the server belongs to another host, or is not being deleted.
        """

    @rpc.call(since='1.0')
    def update_block_devices(
        self, ctxt: Ctxt, host: str, instance_uuid: str, block_devices: list[Json], gone: list[str]
    ) -> bool:
        """Change block devices ([{'uuid', columns}]), and delete those whose uuids are in `gone`.

        Nothing changes unless the host is building the server, or reboots it. With the key FORMER,
        a block device changes only if it has this attachment. Return whether all have changed. A
        conductor of an earlier release returns None.
        """

    @rpc.call(since='1.0')
    def power_states(self, ctxt: Ctxt, states: list[Json]) -> None:
        """Report the power states of servers whose records differ.

        states: [{'uuid', 'host', 'power_state', 'seen': {'vm_state', 'updated_at'} of the
            record that the host compared with}, ...]. A record that has changed since is not
            changed. An active server whose guest is shut down becomes stopped
        """

    @rpc.call(since='1.0')
    def update_shares(
        self, ctxt: Ctxt, host: str, instance_uuid: str, statuses: dict[str, str]
    ) -> None:
        """Store whether the host has mounted shares of one of its servers.

        statuses: {uuid of the attachment: inactive, active or error}; shares that are being
            attached or detached keep their status
        """

    @rpc.call(since='1.0')
    def instance_records(self, ctxt: Ctxt, host: str, instance_uuid: str) -> Json:
        """Return a server of the host: {'instance', 'block_devices': [...], 'shares': [...]}.

        Raises InstanceNotFound, and StateChanged if the server belongs to another host.
        """

    # ---- live migration ----

    @rpc.call(since='1.0')
    def live_migration_turn(self, ctxt: Ctxt, host: str, migration_uuid: str, limit: int) -> Json:
        """Queue a live migration, and return whether it may leave the host now.

        limit: maximum number of migrations that leave the host at the same time; 0: no limit
        Returns {'turn': whether it may leave, 'ahead': number of migrations before it}. Raises
        LiveMigrationAborted if it was aborted, StateChanged if it has ended.
        """

    @rpc.call(since='1.0')
    def live_migration_progress(
        self, ctxt: Ctxt, host: str, migration_uuid: str, counters: dict[str, int]
    ) -> dict[str, Json]:
        """Report the progress of a running copy: {column of the migration: bytes}.

        Return the commands of operators: {'abort' or 'force_complete': context of the request, as
        plain values}. Raises LiveMigrationAborted, StateChanged as live_migration_turn.
        """

    @rpc.call(since='1.0')
    def live_migration_answered(
        self, ctxt: Ctxt, host: str, migration_uuid: str, command: str, error: str | None
    ) -> None:
        """Report the result of a command ('abort' or 'force_complete') of the request of ctxt.

        error: text of the hypervisor's refusal; None if it accepted the command
        """

    @rpc.call(since='1.0')
    def ended_moves(self, ctxt: Ctxt, instances: list[str]) -> dict[str, str]:
        """Return {server uuid: uuid of its newest migration}, of migrations that have ended."""

    @rpc.call(since='1.0')
    def confirmed_moves(self, ctxt: Ctxt, moves: list[str]) -> list[str]:
        """Return the subset of migrations that have ended at their destination for good."""

    # ---- evacuation ----

    @rpc.call(since='1.0', timeout=HEARTBEAT)
    def evacuations_from(self, ctxt: Ctxt, hosts: list[str]) -> list[Evacuation]:
        """Return evacuations from the hosts whose guests are not yet removed there."""

    @rpc.call(since='1.0')
    def evacuation_cleaned(self, ctxt: Ctxt, host: str, migration_uuid: str) -> None:
        """Record that the host has removed the guest of an evacuated server."""
