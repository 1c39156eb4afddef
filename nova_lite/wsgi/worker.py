"""gunicorn's worker of threads, whose requests are bounded from their first byte on."""

from gunicorn.workers import gthread


class Worker(gthread.ThreadWorker):
    """Serves a `transfers.Bounded`."""

    def handle(self, conn):
        with self.wsgi.request(conn.sock):
            return super().handle(conn)
