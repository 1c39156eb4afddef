"""gunicorn's worker of threads, bounded in what slow clients and its end may take."""

import functools

from nova_lite import runtime
from nova_lite.private_apis import gunicorn
from nova_lite.wsgi import reception

# How long connections that wait for a request stay open after SIGTERM.
LINGER_S = 0.5
# How long a thread waits for the next request of a connection that it has answered. Many clients
# send it at once. The way through the thread that looks after all connections costs more than a
# small request itself.
SOON_S = 0.01


class Worker(gunicorn.gthread.ThreadWorker):
    """Serves requests that have been received."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Connections whose request no thread has taken yet.
        self._queued = set()
        # Other threads are free for new connections.
        self._may_wait = runtime.Semaphore(self.cfg.threads // 2)
        self._receptions = reception.Receptions()

    def enqueue_req(self, conn):
        """Give a connection to a thread if its request is there, else to those that wait."""
        found = self._receive(conn)
        if found is reception.Found.WHOLE:
            self._queued.add(conn)
            super().enqueue_req(conn)
        elif found is reception.Found.MORE:
            self._wait(conn)
        else:
            self.nr_conns -= 1
            conn.close()

    def _receive(self, conn):
        """Look whether the next request of a connection has come."""
        if not conn.initialized:
            conn.init()
            conn.reception = self._receptions.receive(conn.sock)
        return conn.reception.receive(conn.parser.unreader.take_buffered())

    def _wait(self, conn):
        """Look at a connection again when it has sent more."""
        conn.sock.setblocking(False)
        conn.timeout = runtime.monotonic() + (self.cfg.keepalive if self.alive else LINGER_S)
        self.pending_conns.append(conn)
        look = functools.partial(self.on_pending_socket_readable, conn)
        self.poller.register(conn.sock, gunicorn.EVENT_READ, look)

    def handle(self, conn):
        """Answer the requests of a connection that come one after the other."""
        self._queued.discard(conn)
        while True:
            conn.parser.unreader.unread(conn.reception.take())
            kept = super().handle(conn)
            if kept is not True or not self._comes_soon(conn):
                return kept
            found = self._receive(conn)
            if found is not reception.Found.WHOLE:
                return found is reception.Found.MORE

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
        if conn.reception.streams:
            # gunicorn would read what the application has left of a body.
            req.force_close()
        return super().handle_request(req, conn)

    def finish_request(self, conn, fs):
        """Wait for the next request, or until the client has read the last answer.

        gunicorn would wait for that in the thread that looks after all connections.
        """
        if not fs.cancelled() and fs.exception() is None and fs.result() is False:
            conn.reception.discard()
            self._wait(conn)
            return
        conn.reception.wait()
        super().finish_request(conn, fs)

    def _cap_keepalive(self, deadline):
        deadline = min(deadline, runtime.monotonic() + LINGER_S)
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)
