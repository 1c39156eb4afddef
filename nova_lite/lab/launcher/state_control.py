"""Requests to the control endpoint that save, list and restore states, and write snapshots."""

import os

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import schema_parts
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import saved_states

STATE = {'type': 'string', 'pattern': rf'^{saved_states.NAME.pattern}\Z'}
NAMED = schema_parts.whole({'state': STATE})
SAVED = schema_parts.whole({'state': STATE}, required=['state'])
FILE = {'type': 'string', 'minLength': 1, 'maxLength': 4096}
SNAPSHOT = schema_parts.whole({'file': FILE}, required=['file'])


def register(control, cloud):
    """Add the handlers. control: the Endpoint of the cloud, an EmbeddedCloud"""

    def reset(arguments):
        return _timed(cloud.reset, arguments.get('state', saved_states.FRESH))

    def save(arguments):
        if arguments['state'] == saved_states.FRESH:
            raise exception.Invalid(reason='the state fresh is that of a new cloud: use another')
        return _timed(cloud.save, arguments['state'])

    def snapshot(arguments):
        path = arguments['file']
        _check(path)
        began = runtime.monotonic()
        found = cloud_snapshots.describe(cloud.snapshot(path))
        return {
            'file': path,
            'bytes': os.path.getsize(path),
            'taken_at': found['taken_at'],
            'seconds': round(runtime.monotonic() - began, 4),
        }

    control.add('POST', 'snapshot', snapshot, schema=SNAPSHOT)
    control.add('POST', 'reset', reset, schema=NAMED)
    control.add('POST', 'save', save, schema=SAVED)
    control.add('GET', 'states', lambda _arguments: {'states': cloud.states.names()})
    control.add('GET', 'problem', lambda _arguments: {'problem': cloud.problem})


def _check(path):
    """Raise Invalid unless a file can have this path."""
    if not os.path.isabs(path):
        raise exception.Invalid(reason='the argument file must be an absolute path')
    try:
        os.stat(os.path.join(os.path.dirname(path), ''))
        exists = os.access(path, os.F_OK)
    # ValueError: of text that is no path, such as one with NUL.
    except (OSError, ValueError) as error:
        raise exception.Invalid(reason=f'the argument file: {error}') from error
    # It would be replaced: a directory, or a device such as /dev/null.
    if exists and not os.path.isfile(path):
        raise exception.Invalid(reason=f'the argument file: {path} is not a regular file')


def _timed(change, name):
    began = runtime.monotonic()
    change(name)
    return {'state': name, 'seconds': round(runtime.monotonic() - began, 4)}
