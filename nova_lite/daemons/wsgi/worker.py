"""gunicorn's worker with threads, which bounds the time of slow clients and of its own end."""

import functools
import typing

from nova_lite import runtime
from nova_lite.daemons.wsgi import reception
from nova_lite.private_apis import gunicorn

# Seconds for which connections that wait for a request stay open after SIGTERM.
LINGER_S = 0.5
# Seconds for which a thread waits for the next request of a connection that it has answered. Many
# clients send the next request at once. The way through the thread that watches all connections
# costs more than a small request itself.
SOON_S = 0.01

# gunicorn has no types.
Connection: typing.TypeAlias = typing.Any


class Worker(gunicorn.gthread.ThreadWorker):  # type: ignore[misc]  # is not typed
    """Serves requests that have been received completely."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        # Connections whose request no thread has taken yet.
        self._queued: set[Connection] = set()
        # The other half of the threads stays free for new connections.
        self._may_wait = runtime.Semaphore(self.cfg.threads // 2)
        self._receptions = reception.Receptions()

    def enqueue_req(self, conn: Connection) -> None:
        """Give a connection to a thread if its request has come; otherwise wait for more of it."""
        found = self._receive(conn)
        if found is reception.Found.WHOLE:
            self._queued.add(conn)
            super().enqueue_req(conn)
        elif found is reception.Found.MORE:
            self._wait(conn)
        else:
            self.nr_conns -= 1
            conn.close()

    def _receive(self, conn: Connection) -> reception.Found:
        """Return how much of the next request of a connection has come."""
        if not conn.initialized:
            conn.init()
            conn.reception = self._receptions.receive(conn.sock)
        found: reception.Found = conn.reception.receive(conn.parser.unreader.take_buffered())
        return found

    def _wait(self, conn: Connection) -> None:
        """Look at a connection again when it has sent more."""
        conn.sock.setblocking(False)
        conn.timeout = runtime.monotonic() + (self.cfg.keepalive if self.alive else LINGER_S)
        self.pending_conns.append(conn)
        look = functools.partial(self.on_pending_socket_readable, conn)
        self.poller.register(conn.sock, gunicorn.EVENT_READ, look)

    def handle(self, conn: Connection) -> bool:
        """Answer the requests of a connection that come one after the other.

        Return whether the connection stays open.
        """
        self._queued.discard(conn)
        while True:
            conn.parser.unreader.unread(conn.reception.take())
            kept: bool = super().handle(conn)
            if kept is not True or not self._comes_soon(conn):
                return kept
            found = self._receive(conn)
            if found is not reception.Found.WHOLE:
                return found is reception.Found.MORE

    def _comes_soon(self, conn: Connection) -> bool:
        """Return whether the connection sends its next request soon, and no request is queued."""
        if self._queued or not self.alive or gunicorn.has_more(conn):
            return False
        if not self._may_wait.acquire(blocking=False):
            return False
        try:
            return runtime.wait_readable(conn.sock.fileno(), SOON_S)
        finally:
            self._may_wait.release()

    def handle_request(self, req: typing.Any, conn: Connection) -> bool:
        if conn.reception.streams:
            # gunicorn would read the rest of a body that the application has not read.
            req.force_close()
        kept: bool = super().handle_request(req, conn)
        return kept

    def finish_request(self, conn: Connection, fs: runtime.Future[bool]) -> None:
        """Wait for the next request, or until the client has read the last answer.

        gunicorn would wait for the client in the thread that watches all connections.
        """
        if not fs.cancelled() and fs.exception() is None and fs.result() is False:
            conn.reception.discard()
            self._wait(conn)
            return
        conn.reception.wait()
        super().finish_request(conn, fs)

    def _cap_keepalive(self, deadline: float) -> None:
        deadline = min(deadline, runtime.monotonic() + LINGER_S)
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)
