"""Requests to the control endpoint that save, list and restore states, and write snapshots."""

from collections.abc import Callable
import os
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import schema_parts
from nova_lite.lab.console import messages
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import gate as gate_module
from nova_lite.lab.launcher import snapshot_file

STATE = {'type': 'string', 'pattern': rf'^{cloud_snapshots.NAME.pattern}\Z'}
NAMED = schema_parts.whole({'state': STATE})
SAVED = schema_parts.whole({'state': STATE}, required=['state'])
FILE = {'type': 'string', 'minLength': 1, 'maxLength': 4096}
SNAPSHOT = schema_parts.whole({'file': FILE}, required=['file'])

T = typing.TypeVar('T')


def register(
    control: endpoint.Endpoint,
    snapshots: cloud_snapshots.Snapshots,
    *,
    take: Callable[[str], snapshot_file.Manifest],
    restore: Callable[[str], None],
    gate: gate_module.Gate,
) -> None:
    """Add the requests that save, list and restore states to a control endpoint.

    snapshots: of the cloud; take, restore: write a snapshot to a path, restore a state by name
    gate: knows why the cloud refuses all requests
    """

    def reset(arguments: endpoint.Json) -> endpoint.Json:
        name = arguments.get('state', cloud_snapshots.FRESH)
        seconds, _none = _timed(restore, name)
        return {'state': name, 'seconds': seconds}

    def save(arguments: endpoint.Json) -> endpoint.Json:
        name = arguments['state']
        if name == cloud_snapshots.FRESH:
            raise exception.Invalid(
                reason='the state fresh is the state of a new cloud: use another name'
            )
        seconds, _manifest = _timed(take, snapshots.path(name))
        return {'state': name, 'seconds': seconds}

    def snapshot(arguments: endpoint.Json) -> endpoint.Json:
        path = arguments['file']
        _check(path)
        seconds, manifest = _timed(take, path)
        taken_at = cloud_snapshots.describe(manifest)['taken_at']
        size = os.path.getsize(path)
        return {'file': path, 'bytes': size, 'taken_at': taken_at, 'seconds': seconds}

    control.add('POST', 'snapshot', snapshot, schema=SNAPSHOT)
    control.add('POST', 'reset', reset, schema=NAMED)
    control.add('POST', 'save', save, schema=SAVED)
    control.add('GET', 'states', lambda _arguments: {'states': snapshots.names()})
    control.add('GET', 'problem', lambda _arguments: {'problem': gate.problem})


def _check(path: str) -> None:
    """Raise Invalid unless a snapshot can be written to a path."""
    if not os.path.isabs(path):
        raise exception.Invalid(reason='the argument file must be an absolute path')
    try:
        os.stat(os.path.join(os.path.dirname(path), ''))
        exists = os.access(path, os.F_OK)
    # A text that is no path, such as a text with NUL, causes ValueError.
    except (OSError, ValueError) as error:
        reason = f'{path} cannot be written: {messages.cause(error)}. Choose another file'
        raise exception.Invalid(reason=reason) from error
    # The snapshot would replace a directory, or a device such as /dev/null.
    if exists and not os.path.isfile(path):
        raise exception.Invalid(reason=f'{path} is not a regular file. Choose another file')


def _timed(change: Callable[[str], T], argument: str) -> tuple[float, T]:
    """Return the seconds that a call takes, and its result."""
    began = runtime.monotonic()
    found = change(argument)
    return round(runtime.monotonic() - began, 4), found
