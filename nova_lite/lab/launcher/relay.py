"""Relays of TCP connections, which can be cut and frozen: drills with real brokers and databases.

`nova-lite up --drills` gives daemons the address of a relay in place of that of the server.
"""

import contextlib
import socket

from oslo_log import log

from nova_lite import runtime
from nova_lite.lab.control import faults

LOG = log.getLogger(__name__)

LOOPBACK = '127.0.0.1'
PIECE_BYTES = 64 * 1024
CONNECT_S = 10
# After an error, such as too many open files.
PAUSE_S = 1
WAITING = 128


class Relay:
    """Forwards each connection to a port of this machine to the server at an address.

    target: (host, port) of the server; port: of this machine, after `start`
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server((LOOPBACK, 0), backlog=WAITING)
        self.port: int = self._listener.getsockname()[1]
        self._lock = runtime.Lock()
        self._state = faults.HEALED
        self._passing = runtime.Event()
        self._passing.set()
        self._open: set[socket.socket] = set()
        self._ended = runtime.Event()
        self._thread: runtime.Thread | None = None

    def start(self) -> None:
        """Accept connections."""
        self._thread = runtime.spawn(self._accept, name=f'relay to {self._target}')

    def switch(self, state: str) -> None:
        """Cut, freeze or heal the relay.

        A relay that is cut closes its connections, and closes new ones at once. One that is frozen
        keeps them, and forwards nothing.
        """
        with self._lock:
            self._state = state
            if state == faults.FROZEN:
                self._passing.clear()
                return
            if state == faults.CUT:
                # What a frozen relay has kept back is lost with its connections.
                self._close_all()
            self._passing.set()

    def stop(self) -> None:
        """Close all connections, and accept no more."""
        self.switch(faults.CUT)
        self._ended.set()
        # `accept` returns: closing a socket does not wake the thread.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._thread is not None:
            self._thread.join()

    def _close_all(self) -> None:
        for each in self._open:
            _end(each)
        self._open.clear()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _address = self._listener.accept()
            except OSError as error:
                if not self._ended.is_set():
                    LOG.warning('The relay to %s accepts no connection: %s', self._target, error)
                runtime.wait(self._ended, PAUSE_S)
            else:
                runtime.spawn(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        """Connect a client to the server, and forward in both directions until one has ended."""
        if self._state == faults.CUT:
            client.close()
            return
        try:
            server = socket.create_connection(self._target, CONNECT_S)
        except OSError as error:
            LOG.info('The relay cannot reach %s: %s', self._target, error)
            client.close()
            return
        server.settimeout(None)
        with self._lock:
            if self._state == faults.CUT:
                client.close()
                server.close()
                return
            self._open |= {client, server}
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = runtime.spawn(self._forward, server, client)
        self._forward(client, server)
        back.join()
        with self._lock:
            self._open -= {client, server}
        client.close()
        server.close()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(PIECE_BYTES):
                self._passing.wait()
                sink.sendall(data)
        except OSError as error:
            LOG.debug('A connection to %s ended: %s', self._target, error)
        finally:
            # The other direction ends as well.
            _end(source)
            _end(sink)


def _end(opened: socket.socket) -> None:
    """End both directions of a connection. The thread that reads it closes it."""
    # The peer has ended it, or another thread has closed it.
    with contextlib.suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)
