"""Requests to the control endpoint that save, list and restore states, and write snapshots."""

import os

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import schema_parts
from nova_lite.lab.launcher import cloud_snapshots

STATE = {'type': 'string', 'pattern': rf'^{cloud_snapshots.NAME.pattern}\Z'}
NAMED = schema_parts.whole({'state': STATE})
SAVED = schema_parts.whole({'state': STATE}, required=['state'])
FILE = {'type': 'string', 'minLength': 1, 'maxLength': 4096}
SNAPSHOT = schema_parts.whole({'file': FILE}, required=['file'])


def register(control, cloud):
    """Add the handlers. control: the Endpoint of the cloud, an EmbeddedCloud"""

    def reset(arguments):
        name = arguments.get('state', cloud_snapshots.FRESH)
        seconds, _none = _timed(cloud.reset, name)
        return {'state': name, 'seconds': seconds}

    def save(arguments):
        name = arguments['state']
        if name == cloud_snapshots.FRESH:
            raise exception.Invalid(reason='the state fresh is that of a new cloud: use another')
        seconds, _manifest = _timed(cloud.snapshot, cloud.snapshots.path(name))
        return {'state': name, 'seconds': seconds}

    def snapshot(arguments):
        path = arguments['file']
        _check(path)
        seconds, manifest = _timed(cloud.snapshot, path)
        taken_at = cloud_snapshots.describe(manifest)['taken_at']
        size = os.path.getsize(path)
        return {'file': path, 'bytes': size, 'taken_at': taken_at, 'seconds': seconds}

    control.add('POST', 'snapshot', snapshot, schema=SNAPSHOT)
    control.add('POST', 'reset', reset, schema=NAMED)
    control.add('POST', 'save', save, schema=SAVED)
    control.add('GET', 'states', lambda _arguments: {'states': cloud.snapshots.names()})
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


def _timed(change, argument):
    """Return how long a call takes, in seconds, and its result."""
    began = runtime.monotonic()
    found = change(argument)
    return round(runtime.monotonic() - began, 4), found
