"""The clock of an embedded cloud on its control endpoint: GET and POST /control/clock."""

from nova_lite import exception
from nova_lite.api import schema_parts

ACTIONS = ('freeze', 'resume', 'advance', 'rate')
SCHEMA = schema_parts.whole(
    {
        'action': {'enum': list(ACTIONS)},
        'seconds': {'type': 'number'},
        'rate': {'type': 'number'},
    },
    required=['action'],
)
# The argument that an action needs; the others take none.
NEEDS = {'advance': 'seconds', 'rate': 'rate'}


def add(endpoint, clock):
    """Make an Endpoint change the clock. clock: a testclock.control.Control"""
    endpoint.add('GET', 'clock', lambda _arguments: clock.show())
    endpoint.add('POST', 'clock', lambda arguments: _change(clock, **arguments), schema=SCHEMA)


def _change(clock, *, action, **given):
    needed = NEEDS.get(action)
    if set(given) != ({needed} if needed else set()):
        wanted = f'the argument {needed!r} alone' if needed else 'no argument'
        raise exception.Invalid(reason=f'action {action!r} takes {wanted}')
    if action == 'advance':
        clock.advance(given['seconds'])
    elif action == 'rate':
        clock.set_rate(given['rate'])
    elif action == 'freeze':
        clock.freeze()
    else:
        clock.resume()
    return clock.show()
