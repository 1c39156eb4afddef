"""End a history in which something would block for real."""

import os
import select
import signal
import socket
import subprocess
import traceback

from tests.sim.kernel import core

FORBIDDEN = {
    socket.socket: ('accept', 'connect', 'connect_ex', 'recv', 'recv_into', 'recvfrom', 'bind'),
    socket: ('getaddrinfo', 'gethostbyname', 'create_connection'),
    subprocess.Popen: ('__init__',),
    os: ('fork', 'waitpid', 'wait', 'system', 'posix_spawn'),
    signal: ('sigwait', 'pause', 'sigtimedwait'),
}


def _sends_nothing(connected, _address):
    # It only chooses the address of this machine, as libraries do to learn it.
    return connected.type == socket.SOCK_DGRAM


ALLOWED = {'connect': _sends_nothing}


def replacements():
    """Yield (owner, {name: replacement}). What is not here is met by the runner's watchdog."""
    for owner, names in FORBIDDEN.items():
        yield (
            owner,
            {name: _guarded(getattr(owner, name), name, ALLOWED.get(name)) for name in names},
        )
    yield select, {'select': _guarded(select.select, 'select', allowed=_selects_at_once)}


def _selects_at_once(_read, _write, _error, timeout=None):
    return timeout == 0


def _guarded(original, name, allowed=None):
    def guarded(*args, **kwargs):
        kernel = core.active
        if kernel is not None and not (allowed and allowed(*args, **kwargs)):
            kernel.fail('would block for real: %s\n%s' % (name, ''.join(traceback.format_stack())))
        return original(*args, **kwargs)

    guarded.__name__ = name
    return guarded
