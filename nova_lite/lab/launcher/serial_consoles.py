"""Serial consoles of simulated guests, at the URL that the compute API returns for them.

A client of WebSocket gets the log of the guest and what is added to
it. The token in the URL opens the console of one server. Guests take no input.
"""

from collections.abc import Callable
import contextlib
import socket
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import websockets

LOG = log.getLogger(__name__)

# Consoles at the same time. Each needs a thread, and reads the log once in AGAIN_S.
CONSOLES, WAITING = 16, 16
HANDSHAKE_S, AGAIN_S = 10.0, 1.0
# Within which the place of a client is free that was ended for another one.
PLACE_S = 1.0
# After an error, such as too many open files.
PAUSE_S = 1.0

# A function from the token of a console to {server, output}.
Read: typing.TypeAlias = Callable[[str], dict[str, typing.Any]]


class SerialConsoles:
    """A listener on a port of its own. read: raises NovaLiteError; port: after `start`"""

    def __init__(self, read: Read, host: str) -> None:
        self._read, self._host = read, host
        self._places = runtime.Semaphore(CONSOLES)
        self._lock = runtime.Lock()
        self._open: set[socket.socket] = set()
        # Those that have not sent the whole handshake, the oldest first.
        self._shaking: dict[socket.socket, None] = {}
        self._listener: socket.socket | None = None
        self._thread: runtime.Thread | None = None
        self._ended = runtime.Event()

    def start(self) -> int:
        """Accept connections. Return the port."""
        family = socket.AF_INET6 if ':' in self._host else socket.AF_INET
        self._listener = socket.create_server((self._host, 0), family=family, backlog=WAITING)
        self._thread = runtime.spawn(self._accept, self._listener, name='serial consoles')
        return int(self._listener.getsockname()[1])

    def stop(self) -> None:
        """Close all consoles, and accept no more."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        self._ended.set()
        # `accept` and `recv` return: closing a socket does not wake the thread.
        with self._lock:
            for each in (listener, *self._open):
                _end(each)
        if self._thread is not None:
            self._thread.join()
        listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while not self._ended.is_set():
            try:
                client, _address = listener.accept()
            except OSError as error:
                if not self._ended.is_set():
                    LOG.warning('The serial consoles accept no connection: %s', error)
                runtime.wait(self._ended, PAUSE_S)
                continue
            if self._has_place():
                with self._lock:
                    self._open.add(client)
                    self._shaking[client] = None
                runtime.spawn(self._serve, client, name='serial console')
            else:
                client.close()

    def _has_place(self) -> bool:
        """Take a place, if need be that of the client whose handshake has taken the longest."""
        if self._places.acquire(timeout=0):
            return True
        with self._lock:
            slowest = next(iter(self._shaking), None)
            if slowest is None:
                return False
            del self._shaking[slowest]
            _end(slowest)
        return self._places.acquire(timeout=PLACE_S)

    def _serve(self, client: socket.socket) -> None:
        try:
            opened = websockets.WebSocket(client, HANDSHAKE_S)
            with self._lock:
                self._shaking.pop(client, None)
            client.settimeout(AGAIN_S)
            self._show(opened, opened.query.get('token', ''))
        except (OSError, websockets.Closed) as error:
            LOG.debug('A serial console ended: %s', error)
        finally:
            with self._lock:
                self._open.remove(client)
                self._shaking.pop(client, None)
            client.close()
            self._places.release()

    def _show(self, opened: websockets.WebSocket, token: str) -> None:
        """Send the log of a guest, and each second what was added, until the token expires."""
        shown = ''
        while not self._ended.is_set():
            try:
                output = str(self._read(token)['output'])
            except exception.NovaLiteError as error:
                opened.close(websockets.VIOLATION, error.message)
                return
            # A guest that was started again has a new log.
            added = output.removeprefix(shown) if output.startswith(shown) else f'\n{output}'
            if added:
                opened.send(added.replace('\n', '\r\n').encode())
            shown = output
            opened.listen(AGAIN_S)
        opened.close(websockets.GOING_AWAY)


def _end(opened: socket.socket) -> None:
    """End both directions of a connection. The thread that reads it closes it."""
    # The client has ended it.
    with contextlib.suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)
