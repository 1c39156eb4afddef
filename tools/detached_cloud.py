"""A cloud in a process of its own, for tools that measure clouds."""

from collections.abc import Iterator
import contextlib
import os
import subprocess
import sys
import tempfile

from nova_lite.lab.launcher import running
from tests.fixtures import commands

START_S, STOP_S = 300, 60


@contextlib.contextmanager
def started(*options: str) -> Iterator[str]:
    """Run a cloud in the context. Yield its state directory, which is removed. options: of `up`"""
    with tempfile.TemporaryDirectory() as root:
        directory = os.path.join(root, 'cloud')
        up = ('up', '--detach', '--port', '0', '--state-dir', directory, *options)
        subprocess.run([sys.executable, '-m', commands.MODULE, *up], check=True, timeout=START_S)
        try:
            yield directory
        finally:
            running.stop(directory, STOP_S)


def services(directory: str) -> running.Running:
    """Return the services of the cloud that runs in a state directory."""
    found = running.read(directory)
    if found is None:
        raise SystemExit(f'the cloud in {directory} does not run')
    return found
