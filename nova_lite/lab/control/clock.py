"""The clock of an embedded cloud on its control endpoint: GET and POST /control/clock."""

from nova_lite import exception
from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module
from nova_lite.lab.testclock import control

ACTIONS = ('freeze', 'resume', 'advance', 'rate')
SCHEMA = schema_parts.whole(
    {
        'action': {'enum': list(ACTIONS)},
        'seconds': {'type': 'number'},
        'rate': {'type': 'number'},
    },
    required=['action'],
)
# The argument that an action needs. The other actions take no argument.
NEEDS = {'advance': 'seconds', 'rate': 'rate'}


def add(endpoint: endpoint_module.Endpoint, clock: control.Control) -> None:
    """Add the requests that show and change the clock to a control endpoint."""
    endpoint.add('GET', 'clock', lambda _arguments: clock.show())
    endpoint.add('POST', 'clock', lambda arguments: _change(clock, **arguments), schema=SCHEMA)


def _change(clock: control.Control, *, action: str, **given: float) -> endpoint_module.Json:
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
