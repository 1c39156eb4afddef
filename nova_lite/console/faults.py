"""Injected faults as people write and read them, for commands."""

import json

from nova_lite.console import tables

MATCHES = ('host', 'flavor', 'server')
OPTIONS = ('verb', 'when', 'probability', 'first', 'nth', 'error', 'message')


def entry(options):
    """Return the entry of a profile with these options. Raise ValueError.

    options: {name: value or None}; those of MATCHES and OPTIONS, `metadata` and `reschedule` count
    """
    made = {name: options[name] for name in OPTIONS}
    match = {name: options[name] for name in MATCHES}
    metadata = {}
    for text in options['metadata']:
        key, equals, pattern = text.partition('=')
        if not equals:
            raise ValueError(f'--metadata must be KEY=PATTERN, not {text}')
        metadata[key] = pattern
    match['metadata'] = metadata or None
    made['match'] = {key: value for key, value in match.items() if value is not None} or None
    made['reschedule'] = options['reschedule'] or None
    return {key: value for key, value in made.items() if value is not None}


def lines(shown):
    """Return [(id or '', text)] of the faults that a cloud shows."""
    found = [(str(each['id']), _failure(each)) for each in shown['failures']]
    found += [('', f'host {name} is powered off') for name in shown['hosts_off']]
    found += [('', f'database of {name} is down') for name in shown['databases_down']]
    found += [('', f'bus of {name} is cut') for name in shown['buses_cut']]
    return found


def show(shown):
    """Print the faults that a cloud shows."""
    tables.show(('Id', 'Fault'), lines(shown))


def _failure(entry):
    match = entry.get('match', {})
    text = f'{entry["verb"]} fails'
    if match.get('host'):
        text += f' on {match["host"]}'
    rest = {key: value for key, value in entry.items() if key not in ('id', 'verb', 'match')} | {
        key: value for key, value in match.items() if key != 'host'
    }
    described = ', '.join(f'{key} {json.dumps(value)}' for key, value in rest.items())
    return f'{text} ({described})' if described else text
