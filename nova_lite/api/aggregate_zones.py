"""What a change of aggregates may do to availability zones.

A host is in one zone at most, and does not change its zone while it has
servers. Source: reference/scheduling 10.
"""

from nova_lite import exception
from nova_lite.db.api import aggregates
from nova_lite.db.cell import instances


def admit(req, aggregate_id, change, action):
    """Raise AggregateActionRefused when `change` would move servers to another zone.

    change(aggregate) -> the aggregate as it would be; action: for the message
    Raises AggregateNotFound.
    """
    before = req.app.api_db.read(aggregates.every)
    after = changed(before, aggregate_id, change)
    _refuse_second_zone(after, aggregate_id, action)
    moving = _moving(before, after, req.conf.default_availability_zone)
    if moving and _count_servers(req, moving):
        raise exception.AggregateActionRefused(
            action=action,
            aggregate_id=aggregate_id,
            reason='One or more hosts contain instances in this zone',
        )


def recheck(connection, aggregate_id, change, action):
    """As `admit`, in the transaction of the change and for what this database tells."""
    aggregates.lock(connection)
    after = changed(aggregates.every(connection), aggregate_id, change)
    _refuse_second_zone(after, aggregate_id, action)


def changed(every, aggregate_id, change):
    """All aggregates as they would be; raises AggregateNotFound."""
    if all(each.id != aggregate_id for each in every):
        raise exception.AggregateNotFound(aggregate_id=aggregate_id)
    return [change(each) if each.id == aggregate_id else each for each in every]


def _refuse_second_zone(after, aggregate_id, action):
    target = next(each for each in after if each.id == aggregate_id)
    if not target.availability_zone:
        return
    hosts = set(target.hosts)
    others = sorted(
        {
            each.availability_zone
            for each in after
            if each.availability_zone
            and each.availability_zone != target.availability_zone
            and hosts & set(each.hosts)
        }
    )
    if others:
        raise exception.AggregateActionRefused(
            action=action,
            aggregate_id=aggregate_id,
            reason=f'One or more hosts already in availability zone(s) {others}',
        )


def _moving(before, after, default):
    """Hosts whose zone would be another."""
    old, new = aggregates.zones_of(before), aggregates.zones_of(after)
    return sorted(host for host in {*old, *new} if old.get(host, default) != new.get(host, default))


def _count_servers(req, hosts):
    """How many servers are on the hosts; a cell that is down counts as having some."""
    cells = req.app.cells.every(cell0=False)
    answers = req.app.cells.scatter(instances.count_on, hosts, cells=cells)
    return sum(answer if isinstance(answer, int) else 1 for answer in answers.values())
