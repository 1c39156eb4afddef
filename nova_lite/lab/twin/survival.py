"""Losses of hosts or zones, and the servers that then have no host to be evacuated to."""

from collections.abc import Collection
import dataclasses

from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import model as models


@dataclasses.dataclass(frozen=True)
class Loss:
    """The loss of some hosts. servers: their number; without: (server, stage) of those that stay

    stage: the filter or other stage that refuses the last hosts
    down: those of the hosts that are down already
    """

    what: str
    hosts: int
    servers: int
    without: list[tuple[str, str]]
    down: list[str]


def of_hosts(model: models.Model, what: str, lost: Collection[str]) -> Loss:
    """Evacuate the servers of hosts that fail together, the largest first. Nothing is kept."""
    servers = [server for host in sorted(lost) for server in model.on(host)]
    without = []
    for server in sorted(servers, key=lambda each: (-each.memory_mb, each.uuid)):
        if server.vm_state not in plans.EVACUATED:
            without.append((server.described(), f'a server that is {server.vm_state}'))
            continue
        placing = model.move(server, lost)
        if placing.host is None:
            without.append((server.described(), placing.stage))
    model.undo()
    down = sorted(state.host for state in model.states if state.host in lost and not state.up)
    return Loss(what, len(lost), len(servers), without, down)


def of_each_host(model: models.Model) -> list[Loss]:
    """Return the loss of each host alone."""
    return [of_hosts(model, host, [host]) for host in model.hosts_of()]


def of_zones(model: models.Model, zones: Collection[str]) -> list[Loss]:
    """Return the loss of each of some availability zones."""
    return [of_hosts(model, zone, model.hosts_of(zone)) for zone in zones]
