"""The cell conductor: writes a cell's database on behalf of its computes.

Every method is one named thing that happened, written in one transaction, and
may be repeated after a lost reply. `host` is who says so.
"""

from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import block_device
from nova_lite.objects import instance
from nova_lite.objects import instance_group

# A host that is called asks this first, and its caller waits for both.
EPOCH = 6
# The option whose seconds a heartbeat waits for its reply: a lost reply delays no other heartbeat.
HEARTBEAT = 'report_interval'
# What `build_started` says to a host that is to build.
FIRST, AGAIN = 'first', 'again'

Ctxt: typing.TypeAlias = context.RequestContext
# Plain values by name.
Json: typing.TypeAlias = dict[str, typing.Any]


class Failure(typing.TypedDict):
    """Why work of a host failed. error: text for the user; details: text for the operator"""

    error: str
    details: str | None


class ActionFailure(Failure):
    """As Failure, of an action that leaves changes behind. changes: columns"""

    changes: Json


class Share(typing.TypedDict):
    """A share of a server, see db.cell.models.ShareMapping. uuid: of the attachment"""

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
    """A server of a host. updated_at: when it changed last, as ISO 8601, or None"""

    uuid: str
    host: str
    node: str
    vm_state: str
    task_state: str | None
    power_state: int
    hidden: bool
    updated_at: str | None


class Unfinished(typing.TypedDict):
    """Work that a host has not finished, with what its call was given.

    context: who asked, as RequestContext.from_wire takes it; build: as `instances.build`
    """

    instance: instance.Instance
    block_devices: list[block_device.BlockDevice]
    context: Json
    build: Json | None


class Evacuation(typing.TypedDict):
    """A server that was evacuated from a host and whose guest is not removed there yet.

    provider: uuid of the node's; began: seconds since 1970
    done: False while the server is being rebuilt elsewhere
    """

    migration_uuid: str
    instance_uuid: str
    host: str
    node: str
    provider: str | None
    began: float
    done: bool


