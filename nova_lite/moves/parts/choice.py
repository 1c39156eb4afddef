"""The destination of a move: what the scheduler chooses, and after a refusal an alternate."""

import json

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import placement as placement_client
from nova_lite.moves import part

LOG = log.getLogger(__name__)


class Choice(part.Part):
    """move: the saga"""

    def choose(self):
        """Have the scheduler choose and claim; after a refusal claim an alternate.

        Returns the Selection as plain values.
        """
        move, refused = self._move, self._move.data.get('refused')
        if move.repeated or refused:
            # What was claimed unheard is not necessarily what is chosen now.
            move.drop_claim()
        if refused:
            return self._alternate()
        found = move.world.scheduler.select_destinations(
            move.ctxt,
            spec=move.spec(),
            instance_uuids=[move.instance_uuid],
            alternates=move.may_retry,
            beside=sorted(move.held_beside()),
        )[0]
        move.data['alternates'] = [alternate.as_dict() for alternate in found[1:]]
        return found[0].as_dict()

    def _alternate(self):
        move, row, placement = self._move, self._move.row(), self._move.world.placement
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        while move.data['alternates']:
            alternate, *move.data['alternates'] = move.data['alternates']
            request = json.loads(alternate['allocation_request'])
            if placement.claim(move.ctxt, consumer, request, beside=move.held_beside()):
                LOG.info(
                    'Retrying the move of server %s with alternate host %s',
                    row.uuid,
                    alternate['service_host'],
                )
                return alternate
        raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)

    def refuse(self, error):
        """Keep in mind that the destination has refused, or did not answer."""
        move = self._move
        refused = {'host': move.destination.service_host, 'error': str(error)}
        move.data['refused'] = [*move.data.get('refused', ()), refused]
