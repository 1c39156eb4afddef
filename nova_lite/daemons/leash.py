"""The leash: a daemon ends in good order when its supervisor is gone."""

import os
import signal

from nova_lite import runtime

# A variable of the environment: the daemon's end of a pipe, a descriptor.
LEASH = 'NOVA_LITE_LEASH'


def put_on():
    """In a child: end as by SIGTERM when the supervisor is gone."""
    end = os.environ.pop(LEASH, None)
    if end is not None:
        runtime.spawn(_follow, int(end), name='leash')


def _follow(end):
    # The supervisor holds the only other end and writes nothing.
    os.read(end, 1)
    os.kill(os.getpid(), signal.SIGTERM)