class ConductorAPI(rpc.Interface):
    """One or more per cell, on the cell's bus."""

    topic, version = 'conductor', '1.0'

    # ---- hosts ----

    @rpc.call(since='1.0', timeout=HEARTBEAT)
    def beat(
        self, ctxt: Ctxt, hosts: list[str], version: int, starting: list[str] | None = None
    ) -> dict[str, dict[str, bool]]:
        """Heartbeat of every host of a process: [host, ...], of this service version.

        starting: hosts whose services are added if they do not exist; None: all
        Returns {host: {'disabled': bool, 'forced_down': bool}} of those that are
        either; the others are in service. A host with 'returned': True is not recorded,
        and counts as down until what was evacuated from it is removed. A host with
        'gone': True has no service: an administrator has deleted it.
        """

    @rpc.cast(since='1.0')
    def report_conductor(self, ctxt: Ctxt, host: str) -> None:
        """Heartbeat of a conductor of the cell, over the bus by which hosts report."""

    @rpc.call(since='1.0')
    def report_nodes(self, ctxt: Ctxt, nodes: list[Json]) -> dict[str, dict[str, str]]:
        """Add or update compute nodes: [{column: value}, ...], without uuids.

        Returns {host: {hypervisor_hostname: uuid}}: the cell names its nodes, so a
        host that lost its files is the same node again. Hosts without a service are skipped.
        """

    @rpc.call(since='1.0')
    def host_records(
        self, ctxt: Ctxt, hosts: list[str], instances: list[str] | None = None
    ) -> list[HostRecord]:
        """Return the records of servers on hosts, hidden copies too.

        instances: [server uuid, ...] to look for; None for all
        """

    @rpc.call(since='1.0')
    def held_guests(self, ctxt: Ctxt, host: str, guests: list[str]) -> list[str]:
        """Return those of the guests (server uuids) that the host has a reason to keep.

        The server is the host's, or a migration under way has the host at one end.
        """

    @rpc.call(since='1.0')
    def unfinished(self, ctxt: Ctxt, hosts: list[str], idle_s: float) -> list[Unfinished]:
        """Return unfinished work of the hosts that has not changed for `idle_s` seconds.

        Work that sagas drive is not among it. Builds that failed and kept their host are,
        and those whose servers were deleted without it: these servers have no task.
        """

    @rpc.call(since='1.0', timeout=EPOCH)
    def check_epoch(self, ctxt: Ctxt) -> None:
        """Note the epoch of the context's saga; raises StaleEpoch if a newer one is known."""

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
        Returns FIRST; AGAIN when the host had taken this build before, so that part of it
        may be done; or False when the server is gone or being deleted. A conductor of an
        earlier release returns True for the first two. Raises StateChanged when the build
        is not this host's (any more), and GroupPolicyViolated when a member of the group
        got there first.
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
        Returns False when the server was deleted meanwhile: the caller cleans up.
        Raises StateChanged when the build is not this host's any more.
        """

    @rpc.call(since='1.0')
    def build_failed(
        self, ctxt: Ctxt, host: str, instance_uuid: str, failure: Failure, keep_host: bool
    ) -> bool:
        """Record that the build has failed for good: the server becomes error with a fault.

        keep_host: the host could not take back all, so a delete must go there;
        else the server is on no host
        Returns False when there was nothing to fail: the server is gone, being
        deleted or another host's. Its event ends all the same.
        """

    @rpc.call(since='1.0')
    def build_is_over(self, ctxt: Ctxt, host: str, instance_uuid: str) -> bool:
        """Return whether the host must clean up a build.

        The build has failed, or its server was deleted without the host.
        """

    @rpc.call(since='1.0')
    def build_cleared(self, ctxt: Ctxt, host: str, instance_uuid: str) -> bool:
        """Record that the host has nothing of a failed build: the server is on no host any more.

        Returns False for one that is being deleted or was given another state meanwhile.
        """

    @rpc.cast(since='1.0')
    def reschedule_build(self, ctxt: Ctxt, host: str, instance_uuid: str, failure: Failure) -> None:
        """Report that the build failed here for a reason that another host may not share."""

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
        """Record that the host begins an action's event; optionally the task state moves on.

        Returns the shares of the server; None from a conductor that knows none.

        task_state: new task state or None to leave it; expect_task: [allowed, ...]
        interrupted: events of other actions that end, if they are open: the host has
        given up the work on them for this one
        Raises StateChanged when the server's task or host is another one by now,
        and InstanceNotFound.
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

        remark: what failed after the requested effect, for the user
        Returns False when the task was no longer one of `expect_task`: then only
        the event ends.
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

        Returns False when the task was no longer one of `expect_task`: then only
        the event ends.
        """

    @rpc.call(since='1.0')
    def delete_started(self, ctxt: Ctxt, host: str, instance_uuid: str, event: str) -> Json:
        """Record that the host begins to remove a server that is being deleted.

        Returns {'block_devices': [BlockDevice, ...], 'kept_ports': [ids of ports that
        were there before the server], 'images': {'copying': whether some of it were being
        made, 'shelved': id of the one that it is shelved in, or None}, 'shares': [Share, ...]}
        as they are now.
        Raises StateChanged when the server is another host's or is not being deleted, and
        InstanceNotFound.
        """

    @rpc.call(since='1.0')
    def instance_deleted(self, ctxt: Ctxt, host: str, instance_uuid: str, event: str) -> None:
        """Record that the host has removed guest, ports and volumes: the record ends.

        Raises StateChanged when the server is another host's, or the host was not asked for it.
        """

    @rpc.call(since='1.0')
    def update_network_info(
        self, ctxt: Ctxt, host: str, instance_uuid: str, network_info: list[Json]
    ) -> None:
        """Store what the network service says of a server's ports."""

    @rpc.call(since='1.0')
    def update_block_devices(
        self, ctxt: Ctxt, host: str, instance_uuid: str, block_devices: list[Json], gone: list[str]
    ) -> None:
        """Change block devices ([{'uuid', columns}]) and drop those whose uuids are gone.

        Nothing changes unless the host is building the server.
        """

    @rpc.call(since='1.0')
    def power_states(self, ctxt: Ctxt, states: list[Json]) -> None:
        """Report the power states of servers whose records differ.

        states: [{'uuid', 'host', 'power_state', 'seen': {'vm_state', 'updated_at'} of the
        record that the host compared with}, ...]. A record that has changed since stays as
        it is. An active server whose guest was found shut down becomes stopped.
        """

    @rpc.call(since='1.0')
    def update_shares(
        self, ctxt: Ctxt, host: str, instance_uuid: str, statuses: dict[str, str]
    ) -> None:
        """Store whether the host has mounted shares of a server of its own.

        statuses: {uuid of the attachment: inactive, active or error}; shares that are being
            attached or detached keep theirs
        """

    @rpc.call(since='1.0')
    def instance_records(self, ctxt: Ctxt, host: str, instance_uuid: str) -> Json:
        """Return a server of the host: {'instance', 'block_devices': [...], 'shares': [...]}.

        Raises InstanceNotFound, and StateChanged when it is another host's.
        """

    # ---- live migration ----

    @rpc.call(since='1.0')
    def live_migration_turn(self, ctxt: Ctxt, host: str, migration_uuid: str, limit: int) -> Json:
        """Ask whether a live migration may leave the host now; it queues until then.

        limit: how many may leave at the same time; 0 for any number
        Returns {'turn': bool, 'ahead': how many are before it}. Raises
        LiveMigrationAborted when it was called off, StateChanged when it is over.
        """

    @rpc.call(since='1.0')
    def live_migration_progress(
        self, ctxt: Ctxt, host: str, migration_uuid: str, counters: dict[str, int]
    ) -> dict[str, Json]:
        """Report the progress of a copy that runs: {column of the migration: bytes}.

        Return the commands of operators: {'abort' or 'force_complete': context as it
        travels}. Raises as live_migration_turn.
        """

    @rpc.call(since='1.0')
    def live_migration_answered(
        self, ctxt: Ctxt, host: str, migration_uuid: str, command: str, error: str | None
    ) -> None:
        """Report the result of a command ('abort' or 'force_complete') of the request of ctxt.

        error: a text when the hypervisor refused; None when it obeyed
        """

    @rpc.call(since='1.0')
    def ended_moves(self, ctxt: Ctxt, instances: list[str]) -> dict[str, str]:
        """Return {server uuid: uuid of its newest migration} of those that are over."""

    # ---- evacuation ----

    @rpc.call(since='1.0', timeout=HEARTBEAT)
    def evacuations_from(self, ctxt: Ctxt, hosts: list[str]) -> list[Evacuation]:
        """Return evacuations from the hosts whose guests are not removed there yet."""

    @rpc.call(since='1.0')
    def evacuation_cleaned(self, ctxt: Ctxt, host: str, migration_uuid: str) -> None:
        """Record that the host has removed what an evacuated server left there."""
