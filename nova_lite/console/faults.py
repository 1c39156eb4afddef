"""Injected faults as text, for commands."""

import json

from nova_lite.console import tables


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
