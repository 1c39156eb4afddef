"""Points: the test's end of the hooks: where daemons shall stop, and for how long."""

import dataclasses
import json
import os
import socketserver

import fixtures

from nova_lite import runtime
from tests.crash import hooks


@dataclasses.dataclass(eq=False)
class Stop:
    """Stop the first thread that comes to this point until `release`.

    point: what must be so of a message of `hooks.ask`
    answer: what it is told then; hold_s: it goes on by itself after so long
    met: the message of who came here
    """

    point: dict
    answer: str = hooks.GO
    hold_s: float | None = None
    met: dict | None = None
    reached: runtime.Event = dataclasses.field(default_factory=runtime.Event)
    released: runtime.Event = dataclasses.field(default_factory=runtime.Event)

    def release(self):
        """Release the processes that wait here, and stop no others."""
        self.reached.set()
        self.released.set()

    def is_at(self, message):
        """Return whether a message comes from this point."""
        return all(message.get(name) == value for name, value in self.point.items())


class Points(fixtures.Fixture):
    """Listens to the daemons that are started while it is in use."""

    def __init__(self):
        super().__init__()
        self._stops = []
        self._lock = runtime.Lock()

    def _setUp(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'points')
        self._server = _Server(path, _Handler)
        self._server.points = self
        self._thread = runtime.spawn(self._server.serve_forever, 0.05, name='points')
        self.addCleanup(self._close)
        self.useFixture(fixtures.EnvironmentVariable(hooks.SOCKET, path))

    def _close(self):
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def stop_at(self, uuid, *, answer=hooks.GO, hold_s=None, **point):
        """Stop the next thread at this point of a server. Return the Stop."""
        return self.stop(answer=answer, hold_s=hold_s, uuid=uuid, **point)

    def stop(self, *, answer=hooks.GO, hold_s=None, **point):
        """As `stop_at`, for whichever server comes there first unless `uuid` is given."""
        stop = Stop(point, answer=answer, hold_s=hold_s)
        with self._lock:
            self._stops.append(stop)
        return stop

    def release(self):
        """Release all waiting processes."""
        with self._lock:
            stops, self._stops = self._stops, []
        for stop in stops:
            stop.release()

    def meet(self, message):
        """Return the reply to the sender of the message, as soon as it may go on."""
        with self._lock:
            stop = next((each for each in self._stops if self._is_met(each, message)), None)
            if stop is None:
                return hooks.GO
            stop.met = message
            stop.reached.set()
        if stop.answer == hooks.GO:
            runtime.wait(stop.released, stop.hold_s)
        return stop.answer

    @staticmethod
    def _is_met(stop, message):
        return not stop.reached.is_set() and stop.is_at(message)


class _Server(socketserver.ThreadingUnixStreamServer):
    request_queue_size = 256
    daemon_threads = True


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline()
        if not line:
            return
        answer = self.server.points.meet(json.loads(line))
        try:
            self.wfile.write(answer.encode() + b'\n')
        except (BrokenPipeError, ConnectionResetError):
            # It was killed while it waited.
            return
