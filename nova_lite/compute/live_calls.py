"""Answers the methods of ComputeAPI about live migration and evacuation, by delegation."""

from collections.abc import Sequence

from nova_lite import context
from nova_lite.compute import evacuate
from nova_lite.compute import live_dest
from nova_lite.compute import live_source
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.virt import model


class LiveCalls:
    """A part of the ComputeManager.

    move: the migration's uuid; the reply of each method with a key is one of `replies`
    """

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- the source ----

    def check_can_live_migrate_source(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        dest: model.Json,
        key: str,
    ) -> replies.Reply:
        node = self._site.node_of(host, instance)
        reply = live_dest.check(self._site, node, instance, key=key, dest=dest)
        return {**reply, 'max_concurrent': self._site.conf.max_concurrent_live_migrations}

    def take_live_migration_turn(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, move: str
    ) -> replies.Reply:
        return live_source.Source(self._site, ctxt, host, instance, move).take_turn()

    def live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        ticket: model.Ticket,
        block_migration: bool,
        move: str,
        key: str,
    ) -> replies.Reply:
        source = live_source.Source(self._site, ctxt, host, instance, move)
        return source.copy(key=key, ticket=ticket, block_migration=block_migration)

    def post_live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        move: str,
        key: str,
    ) -> replies.Reply:
        return live_source.Source(self._site, ctxt, host, instance, move).finish(key=key)

    def rollback_live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        move: str,
        key: str,
        gone: bool,
    ) -> replies.Reply:
        return live_source.Source(self._site, ctxt, host, instance, move).roll_back(
            key=key, gone=gone
        )

    def live_migration_abort(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        live_source.fulfil(
            self._site, ctxt, host, instance_uuid, migration_uuid, command=live_source.ABORT
        )

    def live_migration_force_complete(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        live_source.fulfil(
            self._site,
            ctxt,
            host,
            instance_uuid,
            migration_uuid,
            command=live_source.FORCE_COMPLETE,
        )

    # ---- the destination ----

    def check_can_live_migrate_destination(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        source: model.Json,
        key: str,
    ) -> replies.Reply:
        return live_dest.check(self._site, node, instance, key=key, source=source)

    def pre_live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
        move: str,
        key: str,
    ) -> replies.Reply:
        destination = live_dest.Destination(self._site, ctxt, node, instance, move)
        return destination.prepare(block_devices, key=key)

    def post_live_migration_at_destination(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        handover: model.Handover,
        move: str,
        key: str,
    ) -> replies.Reply:
        return live_dest.Destination(self._site, ctxt, node, instance, move).arrive(
            handover, key=key
        )

    def rollback_live_migration_at_destination(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return live_dest.Destination(self._site, ctxt, node, instance, move).roll_back(key=key)

    # ---- evacuation ----

    def rebuild_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
        power_on: bool,
        key: str,
    ) -> replies.Reply:
        return evacuate.rebuild(
            self._site, ctxt, node, instance, block_devices, key=key, power_on=power_on
        )

    def undo_rebuild(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return evacuate.take_back(self._site, node, instance.uuid, move, key=key)
