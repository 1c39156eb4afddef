"""The clock of an embedded cloud, kept in its state directory.

A cloud whose clock was advanced has records in the future of this machine, so the clock
stays ahead when the cloud is started again, and in commands that read its databases.
"""

import contextlib
import json
import os

from nova_lite import runtime
from nova_lite.launcher import layout
from nova_lite.launcher import state_dir
from nova_lite.private_apis import keystoneauth
from nova_lite.testclock import clock as clock_module
from nova_lite.testclock import control


@contextlib.contextmanager
def installed(directory):
    """Use the clock of the cloud in a state directory in this process; yield its Control."""
    path = os.path.join(directory, state_dir.CLOCK)
    clock = clock_module.Clock(ahead_s(directory))
    writing = runtime.Lock()

    def record(seconds):
        with writing:
            layout.write(path, json.dumps({'ahead_s': seconds}))

    with runtime.install(clock), keystoneauth.clock(runtime.naive_now):
        yield control.Control(clock, record)


def ahead_s(directory):
    """Return by how many seconds the clock of a cloud is ahead of this machine's."""
    try:
        with open(os.path.join(directory, state_dir.CLOCK)) as file:
            return float(json.load(file)['ahead_s'])
    except FileNotFoundError:
        return 0.0
