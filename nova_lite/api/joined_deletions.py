"""Deletions that the API accepts and requests of hosts: those that wait in a cell are joined.

A joint deletion is one transaction of the cell, one of the API database, and one message for each
host. If a member is refused, none is accepted, and each is made by itself.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite.db import joined
from nova_lite.db import transactions
from nova_lite.db.cell import deletions
from nova_lite.lifecycle import counting
from nova_lite.objects import instance as instance_objects
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.runtime import combine

LOG = log.getLogger(__name__)


class Member(typing.NamedTuple):
    """A deletion, and the cell in which the server is."""

    cell: deployment.Cell
    request: deletions.Request


class JoinedDeletions:
    """The deletions of an API process. Safe to use from several threads.

    compute: function that returns a ComputeAPI client onto the bus of a cell
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        api_db: transactions.Database,
        compute: Callable[[deployment.Cell], compute_rpc.ComputeAPI],
    ) -> None:
        self._conf, self._api_db, self._compute = conf, api_db, compute
        self.combiner: combine.Combiner[Member, deletions.Accepted] = combine.Combiner(
            self._together, joined.MOST
        )

    def accept(self, cell: deployment.Cell, request: deletions.Request) -> deletions.Accepted:
        """Record a deletion, stop counting the server in quotas, and request its host to delete it.

        If this process is killed in between, the host or an audit will delete the server, and the
        super-conductor will stop counting it. Raises the errors of `deletions.accept`.
        """
        member = Member(cell, request)
        key = (cell.uuid, *cell.urls)
        return self.combiner.call(member, lambda: self._alone(member), key=key)

    def _alone(self, member: Member) -> deletions.Accepted:
        accepted = self._accept([member])
        self._finish([member], accepted)
        return accepted[0]

    def _together(self, members: Sequence[Member]) -> list[deletions.Accepted] | None:
        accepted = joined.unless_refused(lambda: self._accept(members))
        if accepted is not None:
            self._finish(members, accepted)
        return accepted

    def _accept(self, members: Sequence[Member]) -> list[deletions.Accepted]:
        cell, down_time_s = members[0].cell, self._conf.service_down_time
        requests = [member.request for member in members]
        return cell.db.write(deletions.accept, requests, down_time_s)

    def _finish(self, members: Sequence[Member], accepted: Sequence[deletions.Accepted]) -> None:
        """Do what follows the record. The deletions take place even if this process is killed."""
        counting.stop(self._api_db, [each.row.uuid for each in accepted])
        of_host: dict[str, list[tuple[context.RequestContext, deletions.Accepted]]] = {}
        for member, each in zip(members, accepted, strict=True):
            if each.answers:
                of_host.setdefault(each.row.host, []).append((member.request.ctxt, each))
        for host, found in of_host.items():
            self._send(members[0].cell, host, found)

    def _send(
        self,
        cell: deployment.Cell,
        host: str,
        found: Sequence[tuple[context.RequestContext, deletions.Accepted]],
    ) -> None:
        compute, ctxt = self._compute(cell), found[0][0]
        orders = [
            (each_ctxt, instance_objects.Instance.for_deletion(each.row))
            for each_ctxt, each in found
        ]
        try:
            if len(orders) == 1:
                compute.delete_instance(ctxt, host=host, instance=orders[0][1])
            else:
                values = [
                    {'context': each_ctxt.to_wire(), 'instance': instance}
                    for each_ctxt, instance in orders
                ]
                compute.delete_instances(ctxt, host=host, deletions=values)
        except exception.Unavailable as error:
            LOG.warning(
                'Cannot cast the deletion of servers %s to host %s: %s. The audit of the host '
                'deletes them later.',
                [instance.uuid for _ctxt, instance in orders],
                host,
                error,
            )
