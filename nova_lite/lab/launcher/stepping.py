"""Requests of the debugger's commands to a cloud, and the events for which they wait."""

import sys

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import output
from nova_lite.lab.launcher import control_client

LOOK_S = 0.05
# Exit codes: the saga is stopped (or has ended, as it may after a step); it is not.
DONE, NOT_YET = 0, 1
FROZEN = (
    'The clock of the cloud is frozen: a step that takes time does not end. Use `nova-lite clock '
    'resume` or `nova-lite clock advance`.'
)
OPEN = ('running', 'parked')


def change(directory, *, remove=None, as_json, **point):
    """Print the breakpoints after adding one, removing one, or all, or neither.

    remove: a number, or 'all'; point: server, kind and step of a new one
    """
    given = {name: value for name, value in point.items() if value is not None}
    if given and 'step' not in given:
        # All others would be removed with those that are meant.
        reason = '--list and --remove take neither a server nor --kind. Use --remove ID'
        raise exception.Invalid(reason=reason)
    client = control_client.Client(directory)
    if remove is not None:
        found = client.post('breakpoints/remove', **({} if remove == 'all' else {'id': remove}))
    elif given:
        found = client.post('breakpoints/add', **given)
    else:
        found = client.get('breakpoints')
    output.show(found, breakpoints.show, as_json=as_json)


def go(directory, server, *, as_json):
    """Continue the stopped saga of a server."""
    found = control_client.Client(directory).post('saga/go', server=server)
    output.show(found, breakpoints.show_going, as_json=as_json)


def kill_here(directory, server, *, as_json):
    """Make a super-conductor lose the stopped saga of a server."""
    found = control_client.Client(directory).post('saga/kill-here', server=server)
    output.show(found, breakpoints.show_lost, as_json=as_json)


def step(directory, server, *, timeout_s, as_json):
    """Run one step of the stopped saga of a server; wait for its end. Return the exit code."""
    client = control_client.Client(directory)
    uuid = client.post('saga/step', server=server)['uuid']
    found = _wait(client, timeout_s, uuid=uuid)
    output.show(found, breakpoints.show_saga, as_json=as_json)
    return NOT_YET if found['state'] in OPEN else DONE


def wait(directory, server, *, timeout_s, as_json):
    """Wait until the newest saga of a server is stopped or has ended. Return the exit code."""
    found = _wait(control_client.Client(directory), timeout_s, server=server)
    output.show(found, breakpoints.show_saga, as_json=as_json)
    return DONE if found['before'] is not None else NOT_YET


def _wait(client, timeout_s, **wanted):
    deadline, is_reported = runtime.monotonic() + timeout_s, False
    while True:
        found = client.get('saga', **wanted)
        if found['state'] not in OPEN or runtime.monotonic() > deadline:
            return found
        if not is_reported and client.get('clock')['frozen']:
            print(FROZEN, file=sys.stderr, flush=True)
            is_reported = True
        runtime.sleep(LOOK_S)
