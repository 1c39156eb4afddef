"""Requests to the control endpoint that save, list and restore states of the cloud."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import types
from nova_lite.launcher import saved_states

STATE = {'type': 'string', 'pattern': rf'^{saved_states.NAME.pattern}\Z'}
NAMED = types.whole({'state': STATE})
SAVED = types.whole({'state': STATE}, required=['state'])


def register(control, cloud):
    """Add the handlers. control: the Endpoint of the cloud, an EmbeddedCloud"""

    def reset(arguments):
        return _timed(cloud.reset, arguments.get('state', saved_states.FRESH))

    def save(arguments):
        if arguments['state'] == saved_states.FRESH:
            raise exception.Invalid(reason='the state fresh is that of a new cloud: use another')
        return _timed(cloud.save, arguments['state'])

    control.add('POST', 'reset', reset, schema=NAMED)
    control.add('POST', 'save', save, schema=SAVED)
    control.add('GET', 'states', lambda _arguments: {'states': cloud.states.names()})
    control.add('GET', 'problem', lambda _arguments: {'problem': cloud.problem})


def _timed(change, name):
    began = runtime.monotonic()
    change(name)
    return {'state': name, 'seconds': round(runtime.monotonic() - began, 4)}
