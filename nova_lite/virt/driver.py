"""The driver protocol: the calls of the compute daemon to hypervisors.

A driver knows nodes (by hypervisor host name) and guests (by uuid), but no servers. Its methods
return before a long effect ends, and it keeps no state in the daemon's memory that must survive.

Effects. A method with a `key` starts an effect and returns its `model.Job` at once, with the
state `done` if the effect takes no time; `poll` returns the progress. The same node, guest, verb
and key always give the same job, even a failed one, so a call may be repeated after a lost reply or
a restart. To try a failed effect again, give another key. Effects on one guest run in the order of
the calls; `destroy` interrupts running effects, unless told not to. If the guest's state forbids an
effect, the job fails. An unknown node raises ComputeNodeNotFound, a node whose hypervisor does not
answer raises Unavailable.

Moves. `move` is the uuid of the move. Calls for a guest's departure, return or removal name the
move, so that a late message of another move changes nothing. After a move was undone
(`revert_migration`, `abort_live_migration`, `rollback_live_migration`, `destroy` with the move) or
confirmed on a node, the node refuses new effects of that move with MoveEnded: a step that arrives
after its undo does nothing.

A guest runs on at most one node at any time, although the two ends of a move share only the values
that callers pass between them:

- Cold: `migrate_out` stops the guest at the source and marks it departed; its
    result is the *handover*, without which `finish_migration` refuses to create the
    guest at the destination. `revert_migration` restores it at the source (destroy
    the destination's guest first), `confirm_migration` drops the guest that the source kept.
- Live: `pre_live_migration` makes the guest incoming at the destination (not
  running) and returns a *ticket*; `live_migrate` at the source takes the ticket.
  In one transaction the source's guest becomes departed and the job's result gains
  the *handover*, which holds the ticket; `post_live_migration` at the destination
  starts the guest only for a handover with the ticket it gave. Until then the
  guest runs nowhere, and a crash of either end leaves one of these states:
            source resident, job running   -> continue, or abort and roll the destination back
      source departed, dest incoming -> post_live_migration with the job's handover
      source departed, dest resident -> confirm_migration at the source
  If the destination cannot start the guest after the handover, `rollback_live_migration` with
  `arrived` keeps it there, off. If the destination is lost after the handover,
  `revert_migration` at the source boots the guest again from the disks kept there.
- `spawn` on another node (evacuation) is safe only if the guest's former node is off or was
  told to destroy the guest: as with real hypervisors, fence the former node first.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set
from typing import Protocol

from oslo_config import cfg

from nova_lite.virt import model
from nova_lite.virt import pci
from nova_lite.virt import topology


class Driver(Protocol):
    """One set of nodes. Safe to use from several threads."""

    # ---- nodes ------------------------------------------------------------

    def list_nodes(self) -> Sequence[str]:
        """Return the nodes' names, in a fixed order."""

    def up_nodes(self) -> Set[str]:
        """Return the names of the nodes whose hypervisors answer now."""

    def get_facts(self, node: str) -> model.NodeFacts:
        """Return the facts of the hypervisor."""

    def get_inventory(self, node: str) -> dict[str, model.Inventory]:
        """Return {resource class: Inventory} (VCPU, MEMORY_MB, DISK_GB), without ratios."""

    def get_topology(self, node: str) -> topology.Host | None:
        """Return the node's NUMA nodes, or None if only their number (`cpu_info`) is known.

        VCPU of `get_inventory` counts all of their CPUs, whether they are shared or not.
        """

    def get_devices(self, node: str) -> tuple[pci.Device, ...]:
        """Return the node's PCI devices that guests can have."""

    def get_nested_providers(self, node: str) -> Sequence[model.NestedProvider]:
        """Return the providers below the node's in placement, each parent before its children."""

    def get_volume_connector(self, node: str) -> model.Json:
        """Return the connector with which the volume service exports a volume to the node."""

    def can_connect_volume(self, node: str, connection_info: model.Json) -> bool:
        """Return whether the node has a path to a volume with this connection_info."""

    def get_password_support(self, node: str) -> model.PasswordSupport:
        """Return the PasswordSupport of the node: the guests in which it can set a password."""

    def get_host_cpu_stats(self, node: str) -> model.CpuStats:
        """Return the CPU time of the node since it was booted."""

    def cache_image(self, node: str, image_id: str, *, key: str) -> model.Job:
        """Cache an image. The job's guest is the image; result: {fetched: bool}."""

    # ---- guests -----------------------------------------------------------

    def occupied_nodes(self) -> Set[str]:
        """Return the names of the nodes with guests, or with jobs that have not ended."""

    def list_guests(self, node: str) -> list[model.Guest]:
        """Return all guests of the node, in any `model.Role`: also departed and incoming ones.

        A guest is listed as soon as the job that makes it has begun.
        """

    def get_guest(self, node: str, guest: str) -> model.Guest:
        """Return the guest, in any `model.Role`. Raise GuestNotFound."""

    def get_console_output(self, node: str, guest: str, lines: int | None = None) -> str:
        """Return the last `lines` of the serial console, or all."""

    def get_diagnostics(self, node: str, guest: str) -> model.Json:
        """Return counters of the guest, in the format of the API's diagnostics since 2.48."""

    def list_volume_usage(self, node: str, guest: str | None = None) -> list[model.VolumeUsage]:
        """Return the counters of the volumes of the node's running guests, or of one guest.

        A guest that does not run, or is not on the node, has no counters.
        """

    # ---- jobs -------------------------------------------------------------

    def poll(self, job_id: str) -> model.Job:
        """Return the current state of a job. Raise NotFound."""

    def list_jobs(self, node: str, guest: str | None = None) -> list[model.Job]:
        """Return jobs that have not ended, for a restarted daemon."""

    def read_snapshot(self, job_id: str) -> Iterator[bytes]:
        """Return the bytes of the snapshot of a done job."""

    # ---- life -------------------------------------------------------------

    def spawn(
        self, node: str, spec: model.GuestSpec, *, key: str, power_on: bool = True
    ) -> model.Job:
        """Create the guest with its devices attached and, with power_on, start it.

        Fails with GuestExists if the node has the guest. result: {power_state}.
        """

    def destroy(
        self,
        node: str,
        guest: str,
        *,
        key: str,
        keep_disks: bool = False,
        move: str | None = None,
        seen: model.Guest | None = None,
    ) -> model.Job:
        """Stop the guest and remove it. An unknown guest is no error.

        A guest that departed with a move stays: `confirm_migration` removes it.
        move: the move that this call undoes at its destination
        seen: the guest as it was listed; fails with GuestBusy if it has changed since, or if a job
            other than a live migration runs on it
        result: {destroyed: whether the guest existed}.
        """

    def change_power(
        self,
        node: str,
        guest: str,
        action: model.PowerAction,
        *,
        key: str,
        spec: model.GuestSpec | None = None,
    ) -> model.Job:
        """Start, stop, reboot, pause, ... the guest, or send it a non-maskable interrupt.

        The guest decides about the effect of the interrupt (TRIGGER_CRASH_DUMP).

        spec: for a hard reboot the definition to use if the node has lost the guest; for a
            rescue the definition to boot (its image is the rescue image)
        result: {power_state}.
        """

    def set_admin_password(self, node: str, guest: str, password: str, *, key: str) -> model.Job:
        """Set the administrator's password in a running guest. result: {power_state}."""

    def snapshot(self, node: str, guest: str, *, key: str) -> model.Job:
        """Copy the guest's disk. result: {size (bytes), disk_format, container_format}."""

    def attach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        """Plug the device in, or replace it. result: {attached: True}.

        If the device is a share, the node mounts it.
        """

    def detach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        """Unplug the device. result: {detached: whether the guest had it}."""

    # ---- cold moves -------------------------------------------------------

    def migrate_out(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Source: stop the guest, keep its disks, mark it departed. result: {handover}."""

    def finish_migration(
        self,
        node: str,
        spec: model.GuestSpec,
        handover: model.Handover,
        *,
        key: str,
        power_on: bool,
    ) -> model.Job:
        """Dest: create the guest with the new flavor (spec). result: {power_state}."""

    def revert_migration(
        self,
        node: str,
        guest: str,
        move: str,
        *,
        key: str,
        power_on: bool,
        devices: Sequence[model.Device] | None = None,
    ) -> model.Job:
        """Source: restore the departed guest, which undoes `migrate_out`.

        It also works if the guest never left, or was only stopped.
        devices: devices of the guest in place of the former ones
        result: {power_state}.
        """

    def confirm_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Source: remove a departed guest. result: {dropped: bool}."""

    # ---- live moves -------------------------------------------------------

    def check_live_migration(
        self,
        node: str,
        spec: model.GuestSpec,
        *,
        source: model.NodeFacts,
        dest: model.NodeFacts,
        key: str,
    ) -> model.Job:
        """Either end: check whether the guest can move between the nodes.

        Fails with the reason if it cannot. result: {block_migration: whether disks must be copied}.
        """

    def pre_live_migration(
        self, node: str, spec: model.GuestSpec, move: str, *, key: str
    ) -> model.Job:
        """Dest: create the guest as incoming. result: {ticket}."""

    def live_migrate(
        self,
        node: str,
        guest: str,
        move: str,
        *,
        key: str,
        ticket: model.Ticket,
        block_migration: bool = True,
    ) -> model.Job:
        """Source: copy the guest's memory and disks until it can be handed over.

        The job's result has, even while the job runs, the counters of `sim.precopy.Progress` by
        name (bytes, ms, seconds) and, as soon as the guest may start at the destination (with
        post-copy before the end), {handover}.
        """

    def can_abort_live_migration(self, node: str) -> bool:
        """Return whether operators may abort live migrations from the node.

        The undo of a move ends its copy in any case.
        """

    def abort_live_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Source: end the running copy; its job fails with MigrationAborted.

        A copy that has not begun is prevented. Fails with AbortRefused after the guest has
        left (post-copy, completed). result: {aborted: whether a copy was running}.
        """

    def force_complete_live_migration(
        self, node: str, guest: str, move: str, *, key: str
    ) -> model.Job:
        """Source: switch to post-copy if allowed, otherwise pause the guest until it is copied.

        result: {mode: post-copy or pause}. Fails with MigrationNotRunning.
        """

    def post_live_migration(
        self, node: str, guest: str, handover: model.Handover, *, key: str
    ) -> model.Job:
        """Dest: start the guest, which has arrived. result: {power_state}."""

    def rollback_live_migration(
        self, node: str, guest: str, move: str, *, key: str, arrived: bool = False
    ) -> model.Job:
        """Dest: remove the incoming guest of this move. result: {dropped: bool}.

        arrived: the source has handed the guest over, and its disks are nowhere else. The guest
            stays, off
        """

    # ---- the driver itself ------------------------------------------------

    def reload(self, conf: cfg.ConfigOpts) -> None:
        """Apply the changed configuration (SIGHUP).

        Raises OSError or ValueError for an invalid file; the former profile stays in force.
        """

    def close(self) -> None:
        """Close files and connections. Guests and jobs continue."""
