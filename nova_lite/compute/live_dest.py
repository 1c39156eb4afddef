"""Live migration at the destination: checks, preparation, arrival, and undo.

Each function starts an effect, or finds the effect that an earlier call has started. Replies are
those of `replies`. Source: reference/nova/moves 4.1 and 4.2.
"""

from collections.abc import Sequence
import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import config_drives
from nova_lite.compute import guests
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


def check(
    site: site.Site,
    node: str,
    instance: objects.Instance,
    *,
    key: str,
    source: model.Json | None = None,
    dest: model.Json | None = None,
) -> replies.Reply:
    """Check with a node's hypervisor whether a guest can be live migrated.

    source or dest: facts of the other end, as a dict
    Replies {'facts': of this node, 'block_migration': whether disks must be copied}.
    Raises MigrationPreCheckError.
    """
    own = site.driver.get_facts(node)
    job = site.driver.check_live_migration(
        node,
        guests.spec_of(site.conf, instance),
        source=facts_of(source) if source else own,
        dest=facts_of(dest) if dest else own,
        key=key,
    )
    try:
        return {**replies.reply(site.driver, job), 'facts': dataclasses.asdict(own)}
    except exception.DriverError as error:
        LOG.info('Refusing the live migration of server %s: %s', instance.uuid, error)
        raise exception.MigrationPreCheckError(reason=error.kwargs['reason']) from error


class Destination:
    """One live migration at its destination node.

    move: the migration's uuid; block_devices: with attachments made for the node
    """

    def __init__(
        self,
        site: site.Site,
        ctxt: context.RequestContext,
        node: str,
        instance: objects.Instance,
        move: str,
    ) -> None:
        self._site, self._ctxt, self._node = site, ctxt, node
        self._instance, self._move = instance, move

    def prepare(
        self, block_devices: Sequence[block_device.BlockDevice], *, key: str
    ) -> replies.Reply:
        """Claim resources, connect volumes, and prepare the hypervisor for the guest.

        Replies {'ticket', 'block_devices': [{'uuid', 'connection_info'}, ...]}.
        Raises NoCapacity, MoveRefused.
        """
        site, instance = self._site, self._instance
        arrivals.claim(site, self._node, instance, block_devices)
        devices, lost = arrivals.connect(site, self._ctxt, self._node, instance, block_devices)
        spec = guests.spec_of(site.conf, instance, block_devices=devices)
        spec = config_drives.written(site.conf, spec, instance, devices)
        job = site.driver.pre_live_migration(self._node, spec, self._move, key=key)
        reply = replies.reply(site.driver, job)
        if 'done' in reply:
            reply['block_devices'] = arrivals.complete(site, self._ctxt, devices)
            reply['block_devices'] += arrivals.left_out(site, self._node, instance.uuid, lost)
        return reply

    def arrive(self, handover: model.Handover, *, key: str) -> replies.Reply:
        """Start the guest that its source has handed over. Reply {'power_state'}."""
        uuid = self._instance.uuid
        job = self._site.driver.post_live_migration(self._node, uuid, handover, key=key)
        reply = replies.reply(self._site.driver, job)
        if 'done' in reply:
            LOG.info('Server %s was live migrated to node %s', uuid, self._node)
        return reply

    def roll_back(self, *, key: str) -> replies.Reply:
        """Undo `prepare`, even if it was not finished."""
        uuid = self._instance.uuid
        job = self._site.driver.rollback_live_migration(self._node, uuid, self._move, key=key)
        reply = replies.reply(self._site.driver, job)
        if 'done' in reply:
            self._site.claims.settle(self._node, uuid)
        return reply
