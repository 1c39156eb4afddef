"""Live migration at the destination: checks, preparation, arrival, and undo.

Each method starts an effect, or finds the effect that an earlier call has started. Replies are
those of `replies`. Source: reference/nova/moves 4.1 and 4.2.
"""

from collections.abc import Collection
from collections.abc import Sequence
import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import config_drives
from nova_lite.compute import device_allocations
from nova_lite.compute import guests
from nova_lite.compute import port_devices
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.virt import model

LOG = log.getLogger(__name__)


def facts_of(values: model.Json) -> model.NodeFacts:
    """Return the NodeFacts of a dict from JSON, which has no tuples."""
    values = dict(values)
    values['supported_instances'] = tuple(tuple(each) for each in values['supported_instances'])
    values['traits'] = tuple(values['traits'])
    return model.NodeFacts(**values)


class LiveDestination:
    """A part of the ComputeManager: live migrations at their destination, and checks of both ends.

    Each method answers the method of ComputeAPI with its name. move: the uuid of the migration
    """

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- checks ----

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
        reply = self._check(node, instance, key, dest=facts_of(dest))
        return {**reply, 'max_concurrent': self._site.conf.max_concurrent_live_migrations}

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
        source = dict(source)
        self._check_types(node, instance, source.pop('mdev_types', ()))
        return self._check(node, instance, key, source=facts_of(source))

    def _check_types(self, node: str, instance: objects.Instance, types: Collection[str]) -> None:
        """Raise MigrationPreCheckError if the guest would get virtual GPUs of other types."""
        if not types:
            return
        offered = device_allocations.mdev_types(self._site, node, instance.uuid)
        if not offered.issuperset(types):
            raise exception.MigrationPreCheckError(
                reason=f'the guest has mdev types {", ".join(types)}, and host {node} offers '
                f'{", ".join(sorted(offered)) or "none"} for it'
            )

    def _check(
        self, node: str, instance: objects.Instance, key: str, **other: model.NodeFacts
    ) -> replies.Reply:
        """Check with a node's hypervisor whether a guest can be live migrated.

        other: facts of the other end, as source or dest
        Replies {'facts': of this node, 'block_migration': whether disks must be copied}.
        Raises MigrationPreCheckError.
        """
        driver = self._site.driver
        own = driver.get_facts(node)
        spec = guests.spec_of(self._site.conf, instance)
        ends = {'source': own, 'dest': own, **other}
        job = driver.check_live_migration(node, spec, **ends, key=key)
        try:
            return {**replies.reply(driver, job), 'facts': dataclasses.asdict(own)}
        except exception.DriverError as error:
            LOG.info('Refusing the live migration of server %s: %s', instance.uuid, error)
            raise exception.MigrationPreCheckError(reason=error.kwargs['reason']) from error

    # ---- arrival ----

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
        """Claim resources, connect volumes, and prepare the hypervisor for the guest.

        block_devices: with attachments made for the node
        Replies {'ticket', 'block_devices': [{'uuid', 'connection_info'}, ...]}.
        Raises NoCapacity, MoveRefused.
        """
        site = self._site
        arrivals.claim(site, node, instance, block_devices)
        port_devices.put(site, ctxt, node, instance.uuid)
        devices, lost = arrivals.connect(site, ctxt, node, instance, block_devices)
        spec = guests.spec_of(site.conf, instance, block_devices=devices)
        spec = arrivals.with_nodes(site, node, spec, instance)
        spec = config_drives.written(site, spec, instance, devices)
        job = site.driver.pre_live_migration(node, spec, move, key=key)
        reply = replies.reply(site.driver, job)
        if 'done' in reply:
            reply['block_devices'] = arrivals.complete(site, ctxt, devices)
            reply['block_devices'] += arrivals.left_out(site, node, instance.uuid, lost)
        return reply

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
        """Start the guest that its source has handed over. Reply {'power_state'}."""
        driver = self._site.driver
        job = driver.post_live_migration(node, instance.uuid, handover, key=key)
        reply = replies.reply(driver, job)
        if 'done' in reply:
            LOG.info('Server %s was live migrated to node %s', instance.uuid, node)
        return reply

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
        """Undo `pre_live_migration`, even if it was not finished."""
        job = self._site.driver.rollback_live_migration(node, instance.uuid, move, key=key)
        return arrivals.settled(self._site, node, instance.uuid, job)
