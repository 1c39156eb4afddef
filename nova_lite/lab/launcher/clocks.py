"""The clock of an embedded cloud, kept in its state directory.

A cloud whose clock was advanced has records in the future of this machine. So its clock stays ahead
when the cloud is started again, and in commands that read its databases. The clock of a cloud from
a snapshot continues at the time when the snapshot was taken, which is usually in the past.
"""

from collections.abc import Iterator
import contextlib
import json
import os

from nova_lite import runtime
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.private_apis import keystoneauth
from nova_lite.lab.testclock import clock as clock_module
from nova_lite.lab.testclock import control


@contextlib.contextmanager
def installed(directory: str) -> Iterator[control.Control]:
    """Use the clock of the cloud in a state directory in this process. Yield its Control."""
    found = _read(directory)
    clock = clock_module.Clock(found['ahead_s'], found['set_by_s'])
    writing, written = runtime.Lock(), found['ahead_s']

    def record(seconds: float) -> None:
        nonlocal written
        with writing:
            # A reset calls this, mostly without a change.
            if seconds != written:
                _write(directory, ahead_s=seconds, set_by_s=found['set_by_s'])
                written = seconds

    with runtime.install(clock), keystoneauth.clock(runtime.naive_now):
        yield control.Control(clock, record)


def set_to(directory: str, timestamp: float) -> None:
    """Set the time at which the clock of a stopped cloud continues, in seconds since the epoch."""
    seconds = timestamp - runtime.timestamp()
    _write(directory, ahead_s=seconds, set_by_s=seconds)


def ahead_s(directory: str) -> float:
    """Return by how many seconds the clock of a cloud is ahead of this machine's."""
    return _read(directory)['ahead_s']


def _write(directory: str, **values: float) -> None:
    layout.write(os.path.join(directory, state_dir.CLOCK), json.dumps(values))


def _read(directory: str) -> dict[str, float]:
    """Return {ahead_s, set_by_s}; see testclock.clock.Clock."""
    path = os.path.join(directory, state_dir.CLOCK)
    if not os.path.exists(path):
        return {'ahead_s': 0.0, 'set_by_s': 0.0}
    found = kept_files.values(directory, path, ())
    for name, value in found.items():
        if not isinstance(value, int | float):
            raise kept_files.spoiled(directory, path, f'{name} is not a number')
    return {'ahead_s': 0.0, 'set_by_s': 0.0, **found}
