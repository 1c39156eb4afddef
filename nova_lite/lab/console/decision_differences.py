"""The differences of two scheduling decisions, as JSON and as text."""

from collections.abc import Iterator
import typing

from nova_lite.terminal import pipes
from nova_lite.terminal import plurals
from nova_lite.terminal import text_tables

Json: typing.TypeAlias = dict[str, typing.Any]

# Of a decision, what is compared as a whole, and what is only printed.
COMPARED = ('chosen', 'error')
SHOWN = ('instance_uuid', 'request_id', 'at', 'more', *COMPARED)
# Digits of a weight that are compared and printed.
DIGITS = 3
NONE = '-'


def find(a: Json, b: Json) -> Json:
    """Return the differences of two decisions, each as SchedulerAPI.why returns it.

    hosts: those whose stage, reason or weights differ, with None for a host that one lacks
    alike: the number of the other hosts; same: whether nothing that was compared differs
    """
    one, other = _by_host(a), _by_host(b)
    pairs = {host: (one.get(host), other.get(host)) for host in sorted(one.keys() | other.keys())}
    hosts = [_pair(*pair, host=host) for host, pair in pairs.items() if pair[0] != pair[1]]
    notes = [dict(map(tuple, each['request_filters'])) for each in (a, b)]
    filters = [
        _pair(notes[0].get(name), notes[1].get(name), name=name)
        for name in sorted(notes[0].keys() | notes[1].keys())
        if notes[0].get(name) != notes[1].get(name)
    ]
    queries = _pair(
        [each for each in a['queries'] if each not in b['queries']],
        [each for each in b['queries'] if each not in a['queries']],
    )
    differ = (*hosts, *filters, *queries['a'], *queries['b'])
    return {
        **_pair(*({name: each[name] for name in SHOWN} for each in (a, b))),
        'same': not differ and all(a[name] == b[name] for name in COMPARED),
        'request_filters': filters,
        'queries': queries,
        'hosts': hosts,
        'alike': len(pairs) - len(hosts),
    }


def _pair(a: typing.Any, b: typing.Any, **named: str) -> Json:
    return {**named, 'a': a, 'b': b}


def _by_host(decision: Json) -> dict[str, Json]:
    """Return {host: its stage, reason and weights}."""
    return {
        each['host']: {
            'stage': each['stage'],
            'reason': each['reason'] or '',
            'weight': _rounded(each['weight']),
            'weights': {name: _rounded(weight) for name, weight in each['weights'].items()},
        }
        for each in decision['hosts']
    }


def _rounded(weight: float | None) -> float | None:
    return None if weight is None else round(weight, DIGITS)


def show(found: Json) -> None:
    """Print the differences of two decisions, as `find` returns them."""
    terminal = pipes.Console(highlight=False, soft_wrap=True)

    def say(text: str) -> None:
        terminal.print(text, markup=False)

    for side in ('a', 'b'):
        of = found[side]
        say(f'{side.upper()}: server {of["instance_uuid"]}, decided {of["at"]}')
        say(f'   chosen: {of["chosen"] or "none"}')
        if of['error']:
            say(f'   {of["error"]}')
        if of['more']:
            say(f'   {plurals.of(of["more"], "more host")} not compared')
    if found['same']:
        partly = any(found[side]['more'] for side in ('a', 'b'))
        say('The compared hosts do not differ.' if partly else 'The decisions do not differ.')
        return
    rows = [*_of_request(found), *(row for host in found['hosts'] for row in _of_host(host))]
    text_tables.show(('host', 'difference', 'A', 'B'), rows)
    say(f'{plurals.of(found["alike"], "host")} without a difference')


def _of_request(found: Json) -> Iterator[tuple[str, ...]]:
    for note in found['request_filters']:
        yield '', f'request filter {note["name"]}', note['a'] or NONE, note['b'] or NONE
    for side, place in (('a', 0), ('b', 1)):
        for query in found['queries'][side]:
            shown = [NONE, NONE]
            shown[place] = query
            yield '', 'placement query', *shown


def _of_host(pair: Json) -> Iterator[tuple[str, ...]]:
    """Yield a row for each difference of a host."""
    sides = [pair['a'], pair['b']]
    if None in sides:
        yield pair['host'], 'host', *(NONE if each is None else _stage(each) for each in sides)
        return
    if _stage(sides[0]) != _stage(sides[1]):
        yield pair['host'], 'stage', _stage(sides[0]), _stage(sides[1])
    if sides[0]['weight'] != sides[1]['weight']:
        yield pair['host'], 'weight', *(_weight(each['weight']) for each in sides)
    for name in dict.fromkeys([*sides[0]['weights'], *sides[1]['weights']]):
        a, b = (each['weights'].get(name) for each in sides)
        if a != b:
            yield pair['host'], name, _weight(a), _weight(b)


def _stage(side: Json) -> str:
    return f'{side["stage"]}: {side["reason"]}' if side['reason'] else str(side['stage'])


def _weight(weight: float | None) -> str:
    return NONE if weight is None else f'{weight:+.3f}'
