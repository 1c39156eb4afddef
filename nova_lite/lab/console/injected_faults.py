"""Injected faults: from options of commands, and as text."""

import json
import re
import typing

from nova_lite.terminal import text_tables

# An entry of the faults, or an answer of the control endpoint.
Json: typing.TypeAlias = dict[str, typing.Any]

MATCHES = ('host', 'flavor', 'server')
OPTIONS = ('verb', 'when', 'error', 'message')
OF_SERVICES = ('service', 'request', 'status', 'delay', 'lost')
LIMITS = ('first', 'nth', 'probability')
# A pattern for METHOD /path of requests to a service, or * for all. It matches no query string.
REQUEST = re.compile(r'[A-Z*]+ [/*][^?\n]*|\*')
# Options that only faults of hosts have.
OF_HOSTS = {*MATCHES, *OPTIONS, 'metadata', 'reschedule'}


def entry(options: Json) -> Json:
    """Return the entry of a fault for the control endpoint. Raise ValueError.

    options: {name: value}; None, [] or False for an option that was not given
    """
    of_service = options['service'] is not None
    others = OF_HOSTS if of_service else OF_SERVICES
    # 0 and '' count as given.
    wrong = [name for name in others if options[name] or type(options[name]) in (int, float, str)]
    if wrong:
        names = ', '.join(f'--{name}' for name in sorted(wrong))
        given, other = ('service', 'verb') if of_service else ('verb', 'service')
        raise ValueError(
            f'{names} cannot be used with --{given}. Omit {names}, or give --{other} instead'
        )
    if of_service:
        made = {name: options[name] for name in (*OF_SERVICES, *LIMITS)}
        made['lost'] = options['lost'] or None
        if not REQUEST.fullmatch(options['request'] or '*'):
            raise ValueError(
                '--request must be a method and a path without a query string, such as '
                f"'PUT /allocations*' or '* /v3/*', not {options['request']}"
            )
    else:
        made = _of_host(options)
    return {key: value for key, value in made.items() if value is not None}


def _of_host(options: Json) -> Json:
    made = {name: options[name] for name in (*OPTIONS, *LIMITS)}
    match = {name: options[name] for name in MATCHES}
    metadata: dict[str, str] = {}
    for text in options['metadata']:
        key, equals, pattern = text.partition('=')
        if not (key and equals):
            raise ValueError(f'--metadata must be KEY=PATTERN, not {text}')
        before = metadata.setdefault(key, pattern)
        if before != pattern:
            raise ValueError(f'--metadata {key} has two patterns, {before} and {pattern}. Give one')
    match['metadata'] = metadata or None
    made['match'] = {key: value for key, value in match.items() if value is not None} or None
    made['reschedule'] = options['reschedule'] or None
    return made


def lines(shown: Json) -> list[tuple[str, str]]:
    """Return (id or '', text) of each fault in an answer of the control endpoint."""
    found = [(str(each['id']), _failure(each)) for each in shown['failures']]
    found += [('', f'host {name} is powered off') for name in shown['hosts_off']]
    found += [('', f'database of {name} is down') for name in shown['databases_down']]
    found += [('', f'bus of {name} is cut') for name in shown['buses_cut']]
    found += [('', f'bus of {name} is frozen') for name in shown['buses_frozen']]
    return found


def show(shown: Json) -> None:
    """Print the faults in an answer of the control endpoint."""
    text_tables.show(('Id', 'Fault'), lines(shown))


def _failure(entry: Json) -> str:
    if 'service' in entry:
        return _of_service(entry)
    match = entry.get('match', {})
    text = f'{entry["verb"]} fails'
    if match.get('host'):
        text += f' on {match["host"]}'
    rest = {key: value for key, value in entry.items() if key not in ('id', 'verb', 'match')} | {
        key: value for key, value in match.items() if key != 'host'
    }
    described = ', '.join(f'{key} {json.dumps(value)}' for key, value in rest.items())
    return f'{text} ({described})' if described else text


def _of_service(entry: Json) -> str:
    effects = [
        f'wait {entry["delay"]:g} s' if 'delay' in entry else '',
        f'fail with {entry["status"]}' if 'status' in entry else '',
        'lose their answers' if 'lost' in entry else '',
    ]
    text = f'requests {entry.get("request", "*")} to {entry["service"]} '
    text += ', '.join(filter(None, effects))
    limits = ', '.join(f'{name} {entry[name]:g}' for name in LIMITS if name in entry)
    return f'{text} ({limits})' if limits else text
