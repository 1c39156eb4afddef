"""The driver protocol: what the compute daemon may ask of hypervisors.

A driver knows nodes (by hypervisor host name) and guests (by uuid), nothing of
servers. It never blocks for as long as an effect takes, and it keeps nothing
that matters in the daemon's memory.

Effects. A method with a `key` starts an effect and returns its `model.Job` at
once, `done` already when the effect takes no time; `poll` tells how it goes on.
The same node, guest, verb and key give the same job, whatever became of it, so a
call may be repeated after a lost reply or a restart. To try a failed effect
again, give another key. Effects on one guest follow each other in the order
asked for; `destroy` interrupts what is running, unless asked not to. What a
guest's state forbids is a failed job; an unknown node raises ComputeNodeNotFound
and a node whose hypervisor does not answer raises Unavailable.

Moves. `move` is the uuid of the move. Who asks for a guest's departure, return
or removal names the move, and a late message of another move changes nothing. Once
a move is undone (`revert_migration`, `abort_live_migration`, `rollback_live_migration`,
`destroy` with the move) or confirmed on a node, that node refuses with MoveEnded to
begin anything for it: a step that arrives after its undo does nothing.

A guest runs on at most one node at every instant, though the two ends of a move
share nothing but what the callers carry between them:

- Cold: `migrate_out` stops the guest at the source and marks it departed; its
  result is the *handover*, without which `finish_migration` refuses to make the
  guest at the destination. `revert_migration` gives it back to the source (destroy
  the destination's first), `confirm_migration` drops what the source kept.
- Live: `pre_live_migration` makes the guest incoming at the destination (not
  running) and returns a *ticket*; `live_migrate` at the source takes the ticket.
  In one transaction the source's guest becomes departed and the job's result gains
  the *handover*, which holds the ticket; `post_live_migration` at the destination
  starts the guest only for a handover with the ticket it gave. Until then the
  guest runs nowhere, and a crash of either end leaves one of these states:
      source resident, job running   -> goes on, or abort and roll the destination back
      source departed, dest incoming -> post_live_migration with the job's handover
      source departed, dest resident -> confirm_migration at the source
  If the destination is lost after the handover, `revert_migration` at the source
  boots the guest again from the disks kept there.
- `spawn` on another node (evacuation) is safe only when the guest's former node
  is off or has been asked to destroy it: as with real hypervisors, fence it first.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set
from typing import Protocol

from oslo_config import cfg

from nova_lite.virt import model


class Driver(Protocol):
    """One set of nodes. Safe to use from several threads."""

    # ---- nodes ------------------------------------------------------------

    def list_nodes(self) -> Sequence[str]:
        """Return the nodes' names, in a fixed order."""

    def up_nodes(self) -> Set[str]:
        """Return the names of the nodes whose hypervisors answer at this moment."""

    def get_facts(self, node: str) -> model.NodeFacts:
        """Return the facts of the hypervisor."""

    def get_inventory(self, node: str) -> dict[str, model.Inventory]:
        """Totals by resource class (VCPU, MEMORY_MB, DISK_GB); ratios are not its business."""

    def get_nested_providers(self, node: str) -> Sequence[model.NestedProvider]:
        """Return what placement is to know below the node, each parent before its children."""

    def get_volume_connector(self, node: str) -> model.Json:
        """Return the properties a volume service needs to export a volume to the node."""

    def can_connect_volume(self, node: str, connection_info: model.Json) -> bool:
        """Return whether the node has a path to such a volume. Change nothing."""

    def get_password_support(self, node: str) -> model.PasswordSupport:
        """Return in which guests `set_admin_password` can work."""

    def cache_image(self, node: str, image_id: str, *, key: str) -> model.Job:
        """Cache an image. The job's guest is the image; result: {fetched: bool}."""

    # ---- guests -----------------------------------------------------------

    def occupied_nodes(self) -> Set[str]:
        """Return the names of the nodes with guests, or with jobs that have not ended."""

    def list_guests(self, node: str) -> list[model.Guest]:
        """Return all guests of the node, with leftovers and preparations (see `model.Role`)."""

    def get_guest(self, node: str, guest: str) -> model.Guest:
        """Return the guest, or what is left of it. Raise GuestNotFound."""

    def get_console_output(self, node: str, guest: str, lines: int | None = None) -> str:
        """Return the last `lines` of the serial console, or all."""

    def get_diagnostics(self, node: str, guest: str) -> model.Json:
        """Counters of the guest, in the form of the API's diagnostics since 2.48."""

    # ---- jobs -------------------------------------------------------------

    def poll(self, job_id: str) -> model.Job:
        """Return the job as it is now. Raise NotFound."""

    def list_jobs(self, node: str, guest: str | None = None) -> list[model.Job]:
        """Return jobs that have not ended, for a restarted daemon."""

    def read_snapshot(self, job_id: str) -> Iterator[bytes]:
        """Return the bytes a done snapshot job has produced."""

    # ---- life -------------------------------------------------------------

    def spawn(
        self, node: str, spec: model.GuestSpec, *, key: str, power_on: bool = True
    ) -> model.Job:
        """Make the guest with its devices attached and, if asked, start it.

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
        """Stop the guest and remove it; an unknown one is removed already.

        What departed with a move stays: `confirm_migration` removes that. move: the
        one this undoes at its destination. seen: remove only what was listed; fails with
        GuestBusy if the guest has changed since, or if anything but a live migration is
        under way on it.
        result: {destroyed: whether there was something}.
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

        The guest decides what the interrupt (TRIGGER_CRASH_DUMP) does.

        spec: for a hard reboot the definition to use if the node has lost the
        guest; for a rescue the definition to boot instead (its image is the
        rescue image). result: {power_state}.
        """

    def set_admin_password(self, node: str, guest: str, password: str, *, key: str) -> model.Job:
        """Set the administrator's password in a running guest. result: {power_state}."""

    def snapshot(self, node: str, guest: str, *, key: str) -> model.Job:
        """Copy the guest's disk. result: {size (bytes), disk_format, container_format}."""

    def attach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        """Plug the device in; one that is there is replaced. result: {attached: True}.

        The node mounts a share for that.
        """

    def detach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        """Unplug the device. result: {detached: whether it was there}."""

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
        """Dest: make the guest as `spec` says (the new flavor). result: {power_state}."""

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
        """Source: take the departed guest back as it was; undoes `migrate_out`.

        Also if it never left, or was only stopped. devices: those that it is to have
        instead of those it had. result: {power_state}.
        """

    def confirm_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Source: drop what is left of a departed guest. result: {dropped: bool}."""

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
        """Either end: tell whether the guest could move between these nodes.

        Fails with the reason. result: {block_migration: whether disks must be copied}.
        """

    def pre_live_migration(
        self, node: str, spec: model.GuestSpec, move: str, *, key: str
    ) -> model.Job:
        """Dest: make the guest incoming. result: {ticket}."""

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

        The job's result, while it runs as well, has the counters of
        `sim.precopy.Progress` by name (bytes, ms, seconds) and, as soon as the guest
        may start at the destination (with post-copy before the end), {handover}.
        """

    def can_abort_live_migration(self, node: str) -> bool:
        """Return whether operators may abort live migrations from the node.

        A copy of which a move is undone ends all the same.
        """

    def abort_live_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Source: end the running copy; its job fails with MigrationAborted.

        A copy that has not begun will not. Fails with AbortRefused once the guest has
        left (post-copy, completed). result: {aborted: whether a copy was running}.
        """

    def force_complete_live_migration(
        self, node: str, guest: str, move: str, *, key: str
    ) -> model.Job:
        """Source: switch to post-copy where allowed, else pause the guest until copied.

        result: {mode: post-copy or pause}. Fails with MigrationNotRunning.
        """

    def post_live_migration(
        self, node: str, guest: str, handover: model.Handover, *, key: str
    ) -> model.Job:
        """Dest: the guest has arrived; let it run. result: {power_state}."""

    def rollback_live_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        """Dest: drop the incoming guest of this move. result: {dropped: bool}."""

    # ---- the driver itself ------------------------------------------------

    def reload(self, conf: cfg.ConfigOpts) -> None:
        """Apply the changed configuration (SIGHUP).

        Raises OSError or ValueError for what it refuses; the former stays in force.
        """

    def close(self) -> None:
        """Close files and connections. Guests and jobs continue."""
