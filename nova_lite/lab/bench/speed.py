"""The present speed of the machine, measured by a fixed piece of arithmetic.

A second of CPU does less on a slow machine, and on a machine whose cores other programs use. To
compare the figures of two runs, divide each by the time of its arithmetic.
"""

from nova_lite import runtime

ADDITIONS, TRIES = 300_000, 3


def arithmetic_ms() -> float:
    """Return the CPU milliseconds of a fixed piece of pure Python, the least of a few tries."""
    return 1000 * min(_once() for _ in range(TRIES))


def _once() -> float:
    start, total = runtime.cpu_time(), 0
    for number in range(ADDITIONS):
        total += number & 3
    return runtime.cpu_time() - start
