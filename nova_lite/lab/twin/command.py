"""The output of the commands `nova-lite twin ACTION`."""

import argparse
from collections.abc import Sequence
import json
import math
import shlex

from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import copying
from nova_lite.lab.twin import fits
from nova_lite.lab.twin import known_names
from nova_lite.lab.twin import model as models
from nova_lite.lab.twin import moves
from nova_lite.lab.twin import survival
from nova_lite.lab.twin import trials
from nova_lite.terminal import plurals
from nova_lite.terminal import text_tables

# Names of servers in a line.
SHOWN = 3


def fit(args: argparse.Namespace) -> int:
    """Show where servers of a flavor go. Return 1 if not all of them get a host."""
    known_names.require(args.state_dir, flavor=args.flavor)
    project_id = trials.PROJECT
    if args.project is not None:
        project_id = known_names.project_id(args.state_dir, args.project, args.project_domain)
    elif args.project_domain is not None:
        raise client.WrongUse(reason='--project-domain needs a --project. Add it')
    with models.of(args.state_dir) as model:
        found = fits.find(
            model,
            args.flavor,
            args.count,
            project_id=project_id,
            image=args.image,
            group=args.group,
        )
    if args.json:
        document = {'flavor': found.flavor, 'asked': found.asked, 'placed': found.placed}
        print(json.dumps({**document, 'hosts': found.hosts, 'refused': found.refused}, indent=1))
    else:
        text_tables.show(('Host', 'Servers'), list(found.hosts.items()))
        servers = plurals.of(found.asked, 'server')
        verb = 'gets' if found.asked == 1 else 'get'
        print(f'{found.placed} of {servers} of {found.flavor} {verb} a host.')
        if found.refused:
            text = ', '.join(f'{stage} {count}' for stage, count in found.refused.items())
            print(f'Hosts that were refused for the next server: {text}.')
    return 0 if found.placed == found.asked else 1


def survives(args: argparse.Namespace) -> int:
    """Show what may fail. Return 1 if servers of a loss have no host."""
    known_names.require(args.state_dir, hosts=args.host or (), zones=args.zone or ())
    with models.of(args.state_dir) as model:
        if args.zone:
            found = survival.of_zones(model, args.zone)
        elif args.host:
            found = [survival.of_hosts(model, ', '.join(args.host), args.host)]
        elif args.zones:
            found = survival.of_zones(model, model.zones())
        else:
            found = survival.of_each_host(model)
    if args.json:
        print(json.dumps([described_loss(each) for each in found], indent=1))
    else:
        rows = [_row(each) for each in found]
        text_tables.show(('Lost', 'Hosts', 'Servers', 'Without a host', 'Which, and why'), rows)
    return 1 if any(each.without for each in found) else 0


def described_loss(loss: survival.Loss) -> dict[str, object]:
    without = [
        {'server': server.described(), 'id': server.uuid, 'refused_by': stage}
        for server, stage in loss.without
    ]
    placed = [{'server': server.name, 'id': server.uuid, 'to': to} for server, to in loss.placed]
    document = {'lost': loss.what, 'hosts': loss.hosts, 'down': loss.down}
    return {**document, 'servers': loss.servers, 'placed': placed, 'without': without}


def _row(loss: survival.Loss) -> Sequence[object]:
    named = [f'{server.described()}: {stage}' for server, stage in loss.without[:SHOWN]]
    if len(loss.without) > SHOWN:
        named.append(f'{len(loss.without) - SHOWN} others')
    what = loss.what
    if loss.down:
        # Hosts that are lost alone are named by the loss.
        what += ' (down already)' if loss.hosts == 1 else f' ({len(loss.down)} down already)'
    return what, loss.hosts, loss.servers, len(loss.without), ', '.join(named)


def drain(args: argparse.Namespace) -> int:
    """Show the plan of a drain. Return 1 if servers have no place. Raise HostDown."""
    known_names.require(args.state_dir, hosts=[args.host])
    known_names.require_up(args.state_dir, args.host)
    with models.of(args.state_dir) as model:
        found = moves.drain(model, args.host, _rates(args))
        per_host = model.copies_per_host
    first = f'openstack compute service set --disable {shlex.quote(args.host)} nova-compute'
    _show(args, found, [first], per_host=per_host)
    return 1 if any(move.to is None for move in found) else 0


def rebalance(args: argparse.Namespace) -> int:
    """Show the moves that make the hosts more even."""
    with models.of(args.state_dir) as model:
        before = model.memory_shares()
        found = moves.rebalance(model, args.moves, _rates(args))
        after = model.memory_shares()
        per_host = model.copies_per_host
    _show(args, found, [], per_host=per_host)
    if not args.json:
        print(f'Allocated memory of hosts: {_spread(before)} now, {_spread(after)} afterwards.')
    return 0


def _rates(args: argparse.Namespace) -> copying.Rates:
    return copying.Rates(args.bandwidth, args.dirty_rate)


def _spread(shares: dict[str, models.Memory]) -> str:
    each = [memory.share for memory in shares.values()] or [0.0]
    return f'{min(each):.0%} to {max(each):.0%}'


def _show(
    args: argparse.Namespace,
    found: Sequence[moves.Move],
    first: Sequence[str],
    *,
    per_host: int,
) -> None:
    """Print moves, how long they take, and the commands that do them. per_host: see copying"""
    going = [move for move in found if move.to is not None]
    copies = [
        (move.server.host if move.how is plans.How.LIVE else None, move.seconds) for move in going
    ]
    predicted = copying.together(copies, args.parallel, per_host)
    commands = [*first, *(line for move in going for line in move.commands())]
    if args.json:
        document = {
            'moves': [described(move) for move in found],
            'parallel': args.parallel,
            'seconds': None if math.isinf(predicted) else round(predicted, 1),
            'commands': commands,
        }
        print(json.dumps(document, indent=1))
        return
    if not found:
        print('Nothing to move.')
        return
    rows = [
        (
            move.server.described(),
            str(move.how),
            move.server.memory_mb,
            move.to or f'none ({move.stage})',
            _duration(move.seconds) if move.to else '',
            move.remark,
        )
        for move in found
    ]
    text_tables.show(('Server', 'How', 'MiB', 'To', 'Seconds', 'Not live, because'), rows)
    stay = len(found) - len(going)
    text = _together(len(going), args.parallel, predicted)
    without = f'{plurals.of(stay, "server")} {"has" if stay == 1 else "have"} no place'
    print(f'{text}; {without}.' if stay else f'{text}.')
    print('\n'.join(commands))


def _together(count: int, parallel: int, seconds: float) -> str:
    """Return how long a number of moves takes, at most `parallel` of them at a time."""
    each, one = f'{plurals.of(count, "move")}, {parallel} at a time', count == 1
    if math.isinf(seconds):
        ends = 'does not end' if one else 'do not end'
        return f'{each}, {ends}: guests write their memory faster than it is copied'
    return f'{each}, {"takes" if one else "take"} {_duration(seconds)} s'


def described(move: moves.Move) -> dict[str, object]:
    return {
        'server': move.server.name,
        'id': move.server.uuid,
        'name': move.server.label,
        'how': str(move.how),
        'not_live': move.remark or None,
        'memory_mb': move.server.memory_mb,
        'from': move.server.host,
        'to': move.to,
        'refused_by': move.stage or None,
        'seconds': None if math.isinf(move.seconds) else round(move.seconds, 1),
    }


def _duration(seconds: float) -> str:
    return 'without an end' if math.isinf(seconds) else f'{seconds:.1f}'
