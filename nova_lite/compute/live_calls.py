"""Answers the methods of ComputeAPI about live migration and evacuation, by delegation."""

from nova_lite.compute import evacuate
from nova_lite.compute import live
from nova_lite.compute import live_dest


class LiveCalls:
    """A part of the ComputeManager.

    move: the migration's uuid; each call that has a key answers as `replies` says
    """

    def __init__(self, site):
        self._site = site

    # ---- the source ----

    def check_can_live_migrate_source(self, ctxt, host, instance, *, dest, key):
        node = self._site.node_of(host, instance)
        return live_dest.check(self._site, node, instance, key=key, dest=dest)

    def take_live_migration_turn(self, ctxt, host, instance, move):
        return live.Source(self._site, ctxt, host, instance, move).take_turn()

    def live_migration(self, ctxt, host, instance, *, ticket, block_migration, move, key):
        source = live.Source(self._site, ctxt, host, instance, move)
        return source.copy(key=key, ticket=ticket, block_migration=block_migration)

    def post_live_migration(self, ctxt, host, instance, *, move, key):
        return live.Source(self._site, ctxt, host, instance, move).finish(key=key)

    def rollback_live_migration(self, ctxt, host, instance, *, move, key, gone):
        return live.Source(self._site, ctxt, host, instance, move).roll_back(key=key, gone=gone)

    def live_migration_abort(self, ctxt, host, instance_uuid, migration_uuid):
        live.fulfil(self._site, ctxt, host, instance_uuid, migration_uuid, wish=live.ABORT)

    def live_migration_force_complete(self, ctxt, host, instance_uuid, migration_uuid):
        live.fulfil(self._site, ctxt, host, instance_uuid, migration_uuid, wish=live.FORCE_COMPLETE)

    # ---- the destination ----

    def check_can_live_migrate_destination(self, ctxt, host, instance, *, node, source, key):
        return live_dest.check(self._site, node, instance, key=key, source=source)

    def pre_live_migration(self, ctxt, host, instance, *, node, block_devices, move, key):
        coming = live_dest.Destination(self._site, ctxt, node, instance, move)
        return coming.prepare(block_devices, key=key)

    def post_live_migration_at_destination(
        self, ctxt, host, instance, *, node, handover, move, key
    ):
        return live_dest.Destination(self._site, ctxt, node, instance, move).arrive(
            handover, key=key
        )

    def rollback_live_migration_at_destination(self, ctxt, host, instance, *, node, move, key):
        return live_dest.Destination(self._site, ctxt, node, instance, move).roll_back(key=key)

    # ---- evacuation ----

    def rebuild_instance(self, ctxt, host, instance, *, node, block_devices, power_on, key):
        return evacuate.rebuild(
            self._site, ctxt, node, instance, block_devices, key=key, power_on=power_on
        )

    def undo_rebuild(self, ctxt, host, instance, *, node, move, key):
        return evacuate.take_back(self._site, node, instance.uuid, move, key=key)
