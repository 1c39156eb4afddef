"""Plans of moves: drain a host, or even out the hosts of a cloud. Nothing is moved."""

from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import shlex

from oslo_utils import uuidutils

from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import copying
from nova_lite.lab.twin import departures
from nova_lite.lab.twin import model as models
from nova_lite.lab.twin import trials
from nova_lite.virt.sim import profile

CLIENT = 'openstack --os-compute-api-version 2.56'
# Hosts whose shares of allocated memory differ by less are even.
EVEN = 0.05
# So many of the fullest and of the emptiest hosts are tried for each move.
TRIED = 5


@dataclasses.dataclass(frozen=True)
class Move:
    """A move. how: LIVE, COLD or STAYS; to: name of a host, or None if there is none

    seconds: how long it takes; stage: why the server stays, or the filter or other stage that
        refused the last hosts; remark: why the server is not moved while it runs, '' if it is
    """

    server: departures.Server
    how: plans.How
    to: str | None
    seconds: float = 0.0
    stage: str = ''
    remark: str = ''

    def commands(self) -> list[str]:
        """Return the commands of the OpenStack client that do it."""
        name = self.server.name if uuidutils.is_uuid_like(self.server.name) else self.server.uuid
        live = '--live-migration ' if self.how is plans.How.LIVE else ''
        first = (
            f'{CLIENT} server migrate {live}--host {shlex.quote(str(self.to))} --wait '
            f'{shlex.quote(name)}'
        )
        return [first] if live else [first, f'{CLIENT} server resize confirm {shlex.quote(name)}']


def drain(model: models.Model, host: str, rates: copying.Rates) -> list[Move]:
    """Return the moves of all servers off a host, the largest first.

    Each move is decided as if those before it had ended.
    """
    behaviour = profile.load(model.profile)
    found: list[Move] = []
    rest = model.on(host)
    while rest:
        staying = []
        for server in rest:
            move = _off(model, server, [host])
            if move.to is None:
                staying.append(move)
                continue
            model.trials.leave(server)
            seconds = copying.seconds(behaviour, server, move.how, to=move.to, rates=rates)
            found.append(dataclasses.replace(move, seconds=seconds))
        if len(staying) == len(rest):
            return [*found, *staying]
        # A server may have to follow another one, which has left.
        rest = [move.server for move in staying]
    return found


def _off(
    model: models.Model,
    server: departures.Server,
    avoided: Collection[str],
    wanted: str | None = None,
) -> Move:
    """Decide how and where a server goes: cold if the hosts refuse a live migration.

    avoided: names of hosts; wanted: the only host
    """
    move = Move(server, plans.How.STAYS, None, stage=server.reason)
    remark = server.reason
    for how in server.ways:
        placing = model.trials.migrate(server, how, avoided, wanted)
        move = Move(server, how, placing.host, stage=placing.stage, remark=remark)
        if placing.host is not None or trials.CHECKS not in placing.refused:
            break
        remark = f'{trials.CHECKS} refuse a live migration'
    return move


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
        moved.add(move.server.uuid)
        model.trials.leave(move.server)
        seconds = copying.seconds(behaviour, move.server, move.how, to=str(move.to), rates=rates)
        found.append(dataclasses.replace(move, seconds=seconds))
    return found


def _next(model: models.Model, moved: set[str]) -> Move | None:
    """Return a move that helps, None if there is none."""
    shares = model.memory_shares()
    order = sorted(shares, key=lambda host: (shares[host].share, host))
    for source in reversed(order[-TRIED:]):
        for target in order[:TRIED]:
            gap = shares[source].share - shares[target].share
            if gap < EVEN:
                break
            for server in _helping(model.on(source), moved, gap * shares[target].capacity):
                move = _off(model, server, (), target)
                if move.to is not None:
                    return move
    return None


def _helping(
    servers: Iterable[departures.Server], moved: set[str], gap_mb: float
) -> list[departures.Server]:
    """Return the servers that narrow a gap, of which the first ones narrow it most."""
    found = [
        each for each in servers if each.uuid not in moved and each.memory_mb < gap_mb and each.ways
    ]
    return sorted(found, key=lambda each: (abs(each.memory_mb - gap_mb / 2), each.uuid))
