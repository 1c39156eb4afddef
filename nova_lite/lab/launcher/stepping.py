"""The requests of the commands of the debugger, and the waits for their ends."""

import sys

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import output
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import control_client

LOOK_S = 0.05
# Exit codes. DONE: the saga is stopped; after a step, also if it has ended.
DONE, NOT_YET = 0, 1
FROZEN = (
    'The clock of the cloud is frozen: a step that takes time does not end. Use `nova-lite clock '
    'resume` or `nova-lite clock advance`.'
)
OPEN = ('running', 'parked')


def change(
    directory: str, *, remove: int | str | None = None, as_json: bool, **point: str | None
) -> None:
    """Add or remove breakpoints, or neither. Print the breakpoints.

    remove: number of a breakpoint, or 'all'; point: server, kind and step of a new breakpoint
    """
    given = {name: value for name, value in point.items() if value is not None}
    if given and 'step' not in given:
        # `--remove all` would also remove the breakpoints of other servers.
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


def go(directory: str, server: str, *, as_json: bool) -> None:
    """Continue the stopped saga of a server."""
    found = control_client.Client(directory).post('saga/go', server=server)
    output.show(found, breakpoints.show_going, as_json=as_json)


def kill_here(directory: str, server: str, *, as_json: bool) -> None:
    """Make a super-conductor lose the stopped saga of a server."""
    found = control_client.Client(directory).post('saga/kill-here', server=server)
    output.show(found, breakpoints.show_lost, as_json=as_json)


def step(directory: str, server: str, *, timeout_s: float, as_json: bool) -> int:
    """Run one step of the stopped saga of a server, and wait for its end. Return the exit code."""
    client = control_client.Client(directory)
    uuid = client.post('saga/step', server=server)['uuid']
    found = _wait(client, timeout_s, uuid=uuid)
    output.show(found, breakpoints.show_saga, as_json=as_json)
    return NOT_YET if found['state'] in OPEN else DONE


def wait(directory: str, server: str, *, timeout_s: float, as_json: bool) -> int:
    """Wait until the newest saga of a server is stopped or has ended. Return the exit code."""
    found = _wait(control_client.Client(directory), timeout_s, server=server)
    output.show(found, breakpoints.show_saga, as_json=as_json)
    return DONE if found['before'] is not None else NOT_YET


def _wait(client: control_client.Client, timeout_s: float, **wanted: str) -> endpoint.Json:
    deadline, is_reported = runtime.monotonic() + timeout_s, False
    while True:
        found = client.get('saga', **wanted)
        if found['state'] not in OPEN or runtime.monotonic() > deadline:
            return found
        if not is_reported and client.get('clock')['frozen']:
            print(FROZEN, file=sys.stderr, flush=True)
            is_reported = True
        runtime.sleep(LOOK_S)
