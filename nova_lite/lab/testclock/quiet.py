"""Wait until no other thread of this process works.

Linux tells the state of each thread. A thread that waits for the interpreter's lock looks
like one that sleeps, so the processor time of the process must stand still, too.
"""

import collections.abc
import os
import resource

from nova_lite import runtime

TASKS = '/proc/self/task'
NAP_S = 0.0015
# Processor time of the other threads during a nap, below which they have done nothing.
IDLE_CPU_S = 0.00005
NAPS = 2
WORKING = (b'R', b'D')


def wait(
    clock: runtime.Runtime, limit_s: float, is_wanted: collections.abc.Callable[[], bool]
) -> bool:
    """Wait until all other threads wait, at most `limit_s`; False if they still work then.

    clock: of the system
    is_wanted: whether the caller still wants to know. False is returned when not
    """
    until = clock.monotonic() + limit_s
    quiet = 0
    while quiet < NAPS:
        before = _others_cpu_s()
        clock.sleep(NAP_S)
        idle = _others_cpu_s() - before < IDLE_CPU_S and _working() <= 1
        quiet = quiet + 1 if idle else 0
        if not is_wanted() or (not quiet and clock.monotonic() > until):
            return False
    return True


def _others_cpu_s() -> float:
    process = resource.getrusage(resource.RUSAGE_SELF)
    mine = resource.getrusage(resource.RUSAGE_THREAD)
    return process.ru_utime + process.ru_stime - mine.ru_utime - mine.ru_stime


def _working() -> int:
    """Return how many threads run or wait for a disk, with the calling one."""
    found = 0
    for task in os.listdir(TASKS):
        try:
            with open(f'{TASKS}/{task}/stat', 'rb') as file:
                text = file.read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # The name before may have any character.
        found += text.rpartition(b') ')[2].startswith(WORKING)
    return found
