"""Undocumented names of cheroot that we use; wsgi.thread_pool extends it."""

import typing

from cheroot import makefile
from cheroot.workers import threadpool

from nova_lite import runtime
from nova_lite.private_apis import guard

LIBRARY = guard.Library('cheroot', lowest='11.0', newest='11.1.2')

with LIBRARY.declared():
    LIBRARY.keeps(threadpool.ThreadPool, '_threads', '_queue')
    LIBRARY.uses(threadpool.ThreadPool, 'stop', '_threads', '_queue')
    LIBRARY.has(threadpool.ThreadPool, '_spawn_worker')
    LIBRARY.has(threadpool, '_SHUTDOWNREQUEST')
    LIBRARY.uses(threadpool.WorkerThread, 'run', 'server', 'stats', 'name')
    LIBRARY.uses(makefile.StreamReader, 'has_data', '_read_buf', '_read_pos')
    # What `get` of a pool returns to a thread that is to end.
    SHUTDOWN: typing.Any = threadpool._SHUTDOWNREQUEST  # type: ignore[attr-defined]  # not in its stubs


def take_read(stream: typing.Any) -> bytes:
    """Return the bytes that a connection's stream has read and its reader has not taken."""
    found: bytes = stream._read_buf[stream._read_pos :]
    stream._read_buf, stream._read_pos = b'', 0
    return found


def unread(stream: typing.Any, data: bytes) -> None:
    """Put `data` into a stream without unread bytes, before the bytes that it reads next."""
    stream._read_buf, stream._read_pos = data, 0


def forget_counters(server: typing.Any, thread: runtime.Thread) -> None:
    """Drop the counters of a thread that ends."""
    server.stats['Worker Threads'].pop(thread.name, None)
