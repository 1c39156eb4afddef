"""The present speed of the machine: the same arithmetic each time.

Seconds of CPU are worth less on a slow machine, and on one whose cores others use too.
Figures of two runs can be compared after each was divided by its arithmetic.
"""

from nova_lite import runtime

ADDITIONS, TRIES = 300_000, 3


def arithmetic_ms():
    """Milliseconds of CPU that a fixed piece of pure Python takes; the best of a few."""
    return 1000 * min(_once() for _ in range(TRIES))


def _once():
    start, total = runtime.cpu_time(), 0
    for number in range(ADDITIONS):
        total += number & 3
    return runtime.cpu_time() - start
