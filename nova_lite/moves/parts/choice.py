"""The destination of a move: what the scheduler chooses, and after a refusal an alternate."""

import json

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import placement as placement_client
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import group_policies
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.objects import selection

LOG = log.getLogger(__name__)

# A note: Selections, as plain values, that may take the place of one that refuses.
ALTERNATES = saga.Result('alternates', list[saga.Data])


class Choice(part.Part):
    """move: the saga"""

    def choose(self):
        """Choose and claim by the scheduler; after a refusal claim an alternate.

        Returns the Selection.
        """
        move, refused = self.move, steps.REFUSED in self.results
        if move.repeated or refused:
            # What was claimed unheard is not necessarily what is chosen now.
            move.drop_claim()
        if refused:
            return self._alternate()
        found = self.select(move.spec(), alternates=move.may_retry)
        self.results[ALTERNATES] = [alternate.as_dict() for alternate in found[1:]]
        return found[0]

    def select(self, spec, *, alternates=False, beside=None):
        """Choose and claim by the scheduler. Return Selections, the chosen one first.

        beside: None: what the saga says
        """
        move = self.move
        found = move.world.scheduler.select_destinations(
            move.ctxt,
            spec=spec,
            instance_uuids=[move.instance_uuid],
            alternates=alternates,
            beside=sorted(move.held_beside()) if beside is None else beside,
        )
        return found[0]

    def _alternate(self):
        move, row, placement = self.move, self.move.row(), self.move.world.placement
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        while self.results[ALTERNATES]:
            first, *self.results[ALTERNATES] = self.results[ALTERNATES]
            alternate = selection.Selection.from_dict(first)
            request = json.loads(alternate.allocation_request)
            if placement.claim(move.ctxt, consumer, request, beside=move.held_beside()):
                host = alternate.service_host
                LOG.info('Retrying the move of server %s with alternate host %s', row.uuid, host)
                return alternate
        raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)

    def group(self):
        """The group that the server was in when it was asked, as group_places.check takes it."""
        return group_policies.find(self.move.world.api_db, self.results.get(steps.GROUP))

    def admit(self, connection, group, *, changes=None, columns=None, tasks=None):
        """Record the destination, unless the group of the server forbids it by now.

        group: of `group`, read outside of this transaction
        changes: columns of the server; columns: further ones of the migration
        tasks: that the server may have; None: those of the saga
        """
        move = self.move
        group_places.check(connection, move.instance_uuid, move.dest_host, group)
        expected = tasks or move.tasks
        instances.update(connection, move.instance_uuid, changes or {}, expect_task=expected)
        migrations.update(connection, move.uuid, {**self.columns(connection), **(columns or {})})

    def columns(self, connection):
        """The columns of the migration that name the destination."""
        host, node = self.move.dest_host, self.move.destination.nodename
        nodes = compute_nodes.every(connection, host=host, hypervisor_hostname=node)
        address = nodes[0].host_ip if nodes else None
        return {'dest_compute': host, 'dest_node': node, 'dest_host': address}

    def refuse(self, error):
        """Keep in mind that the destination has refused, or did not answer."""
        move = self.move
        refusal = steps.Refusal(host=move.dest_host, error=str(error))
        self.results[steps.REFUSED] = [*(self.results.get(steps.REFUSED) or ()), refusal]
