"""The threads of cheroot's servers: started when they are needed, ended when they are idle.

cheroot's own pool keeps all threads from the start of a server to its end.
"""

from collections.abc import Callable

from cheroot import server as cheroot_server
from cheroot.workers import threadpool
from oslo_log import log

from nova_lite import runtime
from nova_lite.private_apis import cheroot as internals

LOG = log.getLogger(__name__)

# Seconds without work after which a thread ends.
IDLE_S = 20.0


class Pool(threadpool.ThreadPool):
    """At most `most` threads. server: puts connections that have sent something into the pool"""

    _threads: list[runtime.Thread]
    _queue: runtime.Queue[object]
    _spawn_worker: Callable[[], runtime.Thread]

    def __init__(self, server: cheroot_server.HTTPServer, *, most: int) -> None:
        super().__init__(server, min=1, max=most)
        # cheroot's threads call it.
        self.get = self._take
        # Guards the list of threads, `_free` and `_is_stopping`.
        self._lock = runtime.Lock()
        # Threads that wait for a connection, minus connections that wait for a thread.
        self._free = 0
        self._is_stopping = False

    def start(self) -> None:
        """Start no thread: `put` starts the threads that are needed."""

    def put(self, obj: object) -> None:
        """Add a connection, and start a thread for it if all threads are busy."""
        with self._lock:
            self._free -= 1
            is_short = self._free < 0 and len(self._threads) < self.max
            if is_short and not self._is_stopping:
                self._start_thread()
        super().put(obj)

    def _start_thread(self) -> None:
        """Start a thread. If that fails, the connection waits until a busy thread is free."""
        try:
            self._threads.append(self._spawn_worker())
        except RuntimeError as error:
            LOG.warning('Cannot start a thread for a connection: %s', error)

    def stop(self, timeout: int = 5) -> None:
        """End all threads. Cut connections of threads that run longer than `timeout` seconds."""
        with self._lock:
            # From now on no idle thread ends by itself: cheroot sends SHUTDOWN to each thread.
            self._is_stopping = True
        super().stop(timeout)

    def _take(self) -> object:
        """Return the next connection for the calling thread, or SHUTDOWN, which ends the thread."""
        with self._lock:
            self._free += 1
        while True:
            try:
                return self._queue.get(timeout=IDLE_S)
            except runtime.Empty:
                if self._leave():
                    return internals.SHUTDOWN

    def _leave(self) -> bool:
        """Return whether the calling thread may end, because no connection needs the thread."""
        with self._lock:
            if self._is_stopping or self._free <= 0:
                return False
            self._free -= 1
            thread = runtime.current_thread()
            self._threads.remove(thread)
            # cheroot keeps counters of each thread, which keep the thread in memory.
            internals.forget_counters(self.server, thread)
            return True
