"""The allocator of the C library, where it can be told what to do: glibc's can."""

import ctypes

# Of <malloc.h>.
_M_ARENA_MAX = -8
# By default eight for each processor, each with free memory that no other thread can use.
# Threads that run Python wait for its lock more than for that of an arena.
ARENAS = 2


def limit_arenas():
    """Make the threads of this process share a few arenas. Call it before there are threads."""
    found = getattr(ctypes.CDLL(None), 'mallopt', None)
    if found is not None:
        found(_M_ARENA_MAX, ARENAS)


def trim():
    """Give free memory back to the system."""
    found = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if found is not None:
        found(0)
