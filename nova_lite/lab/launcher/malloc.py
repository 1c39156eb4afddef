"""Settings of the memory allocator of glibc. Other C libraries stay unchanged."""

import ctypes

# From <malloc.h>.
_M_ARENA_MAX = -8
# By default there are eight arenas for each processor, and each keeps free memory that threads of
# other arenas cannot use. Threads wait more for the lock of Python than for that of an arena.
ARENAS = 2


def limit_arenas() -> None:
    """Make the threads of this process share a few arenas. Call this before threads start."""
    found = getattr(ctypes.CDLL(None), 'mallopt', None)
    if found is not None:
        found(_M_ARENA_MAX, ARENAS)


def trim() -> None:
    """Return free memory to the system."""
    found = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if found is not None:
        found(0)
