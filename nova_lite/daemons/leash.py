"""The leash: a daemon stops cleanly when its supervisor or another process has ended."""

import argparse
import os
import signal

from nova_lite import runtime

# Name of the environment variable with the descriptor of the daemon's end of the pipe.
LEASH = 'NOVA_LITE_LEASH'


def put_on() -> None:
    """Send SIGTERM to this process, a child of a supervisor, when the supervisor has ended."""
    end = os.environ.pop(LEASH, None)
    if end is not None:
        runtime.spawn(_follow, int(end), name='leash')


def _follow(end: int) -> None:
    # The supervisor holds the other end and writes nothing: the read returns when it has ended.
    os.read(end, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def process(text: str) -> int:
    """Return a descriptor of the process whose id is `text`. For options of commands."""
    try:
        return os.pidfd_open(int(text))
    except (ValueError, OSError):
        raise argparse.ArgumentTypeError(f'no process has the id {text!r}') from None


def follow(descriptor: int) -> None:
    """Send SIGTERM to this process when another process has ended.

    descriptor: see `process`
    """
    runtime.spawn(_follow_process, descriptor, name='leash')


def _follow_process(descriptor: int) -> None:
    runtime.wait_readable(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
