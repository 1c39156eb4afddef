"""Queues of the daemons on RabbitMQ (I5)."""

from collections.abc import Iterator

from nova_lite.rpc.methods import compute
from nova_lite.rpc.methods import conductor
from nova_lite.rpc.methods import scheduler
from nova_lite.rpc.methods import super_conductor
from nova_lite.verify import findings
from nova_lite.verify import observed

TOP = (super_conductor.SuperConductorAPI.topic, scheduler.SchedulerAPI.topic)


def of_cell(cell: observed.CellSnapshot) -> list[str]:
    """Return names of the queues that must have a consumer on the bus of a CellSnapshot."""
    hosts = sorted(
        service.host
        for service in cell.services
        if service.binary == 'nova-compute' and service.host not in cell.down
    )
    return [conductor.ConductorAPI.topic, *map(compute.queue_of, hosts)]


def of_former_hosts(cell: observed.CellSnapshot) -> list[str]:
    """Return names of the queues that must not be on the bus of a CellSnapshot any more."""
    return [compute.queue_of(host) for host in sorted(cell.former_hosts)]


def consumed(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: the queues of daemons that are up exist on RabbitMQ and have a consumer."""
    for bus, name, consumers in snapshot.queues:
        if not consumers:
            problem = 'does not exist' if consumers is None else 'has no consumer'
            yield findings.Finding('I5', f'queue {name}', f'on the bus of {bus} {problem}')


def owned(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: a host without a compute service has no queue on RabbitMQ."""
    for bus, name in snapshot.unowned_queues:
        yield findings.Finding('I5', f'queue {name}', f'on the bus of {bus} has no owner')
