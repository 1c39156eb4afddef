"""Signatures about live migrations.

They reply as those of cold moves: a repeated call with the same key polls. source, dest: the
driver's NodeFacts of that node, as a dict.
"""

from nova_lite import rpc
from nova_lite.rpc.methods.compute import arguments


class LiveMigration:
    """Methods of the source and the destination of a live migration."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def check_can_live_migrate_destination(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        source: arguments.Json,
        key: str,
    ) -> arguments.Json:
        """Check whether the destination accepts the guest. source: NodeFacts of the source

        Replies {'facts': of this node, 'block_migration': whether disks must be copied}.
        Raises MigrationPreCheckError.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def check_can_live_migrate_source(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        dest: arguments.Json,
        key: str,
    ) -> arguments.Json:
        """Check whether the guest can leave the source. dest: NodeFacts of the destination

        Replies and errors are those of check_can_live_migrate_destination, with {'max_concurrent':
        number of migrations that may leave the host at the same time}.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def take_live_migration_turn(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, move: str
    ) -> arguments.Json:
        """Source: wait until fewer migrations than the limit leave the host.

        Raises LiveMigrationAborted, as `live_migration` does.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def pre_live_migration(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        block_devices: arguments.Devices,
        move: str,
        key: str,
    ) -> arguments.Json:
        """Destination: claim resources, connect volumes, prepare for the guest.

        block_devices: with attachments for the destination
        Replies {'ticket', 'block_devices': [{'uuid', 'connection_info'}]}.
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def live_migration(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        ticket: arguments.Json,
        block_migration: bool,
        move: str,
        key: str,
    ) -> arguments.Json:
        """Source: copy the running guest. Replies {'handover', counters in bytes}."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def post_live_migration_at_destination(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        handover: arguments.Json,
        move: str,
        key: str,
    ) -> arguments.Json:
        """Destination: start the guest. Replies {'power_state'}."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def post_live_migration(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, *, move: str, key: str
    ) -> arguments.Json:
        """Source: remove the guest after the end of the copy."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def rollback_live_migration(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        move: str,
        key: str,
        gone: bool,
    ) -> arguments.Json:
        """Source: run the guest as before the migration.

        gone: the server was deleted, so remove the guest
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def rollback_live_migration_at_destination(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        move: str,
        key: str,
    ) -> arguments.Json:
        """Destination: undo pre_live_migration."""

    @rpc.cast(since='1.0')
    def live_migration_abort(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: abort the migration. The command is recorded."""

    @rpc.cast(since='1.0')
    def live_migration_force_complete(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: force the copy to complete. The command is recorded."""
