"""gunicorn's worker of threads, bounded in what slow clients and its end may take."""

from nova_lite import runtime
from nova_lite.private_apis import gunicorn

# How long connections between two requests stay open after SIGTERM.
LINGER_S = 0.5
# How long a thread waits for the next request of a connection that it has answered. Many clients
# send it at once. The way through the thread that looks after all connections costs more than a
# small request itself.
SOON_S = 0.01


class Worker(gunicorn.gthread.ThreadWorker):
    """Serves a `slow_clients.Bounded`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Connections whose request no thread has taken yet.
        self._queued = set()
        # Other threads are free for new connections.
        self._may_wait = runtime.Semaphore(self.cfg.threads // 2)

    def enqueue_req(self, conn):
        self._queued.add(conn)
        super().enqueue_req(conn)

    def handle(self, conn):
        """Answer the requests of a connection that come one after the other."""
        self._queued.discard(conn)
        while True:
            with self.wsgi.request(conn.sock):
                kept = super().handle(conn)
            if kept is not True or not self._comes_soon(conn):
                return kept

    def _comes_soon(self, conn):
        """Return whether the next request of a connection comes soon, and no other is queued."""
        if self._queued or not self.alive or gunicorn.has_more(conn):
            return False
        if not self._may_wait.acquire(blocking=False):
            return False
        try:
            return runtime.wait_readable(conn.sock.fileno(), SOON_S)
        finally:
            self._may_wait.release()

    def handle_request(self, req, conn):
        self.wsgi.close_with(req.force_close)
        return super().handle_request(req, conn)

    def _cap_keepalive(self, deadline):
        super()._cap_keepalive(min(deadline, runtime.monotonic() + LINGER_S))
