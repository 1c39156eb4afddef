"""Losses of hosts or zones, and the servers that then have no host to be evacuated to."""

from collections.abc import Collection
import dataclasses

from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import departures
from nova_lite.lab.twin import model as models


@dataclasses.dataclass(frozen=True)
class Loss:
    """The loss of some hosts. servers: their number; down: the hosts that are down already

    placed: (server, host) of those that can be evacuated, in this order
    without: (server, stage) of the others. stage: why they cannot, or the filter or other stage
        that refuses the last hosts
    """

    what: str
    hosts: int
    servers: int
    placed: list[tuple[departures.Server, str]]
    without: list[tuple[departures.Server, str]]
    down: list[str]


def of_hosts(model: models.Model, what: str, lost: Collection[str]) -> Loss:
    """Evacuate the servers of hosts that fail together, the largest first. Nothing is kept."""
    servers = [server for host in sorted(lost) for server in model.on(host)]
    servers.sort(key=lambda each: (-each.memory_mb, each.uuid))
    placed: list[tuple[departures.Server, str]] = []
    without: list[tuple[departures.Server, str]] = []
    rest = servers
    while rest:
        without = []
        for server in rest:
            host, stage = _evacuated(model, server, lost)
            if host is None:
                without.append((server, stage))
            else:
                placed.append((server, host))
        if len(without) == len(rest):
            break
        # A server may have to follow another one, which has a host now.
        rest = [server for server, _stage in without]
    model.trials.undo()
    down = sorted(state.host for state in model.states if state.host in lost and not state.up)
    return Loss(what, len(lost), len(servers), placed, without, down)


def _evacuated(
    model: models.Model, server: departures.Server, lost: Collection[str]
) -> tuple[str | None, str]:
    """Return (the host to which a server is evacuated or None, the stage that refuses it)."""
    refusal = server.refusals.get(plans.How.EVACUATE)
    if refusal is not None:
        return None, refusal
    placing = model.trials.evacuate(server, lost)
    return placing.host, placing.stage


def of_each_host(model: models.Model) -> list[Loss]:
    """Return the loss of each host alone."""
    return [of_hosts(model, host, [host]) for host in model.hosts_of()]


def of_zones(model: models.Model, zones: Collection[str]) -> list[Loss]:
    """Return the loss of each of some availability zones."""
    return [of_hosts(model, zone, model.hosts_of(zone)) for zone in zones]
