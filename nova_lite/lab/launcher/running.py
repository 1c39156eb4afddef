"""The process that runs the cloud of a state directory: its services, and its end.

The process holds the lock of the directory. It writes `run/up.json` once all services answer.
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
# Of messages of errors.
PREFIX = 'nova-lite up: '


class NotReady(exception.NovaLiteError):
    msg = 'The cloud in %(directory)s did not start: %(reason)s'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Running:
    """The services of a cloud that is ready.

    started_at: seconds since the epoch; hosts: as in layout.Settings
    page_url, horizon_url: URLs of the live page and of Horizon, or None
    """

    pid: int
    started_at: float
    compute_url: str
    metadata_url: str
    clouds_yaml: str
    cells: tuple[str, ...]
    hosts: int | tuple[int, ...]
    page_url: str | None = None
    horizon_url: str | None = None


def of(places: layout.Layout) -> Running:
    """Return the services of a cloud of this process, which has just become ready."""
    return Running(
        pid=os.getpid(),
        started_at=runtime.timestamp(),
        compute_url=f'{places.public_url}/compute/v2.1',
        metadata_url=places.metadata_url,
        clouds_yaml=places.path('clouds.yaml'),
        cells=tuple(places.cell_names),
        hosts=places.settings.hosts,
        page_url=places.page_url,
        horizon_url=places.horizon_url,
    )


def write(directory: str, running: Running) -> None:
    """Record that the cloud of a state directory is ready."""
    layout.write(_path(directory), json.dumps(dataclasses.asdict(running)))


def forget(directory: str) -> None:
    """Remove the record that `write` has written."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(directory))


def read(directory: str) -> Running | None:
    """Return the services of the cloud of a state directory, None unless it is ready."""
    found = lock.ready(directory)
    if found is None:
        return None
    try:
        return Running(**{**found, 'cells': tuple(found['cells'])})
    # The file is of another release.
    except (KeyError, TypeError):
        return None


def detach(places: layout.Layout) -> int:
    """Fork. Return the id of the child, and 0 in the child, which has left the terminal.

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


def wait_ready(directory: str, pid: int) -> Running:
    """Wait until the cloud that a child process starts is ready. Return its services.

    Raise NotReady if the process ends.
    """
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        found = read(directory)
        if found is not None and found.pid == pid:
            return found
        if ended:
            raise NotReady(directory=directory, reason=_reason(directory, status))
        runtime.sleep(POLL_S)


def _reason(directory: str, status: int) -> str:
    path = _output(directory)
    with open(path) as file:
        lines = file.read().strip().splitlines()
    code = os.waitstatus_to_exitcode(status)
    # A message may have several lines.
    begins = [number for number, line in enumerate(lines) if line.startswith(PREFIX)]
    last = lines[begins[-1] :] if begins else lines[-1:]
    text = '\n'.join(last).removeprefix(PREFIX)
    return f'{text if text else f"it ended with exit code {code}"} (see {path})'


def stop(directory: str, seconds: float) -> bool:
    """Terminate the process that runs the cloud of a state directory, and wait for its end.

    Return False if no process runs the cloud. Raise Unavailable if it has not ended in time.
    """
    pid = lock.holder(directory)
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    wait_gone(directory, pid, seconds)
    return True


def wait_gone(directory: str, pid: int, seconds: float) -> None:
    """Wait until a process no longer runs the cloud of a state directory. Raise Unavailable."""
    until = runtime.monotonic() + seconds
    while lock.holder(directory) == pid:
        if runtime.monotonic() > until:
            raise exception.Unavailable(
                service=f'The cloud in {directory}',
                reason=f'process {pid} has not stopped within {seconds:g} s. It goes on stopping: '
                'repeat `nova-lite stop`, or give it longer with --timeout',
            )
        runtime.sleep(POLL_S)


def _output(directory: str) -> str:
    return os.path.join(os.path.abspath(directory), layout.OUTPUT)


def _path(directory: str) -> str:
    return os.path.join(directory, lock.READY)
