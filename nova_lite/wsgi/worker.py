"""gunicorn's worker of threads, bounded in what slow clients and its end may take."""

from nova_lite import runtime
from nova_lite.private_apis import gunicorn

# How long connections between two requests stay open after SIGTERM.
LINGER_S = 0.5


class Worker(gunicorn.gthread.ThreadWorker):
    """Serves a `slow_clients.Bounded`."""

    def handle(self, conn):
        with self.wsgi.request(conn.sock):
            return super().handle(conn)

    def handle_request(self, req, conn):
        self.wsgi.close_with(req.force_close)
        return super().handle_request(req, conn)

    def _cap_keepalive(self, deadline):
        super()._cap_keepalive(min(deadline, runtime.monotonic() + LINGER_S))
