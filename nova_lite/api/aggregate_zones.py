"""Check the effects of changed aggregates on availability zones.

A host is in one zone at most, and does not change its zone while it has
servers. Source: reference/nova/scheduling 10.
"""

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import request
from nova_lite.db.api import aggregates
from nova_lite.db.cell import host_usage


class ChangeRefused(exception.Invalid):
    """The zone of an aggregate cannot be changed. Nova answers 400 here, and 409 for hosts."""

    msg = exception.AggregateActionRefused.msg


@dataclasses.dataclass(frozen=True)
class Plan:
    """A change of one aggregate, to be checked.

    change: function of an aggregate that returns the changed aggregate; action: name for messages
    refusal: class of the error to raise
    """

    aggregate_id: int
    change: Callable[[aggregates.Aggregate], aggregates.Aggregate]
    action: str
    refusal: type[exception.NovaLiteError] = exception.AggregateActionRefused

    def admit(self, req: request.Request) -> None:
        """Raise the refusal when servers would be in another zone.

        Raises AggregateNotFound.
        """
        before = req.app.api_db.read(aggregates.every)
        after = self._changed(before)
        self._refuse_second_zone(after)
        moving = _moving(before, after, req.conf.default_availability_zone)
        if moving and _count_servers(req, moving):
            raise self.refuse('One or more hosts contain instances in this zone')

    def recheck(self, connection: sa.Connection) -> None:
        """Check again, in the transaction of the change, by the records of this database."""
        aggregates.lock(connection)
        self._refuse_second_zone(self._changed(aggregates.every(connection)))

    def _changed(self, every: Sequence[aggregates.Aggregate]) -> list[aggregates.Aggregate]:
        if all(each.id != self.aggregate_id for each in every):
            raise exception.AggregateNotFound(aggregate_id=self.aggregate_id)
        return [self.change(each) if each.id == self.aggregate_id else each for each in every]

    def _refuse_second_zone(self, after: Sequence[aggregates.Aggregate]) -> None:
        target = next(each for each in after if each.id == self.aggregate_id)
        if not target.availability_zone:
            return
        hosts = set(target.hosts)
        zones = {
            each.availability_zone
            for each in after
            if each.availability_zone and hosts & set(each.hosts)
        }
        others = sorted(zones - {target.availability_zone})
        if others:
            raise self.refuse(f'One or more hosts already in availability zone(s) {others}')

    def refuse(self, reason: str) -> exception.NovaLiteError:
        """Return the refusal, for a reason."""
        return self.refusal(action=self.action, aggregate_id=self.aggregate_id, reason=reason)


def _moving(
    before: Sequence[aggregates.Aggregate], after: Sequence[aggregates.Aggregate], default: str
) -> list[str]:
    """Return hosts whose zone would be another."""
    old, new = aggregates.zones_of(before), aggregates.zones_of(after)
    return sorted(host for host in {*old, *new} if old.get(host, default) != new.get(host, default))


def _count_servers(req: request.Request, hosts: Sequence[str]) -> int:
    """Return the number of servers on the hosts. A cell that is down counts as having some."""
    cells = req.app.cells.every(cell0=False)
    answers = req.app.cells.scatter(host_usage.count_on, hosts, cells=cells)
    return sum(answer if isinstance(answer, int) else 1 for answer in answers.values())
