"""The cell conductor: writes a cell's database on behalf of its computes.

Every method is one named thing that happened. `host` is who says so.
"""

from nova_lite import rpc


class ConductorAPI(rpc.Interface):
    """One or more per cell, on the cell's bus."""

    topic, version = 'conductor', '1.0'

    # ---- hosts ----

    @rpc.call(since='1.0')
    def beat(self, ctxt, hosts):
        """Heartbeat of every host of a process: [host, ...].

        Returns {host: {'disabled': bool, 'forced_down': bool}}.
        """

    @rpc.call(since='1.0')
    def report_nodes(self, ctxt, nodes):
        """Add or update compute nodes: [{column: value}, ...], all of a process."""

    @rpc.call(since='1.0')
    def host_instances(self, ctxt, host):
        """What the database says is on a host: [Instance, ...], hidden copies too."""

    # ---- building ----

    @rpc.call(since='1.0')
    def build_started(self, ctxt, host, instance_uuid, node):
        """The host takes the build: building/scheduling becomes building/spawning.

        Returns True, or False when the server is gone or being deleted.
        """

    @rpc.call(since='1.0')
    def build_finished(self, ctxt, host, instance_uuid, network_info, block_devices, power_state):
        """The guest runs: the server becomes active, the build's event succeeds.

        block_devices: [{'uuid': ..., changed columns}, ...]
        Returns False when the server was deleted meanwhile: the caller cleans up.
        """

    @rpc.call(since='1.0')
    def build_failed(self, ctxt, host, instance_uuid, error, details, code):
        """The build is over for good: the server becomes error with a fault."""

    @rpc.cast(since='1.0')
    def reschedule_build(self, ctxt, host, instance, alternates, error, details):
        """The build failed here for a reason another host may not share.

        instance: Instance; alternates: [Selection, ...] not yet tried, in order
        """

    # ---- actions of one step ----

    @rpc.call(since='1.0')
    def action_started(self, ctxt, host, instance_uuid, event, task_state, expect_task):
        """The host begins an action's event; optionally the task state moves on.

        task_state: new task state or None to leave it; expect_task: [allowed, ...]
        Raises StateChanged when the server's task is another one by now.
        """

    @rpc.call(since='1.0')
    def action_finished(self, ctxt, host, instance_uuid, event, changes, expect_task):
        """The action's event succeeded: apply `changes` (columns) and clear the task.

        Returns False when the task was no longer one of `expect_task`.
        """

    @rpc.call(since='1.0')
    def action_failed(self, ctxt, host, instance_uuid, event, changes, error, details):
        """The action's event failed: apply `changes`, clear the task, add a fault."""

    @rpc.call(since='1.0')
    def instance_deleted(self, ctxt, host, instance_uuid, event):
        """The host has removed guest, ports and volumes: the record ends."""

    @rpc.call(since='1.0')
    def update_network_info(self, ctxt, host, instance_uuid, network_info):
        """Store what the network service says of a server's ports."""

    @rpc.call(since='1.0')
    def update_block_devices(self, ctxt, host, instance_uuid, block_devices, gone):
        """Change block devices ([{'uuid', columns}]) and drop those whose uuids are gone."""

    @rpc.call(since='1.0')
    def power_states(self, ctxt, host, states):
        """What the hypervisor says: {server uuid: power state}, of those that differ."""

    @rpc.call(since='1.0')
    def block_devices(self, ctxt, instance_uuid):
        """The block devices of a server: [BlockDevice, ...]."""
