"""The threads of cheroot's servers: started when they are needed, ended when they are not.

cheroot's own are all there from the start of a server to its end.
"""

from cheroot.workers import threadpool
from oslo_log import log

from nova_lite import runtime
from nova_lite.private_apis import cheroot as internals

LOG = log.getLogger(__name__)

# A thread ends after so long without work.
IDLE_S = 20.0


class Pool(threadpool.ThreadPool):
    """At most `most` threads. server: cheroot's, which gives it connections that sent something"""

    def __init__(self, server, *, most):
        super().__init__(server, min=1, max=most)
        # What threads of cheroot call.
        self.get = self._take
        # Guards the list of threads and the following.
        self._lock = runtime.Lock()
        # Threads that wait for a connection, less the connections that wait for a thread.
        self._free = 0
        self._is_stopping = False

    def start(self):
        """Start no thread: none is needed yet."""

    def put(self, obj):
        """Add a connection, and a thread for it if all have work."""
        with self._lock:
            self._free -= 1
            is_short = self._free < 0 and len(self._threads) < self.max
            if is_short and not self._is_stopping:
                self._start_thread()
        super().put(obj)

    def _start_thread(self):
        """Start a thread. Without one a connection waits for others, or for the next connection."""
        try:
            self._threads.append(self._spawn_worker())
        except RuntimeError as error:
            LOG.warning('No thread for a connection: %s', error)

    def stop(self, timeout=5):
        """End all threads; cut connections of those that have not ended after `timeout` seconds."""
        with self._lock:
            # From now on none leaves by itself: cheroot sends each in the list what ends it.
            self._is_stopping = True
        super().stop(timeout)

    def _take(self):
        """Return the next connection for the calling thread, or what ends it."""
        with self._lock:
            self._free += 1
        while True:
            try:
                return self._queue.get(timeout=IDLE_S)
            except runtime.Empty:
                if self._leave():
                    return internals.SHUTDOWN

    def _leave(self):
        """Return whether the calling thread may end: no connection counts on it."""
        with self._lock:
            if self._is_stopping or self._free <= 0:
                return False
            self._free -= 1
            thread = runtime.current_thread()
            self._threads.remove(thread)
            # Of each thread that has begun cheroot keeps counters, which keep the thread.
            internals.forget_counters(self.server, thread)
            return True
