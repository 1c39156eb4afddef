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

# A function from the token of a console to {server, output}.
Read: typing.TypeAlias = Callable[[str], dict[str, typing.Any]]


class SerialConsoles:
    """A listener on a port of its own. read: raises NovaLiteError; port: after `start`"""

    def __init__(self, read: Read, host: str) -> None:
        self._read, self._host = read, host
        self._places = runtime.Semaphore(CONSOLES)
        self._lock = runtime.Lock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self._thread: runtime.Thread | None = None

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
        # `accept` and `recv` return: closing a socket does not wake the thread.
        with self._lock:
            for each in (listener, *self._open):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join()
        listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while self._listener is not None:
            try:
                client, _address = listener.accept()
            except OSError as error:
                if self._listener is not None:
                    LOG.warning('The serial consoles accept no connection: %s', error)
                return
            if self._places.acquire(timeout=0):
                runtime.spawn(self._serve, client, name='serial console')
            else:
                client.close()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            self._open.add(client)
        try:
            client.settimeout(HANDSHAKE_S)
            opened = websockets.WebSocket(client)
            client.settimeout(AGAIN_S)
            self._show(opened, opened.query.get('token', ''))
        except (OSError, websockets.Closed, websockets.Refused) as error:
            LOG.debug('A serial console ended: %s', error)
        finally:
            with self._lock:
                self._open.remove(client)
            client.close()
            self._places.release()

    def _show(self, opened: websockets.WebSocket, token: str) -> None:
        """Send the log of a guest, and each second what was added, until the token expires."""
        shown = ''
        while self._listener is not None:
            try:
                output = str(self._read(token)['output'])
            except exception.NovaLiteError as error:
                opened.close(websockets.VIOLATION, error.message)
                return
            # The log of a guest that was started again begins anew.
            added = output.removeprefix(shown) if output.startswith(shown) else f'\n{output}'
            if added:
                opened.send(added.replace('\n', '\r\n').encode())
            shown = output
            opened.listen()
        opened.close(websockets.GOING_AWAY)
