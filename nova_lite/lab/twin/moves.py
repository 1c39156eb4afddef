"""Plans of moves: drain a host, or even out the hosts of a cloud. Nothing is moved."""

from collections.abc import Iterable
import dataclasses
import shlex

from oslo_utils import uuidutils

from nova_lite import states
from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import copying
from nova_lite.lab.twin import model as models
from nova_lite.virt.sim import profile

CLIENT = 'openstack --os-compute-api-version 2.56'
# Hosts whose shares of allocated memory differ by less are even.
EVEN = 0.05
# So many of the fullest and of the emptiest hosts are tried for each move.
TRIED = 5


@dataclasses.dataclass(frozen=True)
class Move:
    """A move. to: name of a host, or None if there is none; seconds: how long it takes

    stage: the filter or other stage that refused the last hosts
    """

    server: models.Server
    to: str | None
    seconds: float
    stage: str = ''

    def commands(self) -> list[str]:
        """Return the commands of the OpenStack client that do it."""
        name = self.server.name if uuidutils.is_uuid_like(self.server.name) else self.server.uuid
        live = '--live-migration ' if self.server.how is plans.How.LIVE else ''
        first = (
            f'{CLIENT} server migrate {live}--host {shlex.quote(str(self.to))} --wait '
            f'{shlex.quote(name)}'
        )
        return [first] if live else [first, f'{CLIENT} server resize confirm {shlex.quote(name)}']


def drain(model: models.Model, host: str, rates: copying.Rates) -> list[Move]:
    """Return the moves of all servers off a host, the largest first."""
    behaviour = profile.load(model.profile)
    found = []
    for server in model.on(host):
        if server.how is plans.How.STAYS:
            found.append(Move(server, None, 0.0, _why_not(server)))
            continue
        placing = model.move(server, [host])
        duration = copying.seconds(behaviour, server, rates)
        found.append(Move(server, placing.host, duration, placing.stage))
    return found


def _why_not(server: models.Server) -> str:
    state = states.VmState(server.vm_state)
    return plans.HINTS.get(state, f'no server that is {state} can be moved')


def rebalance(model: models.Model, most: int, rates: copying.Rates) -> list[Move]:
    """Return moves from the fullest to the emptiest hosts, by their memory.

    most: number of moves. Each move makes the difference between its two hosts smaller. A server
    is moved once. Disabled hosts neither give nor take.
    """
    behaviour = profile.load(model.profile)
    found: list[Move] = []
    moved: set[str] = set()
    while len(found) < most:
        move = _next(model, moved)
        if move is None:
            break
        server, to = move
        moved.add(server.uuid)
        model.leave(server)
        found.append(Move(server, to, copying.seconds(behaviour, server, rates)))
    return found


def _next(model: models.Model, moved: set[str]) -> tuple[models.Server, str] | None:
    """Return a server and the host that it goes to, None if no move helps."""
    shares = model.memory_shares()
    order = sorted(shares, key=lambda host: (shares[host].share, host))
    for source in reversed(order[-TRIED:]):
        for target in order[:TRIED]:
            gap = shares[source].share - shares[target].share
            if gap < EVEN:
                break
            for server in _helping(model.on(source), moved, gap * shares[target].capacity):
                if model.move(server, (), target).host == target:
                    return server, target
    return None


def _helping(
    servers: Iterable[models.Server], moved: set[str], gap_mb: float
) -> list[models.Server]:
    """Return the servers that narrow a gap, of which the first ones narrow it most."""
    found = [
        each
        for each in servers
        if each.uuid not in moved and each.memory_mb < gap_mb and each.how is not plans.How.STAYS
    ]
    return sorted(found, key=lambda each: (abs(each.memory_mb - gap_mb / 2), each.uuid))
