"""The leash: a daemon stops cleanly when its supervisor, or another process, has ended."""

import argparse
import os
import signal

from nova_lite import runtime

# Name of the environment variable with the descriptor of the daemon's end of a pipe.
LEASH = 'NOVA_LITE_LEASH'


def put_on():
    """End this child process as by SIGTERM when the supervisor has ended."""
    end = os.environ.pop(LEASH, None)
    if end is not None:
        runtime.spawn(_follow, int(end), name='leash')


def _follow(end):
    # The supervisor holds the only other end and writes nothing.
    os.read(end, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def process(text):
    """Return the descriptor of the process with this id, as the type of an option."""
    try:
        return os.pidfd_open(int(text))
    except (ValueError, OSError):
        raise argparse.ArgumentTypeError(f'no process has the id {text!r}') from None


def follow(descriptor):
    """End as by SIGTERM when the process with this descriptor has ended."""
    runtime.spawn(_follow_process, descriptor, name='leash')


def _follow_process(descriptor):
    runtime.wait_readable(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
