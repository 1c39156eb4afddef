"""The clocks and sources of chance of the standard library, answered by the kernel."""

import ctypes
import datetime
import gc
import os
import random
import socket
import time
import uuid

from tests.sim.kernel import core

SECOND_NS = 10**9
# Pools of threads have their size by it.
CPUS = 4


def _wall_ns():
    return core.active.here.wall_us() * 1000


def _monotonic_ns():
    return core.active.here.monotonic_us() * 1000


def _pair(name, nanoseconds):
    """Return the replacements of `time.<name>` and `time.<name>_ns`."""
    seconds, whole = getattr(time, name), getattr(time, name + '_ns')

    def in_seconds():
        return seconds() if core.active is None else nanoseconds() / SECOND_NS

    def in_nanoseconds():
        return whole() if core.active is None else nanoseconds()

    return {name: in_seconds, name + '_ns': in_nanoseconds}


def _with_default(name, position):
    """Return one for a function of `time` whose argument at `position` is by default now."""
    original = getattr(time, name)

    def replacement(*args):
        if core.active is not None and (len(args) <= position or args[position] is None):
            seconds = time.time()
            args = (*args[:position], time.localtime(seconds) if position else seconds)
        return original(*args)

    return {name: replacement}


def replacements():
    """Yield (module, {name: replacement})."""
    for name in ('monotonic', 'perf_counter', 'process_time', 'thread_time'):
        yield time, _pair(name, _monotonic_ns)
    yield time, _pair('time', _wall_ns)
    for name in ('localtime', 'gmtime', 'ctime'):
        yield time, _with_default(name, 0)
    yield time, _with_default('strftime', 1)
    yield time, _gettime()
    yield from _chance()
    yield from _names()


def _gettime():
    sleep, clock, clock_whole = time.sleep, time.clock_gettime, time.clock_gettime_ns

    def nanoseconds(which):
        if core.active is None:
            return clock_whole(which)
        wall = which in (time.CLOCK_REALTIME, time.CLOCK_TAI)
        return _wall_ns() if wall else _monotonic_ns()

    def seconds(which):
        return clock(which) if core.active is None else nanoseconds(which) / SECOND_NS

    def simulated_sleep(duration):
        (sleep if core.active is None else core.active.sleep)(duration)

    return {
        'clock_gettime': seconds,
        'clock_gettime_ns': nanoseconds,
        'sleep': simulated_sleep,
    }


def _chance():
    urandom, seed, uuid1 = os.urandom, random.Random.seed, uuid.uuid1

    def simulated_urandom(size):
        if core.active is None:
            return urandom(size)
        return core.active.stream('entropy').randbytes(size)

    def simulated_seed(self, a=None, version=2):
        if a is None and core.active is not None:
            a = core.active.stream('entropy').getrandbits(64)
        seed(self, a, version)

    def simulated_uuid1(node=None, clock_seq=None):
        if core.active is None:
            return uuid1(node, clock_seq)
        return uuid.UUID(bytes=core.active.stream('entropy').randbytes(16), version=1)

    yield os, {'urandom': simulated_urandom}
    yield os, {'getrandom': lambda size, flags=0: simulated_urandom(size)}
    yield random.Random, {'seed': simulated_seed}
    yield uuid, {'uuid1': simulated_uuid1}


def _names():
    getpid, hostname = os.getpid, socket.gethostname

    def simulated_pid():
        return getpid() if core.active is None else core.active.here.pid

    def simulated_hostname(*_name):
        return hostname() if core.active is None else core.active.here.name

    cpu_count = os.cpu_count

    def simulated_cpu_count():
        return cpu_count() if core.active is None else CPUS

    yield os, {'getpid': simulated_pid}
    yield os, {'cpu_count': simulated_cpu_count, 'process_cpu_count': simulated_cpu_count}
    yield socket, {'gethostname': simulated_hostname, 'getfqdn': simulated_hostname}


def patch_types():
    """Replace now and utcnow of the C type datetime, so that all who imported it see it.

    `today` asks time.time.
    """

    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    def utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

    namespace = gc.get_referents(datetime.datetime.__dict__)[0]
    namespace['now'], namespace['utcnow'] = classmethod(now), classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
