"""The process that runs the cloud of a state directory: what it serves, and its end.

It holds the lock of the directory. Once all services answer, it writes `run/up.json`.
"""

import contextlib
import dataclasses
import json
import os
import signal
import sys

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock

POLL_S = 0.05


class NotReady(exception.NovaLiteError):
    msg = 'The cloud in %(directory)s did not start: %(reason)s'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Running:
    """Services of a cloud that is ready, with their addresses. started_at: seconds since the epoch

    hosts: as in layout.Settings
    page_url: of the live page, None for a cloud without it
    """

    pid: int
    started_at: float
    compute_url: str
    metadata_url: str
    clouds_yaml: str
    cells: tuple
    hosts: int | tuple
    page_url: str | None = None


def of(places):
    """Return the Running of a cloud of this process, which has just become ready."""
    return Running(
        pid=os.getpid(),
        started_at=runtime.timestamp(),
        compute_url=f'{places.public_url}/compute/v2.1',
        metadata_url=places.metadata_url,
        clouds_yaml=places.path('clouds.yaml'),
        cells=tuple(places.cell_names),
        hosts=places.settings.hosts,
        page_url=places.page_url,
    )


def write(directory, running):
    """Report that the cloud in a state directory is ready."""
    layout.write(_path(directory), json.dumps(dataclasses.asdict(running)))


def forget(directory):
    """Remove what `write` has written."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(directory))


def read(directory):
    """Return the Running of the cloud in a state directory; None unless it runs and is ready."""
    found = lock.ready(directory)
    if found is None:
        return None
    return Running(**{**found, 'cells': tuple(found['cells'])})


def detach(places):
    """Fork; return the id of the child, or 0 in the child, which has left the terminal.

    The child takes over the lock of the state directory, and prints to a file there.
    """
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        places.release()
        return pid
    os.setsid()
    places.sign()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for source, number in (
        (os.open(os.devnull, os.O_RDONLY), 0),
        (os.open(_output(places.root), flags, 0o600), 1),
        (1, 2),
    ):
        os.dup2(source, number)
    return 0


def wait_ready(directory, pid):
    """Return the Running of the cloud that a child process starts. Raise NotReady."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        found = read(directory)
        if found is not None and found.pid == pid:
            return found
        if ended:
            raise NotReady(directory=directory, reason=_reason(directory, status))
        runtime.sleep(POLL_S)


def _reason(directory, status):
    path = _output(directory)
    with open(path) as file:
        lines = file.read().strip().splitlines()
    code = os.waitstatus_to_exitcode(status)
    last = lines[-1].removeprefix('nova-lite up: ') if lines else ''
    return f'{last if last else f"it ended with exit code {code}"} (see {path})'


def stop(directory, seconds):
    """End the process that runs the cloud in a state directory, and wait for its end.

    Return whether there was one. Raise Unavailable when it has not ended after `seconds`.
    """
    pid = lock.holder(directory)
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    wait_gone(directory, pid, seconds)
    return True


def wait_gone(directory, pid, seconds):
    """Wait until a process no longer runs the cloud of a state directory. Raise Unavailable."""
    until = runtime.monotonic() + seconds
    while lock.holder(directory) == pid:
        if runtime.monotonic() > until:
            raise exception.Unavailable(
                service=f'The cloud in {directory}',
                reason=f'process {pid} has not stopped within {seconds:g} s',
            )
        runtime.sleep(POLL_S)


def _output(directory):
    return os.path.join(os.path.abspath(directory), layout.OUTPUT)


def _path(directory):
    return os.path.join(directory, lock.READY)
